import { describeProperties } from './model/properties.ts';

// Thousands of journeys: model.faults.spec.ts.
describe('a shipment on random journeys', () => describeProperties(40));

import { describeProperties } from './model/properties.ts';

// More random journeys: model.faults.spec.ts.
describe('a shipment on random journeys', () => describeProperties(40));

import { describeProperties } from './model/properties.ts';

// More of them: model.faults.spec.ts.
describe('a shipment on random journeys', () => describeProperties(40));

import { testDomainProperties } from './model/properties.ts';

// More random journeys: model.faults.spec.ts.
describe('a shipment on random journeys', () => testDomainProperties(40));

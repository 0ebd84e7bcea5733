import { declareDomainPropertyTests } from './model/properties.ts';

// More random journeys: model.faults.spec.ts.
describe('a shipment on random journeys', () => declareDomainPropertyTests(40));

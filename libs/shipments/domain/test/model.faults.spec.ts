import { declareDomainPropertyTests } from './model/properties.ts';

describe('a shipment on many random journeys', () =>
  declareDomainPropertyTests(process.env['SOAK'] === 'true' ? 600 : 120));

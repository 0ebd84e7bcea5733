import { testDomainProperties } from './model/properties.ts';

describe('a shipment on many random journeys', () => testDomainProperties(process.env['SOAK'] === 'true' ? 600 : 120));

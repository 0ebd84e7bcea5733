import { describeProperties } from './model/properties.ts';

describe('a shipment on many random journeys', () => describeProperties(process.env['SOAK'] === 'true' ? 600 : 120));

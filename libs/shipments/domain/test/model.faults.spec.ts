import { describeProperties } from './model/properties.ts';

describe('a shipment on many random journeys', () => describeProperties(600));

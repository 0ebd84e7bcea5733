import { describeProperties } from './model/properties.ts';

describe('a shipment on thousands of random journeys', () => describeProperties(1_000));

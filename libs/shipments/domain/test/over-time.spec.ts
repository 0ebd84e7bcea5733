import { testExceptionPropertiesOverTime } from './model/timed-properties.ts';

// More random journeys: over-time.faults.spec.ts.
describe('exceptions on random journeys over time', () => testExceptionPropertiesOverTime(60));

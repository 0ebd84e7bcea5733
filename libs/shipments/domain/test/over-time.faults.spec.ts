import { testExceptionPropertiesOverTime } from './model/timed-properties.ts';

describe('exceptions on many random journeys over time', () =>
  testExceptionPropertiesOverTime(process.env['SOAK'] === 'true' ? 600 : 120));

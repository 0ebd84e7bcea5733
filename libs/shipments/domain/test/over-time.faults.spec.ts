import { describePropertiesOverTime } from './model/timed-properties.ts';

describe('exceptions on many random journeys over time', () =>
  describePropertiesOverTime(process.env['SOAK'] === 'true' ? 600 : 120));

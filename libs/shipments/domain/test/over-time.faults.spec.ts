import { describePropertiesOverTime } from './model/timed-properties.ts';

describe('exceptions on many random journeys over time', () => describePropertiesOverTime(600));

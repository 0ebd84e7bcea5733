import { faults } from './own-services/faults.ts';
import { pacing } from './own-services/pacing.ts';
import { REPLAY_OF_MANY, replayCrashesOfServices, replayCrashesStandalone } from './own-services/replay-crashes.ts';
import { rollingRestart } from './own-services/rolling-restart.ts';
import { safeRetries } from './own-services/safe-retries.ts';
import { NO_ENGINES } from './subject.ts';

// Suites that start a distributed system of their own. They are one file so that they run one after the other: two such
// systems under load starve each other on two cores, and their engines then answer later than they may.

describe(REPLAY_OF_MANY, replayCrashesStandalone);

for (const [name, suite] of [
  ['faults under load, two replicas of each service', faults],
  ['the pace of an endpoint, over two replicas of each service', pacing],
  [REPLAY_OF_MANY, replayCrashesOfServices],
  ['the same POST, fifty times at once over two gateways', safeRetries],
  ['a rolling restart, two replicas of each service', rollingRestart],
] as const) {
  if (NO_ENGINES === undefined) describe(name, suite);
  else test.todo(`${name} [not tested: ${NO_ENGINES}]`);
}

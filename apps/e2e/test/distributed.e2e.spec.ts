import { scaleTimeout } from '@tracking/testing';
import { describeInBrowser } from './browser/browser.ts';
import { shipmentImport } from './browser/shipment-import.ts';
import { shipmentJourney } from './browser/shipment-journey.ts';
import { runInBrowser } from './browser/browser-test-harness.ts';
import { webhooksJourney } from './browser/webhooks-journey.ts';
import { testChangingReplicas } from './distributed/changing-replicas.ts';
import { testEngineFaults } from './distributed/faults.ts';
import { testDeliveryPacing } from './distributed/pacing.ts';
import { LARGE_REPLAY_SUITE_NAME, testReplayCrashesOfServices } from './distributed/replay-crashes.ts';
import { testRollingUpgrade } from './distributed/rolling-upgrade.ts';
import { testSafeRetries } from './distributed/safe-retries.ts';
import { testSlowEngines } from './distributed/slow-engines.ts';
import { testJourneys } from './journeys/index.ts';
import { STANDALONE_SETTINGS } from './shared-standalone.ts';
import { NO_ENGINES_REASON, startServices, type StartedServices } from './subject.ts';

// All tests that need a distributed system. They share one file so that they run one after another: two such systems at
// once overload two cores, and their engines respond too late.

function journeysOfServices(): void {
  let services: StartedServices;
  beforeAll(async () => {
    services = await startServices(STANDALONE_SETTINGS);
  }, scaleTimeout(180_000));
  afterAll(async () => {
    await services?.stop();
    expect(services.deaths).toEqual([]);
  }, scaleTimeout(60_000));

  testJourneys(() => services);
  for (const { name, tests } of [webhooksJourney, shipmentImport, shipmentJourney]) {
    describeInBrowser(name, () => runInBrowser(() => services, tests));
  }
}

for (const [name, suite] of [
  ['two replicas of each service', journeysOfServices],
  ['faults under load, two replicas of each service', testEngineFaults],
  ['the pace of an endpoint, over two replicas of each service', testDeliveryPacing],
  [LARGE_REPLAY_SUITE_NAME, testReplayCrashesOfServices],
  ['the same POST, fifty times at once over two gateways', testSafeRetries],
  ['slow and hung engines, one replica of each service', testSlowEngines],
  ['changing numbers of replicas, under load and kill -9', testChangingReplicas],
  ['a rolling upgrade, two replicas of each service', testRollingUpgrade],
] as const) {
  if (NO_ENGINES_REASON === undefined) describe(name, suite);
  else test.todo(`${name} [not tested: ${NO_ENGINES_REASON}]`);
}

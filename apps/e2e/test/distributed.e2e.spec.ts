import { scaleTimeout } from '@tracking/testing';
import { declareBrowserTests } from './browser/browser.ts';
import { shipmentImportBrowserTests } from './browser/shipment-import.ts';
import { shipmentBrowserJourney } from './browser/shipment-journey.ts';
import { runTestsInBrowser } from './browser/browser-test-harness.ts';
import { webhooksBrowserJourney } from './browser/webhooks-journey.ts';
import { declareReplicaChangeTests } from './distributed/changing-replicas.ts';
import { declareEngineFaultTests } from './distributed/faults.ts';
import { declareDeliveryPacingTests } from './distributed/pacing.ts';
import { LARGE_REPLAY_SUITE_NAME, declareReplayCrashTestsOfServices } from './distributed/replay-crashes.ts';
import { declareRollingUpgradeTests } from './distributed/rolling-upgrade.ts';
import { declareSafeRetryTests } from './distributed/safe-retries.ts';
import { declareSlowEngineTests } from './distributed/slow-engines.ts';
import { declareJourneyTests } from './journeys/index.ts';
import { FAST_WEBHOOK_RETRY_SETTINGS_FOR_TEST } from './shared-standalone.ts';
import { NO_ENGINES_REASON, startServices, type StartedDistributedTestSystem } from './subject.ts';

// All tests that need a distributed system. They share one file so that they run one after another: two such systems at
// once overload two cores, and their engines respond too late.

function journeysOfServices(): void {
  let services: StartedDistributedTestSystem;
  beforeAll(async () => {
    services = await startServices(FAST_WEBHOOK_RETRY_SETTINGS_FOR_TEST);
  }, scaleTimeout(180_000));
  afterAll(async () => {
    await services?.stop();
    expect(services.deaths).toEqual([]);
  }, scaleTimeout(60_000));

  declareJourneyTests(() => services);
  for (const { name, tests } of [webhooksBrowserJourney, shipmentImportBrowserTests, shipmentBrowserJourney]) {
    declareBrowserTests(name, () => runTestsInBrowser(() => services, tests));
  }
}

for (const [name, suite] of [
  ['two replicas of each service', journeysOfServices],
  ['faults under load, two replicas of each service', declareEngineFaultTests],
  ['the pace of an endpoint, over two replicas of each service', declareDeliveryPacingTests],
  [LARGE_REPLAY_SUITE_NAME, declareReplayCrashTestsOfServices],
  ['the same POST, fifty times at once over two gateways', declareSafeRetryTests],
  ['slow and hung engines, one replica of each service', declareSlowEngineTests],
  ['changing numbers of replicas, under load and kill -9', declareReplicaChangeTests],
  ['a rolling upgrade, two replicas of each service', declareRollingUpgradeTests],
] as const) {
  if (NO_ENGINES_REASON === undefined) describe(name, suite);
  else test.todo(`${name} [not tested: ${NO_ENGINES_REASON}]`);
}

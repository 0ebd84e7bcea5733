import { scaleTimeout } from '@tracking/testing';
import { describeInBrowser } from './browser/browser.ts';
import { shipmentImport } from './browser/shipment-import.ts';
import { shipmentJourney } from './browser/shipment-journey.ts';
import { staged } from './browser/stage.ts';
import { webhooksJourney } from './browser/webhooks-journey.ts';
import { faults } from './distributed/faults.ts';
import { pacing } from './distributed/pacing.ts';
import { REPLAY_OF_MANY, replayCrashesOfServices } from './distributed/replay-crashes.ts';
import { rollingRestart } from './distributed/rolling-restart.ts';
import { safeRetries } from './distributed/safe-retries.ts';
import { journeys } from './journeys/index.ts';
import { SETTINGS } from './shared-standalone.ts';
import { NO_ENGINES, startServices, type Services } from './subject.ts';

// All tests that need a distributed system. They share one file so that they run one after another: two such systems at
// once overload two cores, and their engines respond too late.

function journeysOfServices(): void {
  let services: Services;
  beforeAll(async () => {
    services = await startServices(SETTINGS);
  }, scaleTimeout(180_000));
  afterAll(async () => {
    await services?.stop();
    expect(services.deaths).toEqual([]);
  }, scaleTimeout(60_000));

  journeys(() => services);
  for (const { name, tests } of [webhooksJourney, shipmentImport, shipmentJourney]) {
    describeInBrowser(name, () => staged(() => services, tests));
  }
}

for (const [name, suite] of [
  ['two replicas of each service', journeysOfServices],
  ['faults under load, two replicas of each service', faults],
  ['the pace of an endpoint, over two replicas of each service', pacing],
  [REPLAY_OF_MANY, replayCrashesOfServices],
  ['the same POST, fifty times at once over two gateways', safeRetries],
  ['a rolling restart, two replicas of each service', rollingRestart],
] as const) {
  if (NO_ENGINES === undefined) describe(name, suite);
  else test.todo(`${name} [not tested: ${NO_ENGINES}]`);
}

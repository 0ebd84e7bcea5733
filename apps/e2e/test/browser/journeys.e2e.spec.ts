import { scaleTimeout } from '@tracking/testing';
import { STANDALONE_SETTINGS } from '../shared-standalone.ts';
import { findSharedStandalone, startStandalone, type StartedSystem, type SystemUnderTest } from '../subject.ts';
import { describeInBrowser } from './browser.ts';
import { shipmentImport } from './shipment-import.ts';
import { shipmentJourney } from './shipment-journey.ts';
import { runInBrowser } from './browser-test-harness.ts';
import { webhooksJourney } from './webhooks-journey.ts';

// distributed.e2e.spec.ts runs the same journeys on services.
for (const { name, tests, isFirstStart } of [webhooksJourney, shipmentImport, shipmentJourney]) {
  describeInBrowser(`${name}, standalone`, () => {
    let subject: SystemUnderTest;
    let own: StartedSystem | undefined;
    beforeAll(async () => {
      if (isFirstStart) own = await startStandalone(STANDALONE_SETTINGS);
      subject = own ?? (await findSharedStandalone());
    }, scaleTimeout(60_000));
    afterAll(() => own?.stop());
    runInBrowser(() => subject, tests);
  });
}

import { scaleTimeout } from '@tracking/testing';
import { FAST_WEBHOOK_RETRY_SETTINGS_FOR_TEST } from '../shared-standalone.ts';
import {
  findSharedStandaloneServer,
  startStandaloneSystem,
  type StartedSystem,
  type SystemUnderTest,
} from '../subject.ts';
import { declareBrowserTests } from './browser.ts';
import { shipmentImportBrowserTests } from './shipment-import.ts';
import { shipmentBrowserJourney } from './shipment-journey.ts';
import { runTestsInBrowser } from './browser-test-harness.ts';
import { webhooksBrowserJourney } from './webhooks-journey.ts';

// distributed.e2e.spec.ts runs the same journeys on services.
for (const { name, tests, isFirstStart } of [
  webhooksBrowserJourney,
  shipmentImportBrowserTests,
  shipmentBrowserJourney,
]) {
  declareBrowserTests(`${name}, standalone`, () => {
    let subject: SystemUnderTest;
    let own: StartedSystem | undefined;
    beforeAll(async () => {
      if (isFirstStart) own = await startStandaloneSystem(FAST_WEBHOOK_RETRY_SETTINGS_FOR_TEST);
      subject = own ?? (await findSharedStandaloneServer());
    }, scaleTimeout(60_000));
    afterAll(() => own?.stop());
    runTestsInBrowser(() => subject, tests);
  });
}

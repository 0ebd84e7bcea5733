import { scaleTimeout } from '@tracking/testing';
import { SETTINGS } from '../shared-standalone.ts';
import { sharedStandalone, startStandalone, type OwnSubject, type Subject } from '../subject.ts';
import { describeInBrowser } from './browser.ts';
import { shipmentImport } from './shipment-import.ts';
import { shipmentJourney } from './shipment-journey.ts';
import { staged } from './stage.ts';
import { webhooksJourney } from './webhooks-journey.ts';

// distributed.e2e.spec.ts runs the same journeys on services.
for (const { name, tests, isFirstStart } of [webhooksJourney, shipmentImport, shipmentJourney]) {
  describeInBrowser(`${name}, standalone`, () => {
    let subject: Subject;
    let own: OwnSubject | undefined;
    beforeAll(async () => {
      if (isFirstStart) own = await startStandalone(SETTINGS);
      subject = own ?? (await sharedStandalone());
    }, scaleTimeout(60_000));
    afterAll(() => own?.stop());
    staged(() => subject, tests);
  });
}

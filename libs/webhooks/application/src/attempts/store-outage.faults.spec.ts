import { jest } from '@jest/globals';
import { eventually, waitForSimulatedDelay } from '@tracking/testing';
import type { RetryPolicy } from '@tracking/webhooks-domain';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { ProcessWithFlakyDocumentStore } from '../../test/flaky-process.ts';
import { type RunningWebhooks, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';

jest.setTimeout(60_000);

const URL_A = 'https://a.example.com/hook';
const NEVER: RetryPolicy = { firstMs: 3_600_000, factor: 1, capMs: 3_600_000, windowMs: 7_200_000 };
const SOON: RetryPolicy = { firstMs: 50, factor: 1, capMs: 50, windowMs: 3_600_000 };

let harness: WebhooksTestHarness;
let webhooks: RunningWebhooks;

beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
});
afterEach(() => harness.closeWebhooksHarness());

const count = async (statuses: readonly string[]) => (await harness.listDeliveries(webhooks, { statuses })).length;

describe('a document store that fails intermittently', () => {
  test('loses nothing, and sends nothing twice', async () => {
    const flaky = new ProcessWithFlakyDocumentStore();
    webhooks = await harness.startWebhooks({ policy: SOON }, flaky);
    await harness.createEnabledEndpoint(webhooks, URL_A);
    let n = 0;
    harness.receivers.setFakeReceiverBehaviour(URL_A, () =>
      (n += 1) % 5 === 0 ? createReceiverAnswer(500) : createReceiverAnswer(200),
    );
    flaky.flaky = true;
    for (let batch = 0; batch < 10; batch += 1) {
      await harness.publishEventsToBrokerForTest(
        ...Array.from({ length: 5 }, () => harness.addAcknowledgedEventToLog()),
      );
      await waitForSimulatedDelay(20);
    }
    await eventually(
      () =>
        expect(
          harness.receivers.listDeliveriesReceivedAtUrl(URL_A).filter((_, index) => (index + 1) % 5 !== 0),
        ).toHaveLength(50),
      { deadlineMs: 40_000 },
    );
    flaky.flaky = false;
    await eventually(async () => expect(await count(['succeeded'])).toBe(50), { deadlineMs: 20_000 });
    const delivered = harness.receivers.listDeliveriesReceivedAtUrl(URL_A);
    for (const { attempts_count, event_id } of await harness.listDeliveries(webhooks)) {
      expect(delivered.filter(({ headers }) => headers['service-event-id'] === event_id)).toHaveLength(attempts_count);
    }
  });

  test('does not prevent a repeated request from being carried out', async () => {
    const flaky = new ProcessWithFlakyDocumentStore();
    webhooks = await harness.startWebhooks({ policy: NEVER }, flaky);
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    const on = () => ({ ...harness.createSampleWebhookCommand(), endpoint_id: id });
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(500));
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(async () => expect(await count(['retrying'])).toBe(1));
    await webhooks.endpoints.change({ ...on(), fields: { url: `${URL_A}/2` } });
    await webhooks.endpoints.verify(on());
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(async () => expect(await count(['pending'])).toBe(1));
    // The first time, the request is carried out without a response.
    flaky.afterNextReplace = true;
    await expect(webhooks.endpoints.enable(on())).rejects.toThrow('test');
    await webhooks.endpoints.enable(on());
    // The delivery that failed at the former URL is due immediately too.
    await eventually(async () => expect(await count(['succeeded'])).toBe(2));
    harness.receivers.setFakeReceiverBehaviour(`${URL_A}/2`, () => createReceiverAnswer(500));
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(async () => expect(await count(['retrying'])).toBe(1));
    harness.receivers.setFakeReceiverBehaviour(`${URL_A}/2`, (request) => harness.receivers.respondWithOk(request));
    const [failed] = await harness.listDeliveries(webhooks, { statuses: ['retrying'] });
    const retry = () =>
      webhooks.deliveries.retry({ ...harness.createSampleWebhookCommand(), delivery_id: failed?.id ?? '' });
    flaky.afterNextReplace = true;
    await expect(retry()).rejects.toThrow('test');
    await retry();
    await eventually(async () => expect(await count(['succeeded'])).toBe(3));
  });

  test('does not prevent a process from stopping', async () => {
    const flaky = new ProcessWithFlakyDocumentStore();
    webhooks = await harness.startWebhooks({ policy: SOON, drainMs: 200 }, flaky);
    await harness.createEnabledEndpoint(webhooks, URL_A);
    flaky.down = true;
    await harness.publishEventsToBrokerForTest(
      ...Array.from({ length: 20 }, () => harness.addAcknowledgedEventToLog()),
    );
    await webhooks.stop();
    flaky.down = false;
    webhooks = await harness.startWebhooks({ policy: SOON });
    await eventually(async () => expect(await count(['succeeded'])).toBe(20), { deadlineMs: 20_000 });
  });
});

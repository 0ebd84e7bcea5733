import { jest } from '@jest/globals';
import { eventually } from '@tracking/testing';
import type { RetryPolicy } from '@tracking/webhooks-domain';
import { type FakeAnswer, createReceiverAnswer } from '../../test/fake-receivers.ts';
import { type RunningWebhooks, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';

const FORMER = 'https://former.example.com/hook';
const PRESENT = 'https://present.example.com/hook';
const HOUR_MS = 3_600_000;
/** A failed attempt is not repeated before the test is over. */
const POLICY: RetryPolicy = { firstMs: HOUR_MS, factor: 1, capMs: HOUR_MS, windowMs: 2 * HOUR_MS };
const AN_HOUR = createReceiverAnswer(429, { 'retry-after': '3600' });

jest.setTimeout(30_000);

let harness: WebhooksTestHarness;
let webhooks: RunningWebhooks;
beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
  webhooks = await harness.startWebhooks({ policy: POLICY });
});
afterEach(() => harness.closeWebhooksHarness());

async function changeUrl(endpoint_id: string, url: string): Promise<void> {
  const on = () => ({ ...harness.createSampleWebhookCommand(), endpoint_id });
  await webhooks.endpoints.change({ ...on(), fields: { url } });
  await webhooks.endpoints.verify(on());
  await webhooks.endpoints.enable(on());
}

async function untilSucceeded(endpoint_id: string, event_id: string, attempts_count: number): Promise<void> {
  await eventually(async () => {
    const delivery = await harness.getDelivery(webhooks, endpoint_id, event_id);
    expect(delivery).toMatchObject({ status: 'succeeded', attempts_count });
  });
}

/** Publishes an event whose attempt at the former URL ends with what the test passes to `reply`. */
async function attemptUnderWay(): Promise<{ readonly event_id: string; readonly reply: (answer: FakeAnswer) => void }> {
  const { promise, resolve } = Promise.withResolvers<FakeAnswer>();
  harness.receivers.setFakeReceiverBehaviour(FORMER, () => promise);
  const event = harness.addAcknowledgedEventToLog();
  await harness.publishEventsToBrokerForTest(event);
  await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(FORMER)).toHaveLength(1));
  return { event_id: event.id, reply: resolve };
}

describe('after the URL of an endpoint was changed', () => {
  test('retries of the former URL are due immediately, and a restart restores no hold', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, FORMER);
    harness.receivers.setFakeReceiverBehaviour(FORMER, () => AN_HOUR);
    const held = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(held);
    await eventually(async () =>
      expect(await harness.getDelivery(webhooks, id, held.id)).toMatchObject({ status: 'retrying', attempts_count: 1 }),
    );
    const down = Promise.withResolvers<FakeAnswer>();
    harness.receivers.setFakeReceiverBehaviour(PRESENT, (request) =>
      request.headers['service-event-type'] === 'endpoint.verification'
        ? harness.receivers.respondWithOk(request)
        : down.promise,
    );
    await changeUrl(id, PRESENT);
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(PRESENT)).toHaveLength(1));
    webhooks.process.simulateProcessKill();
    harness.receivers.setFakeReceiverBehaviour(PRESENT, (request) => harness.receivers.respondWithOk(request));
    webhooks = await harness.startWebhooks({ policy: POLICY });
    await untilSucceeded(id, held.id, 2);
    const later = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(later);
    await untilSucceeded(id, later.id, 1);
  });

  test('a 429 of an attempt in progress does not hold the new URL', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, FORMER);
    const { event_id, reply } = await attemptUnderWay();
    await changeUrl(id, PRESENT);
    reply(AN_HOUR);
    await untilSucceeded(id, event_id, 2);
    const later = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(later);
    await untilSucceeded(id, later.id, 1);
  });

  test('a 410 of an attempt in progress makes no dead letter and disables nothing', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, FORMER);
    const { event_id, reply } = await attemptUnderWay();
    await changeUrl(id, PRESENT);
    reply(createReceiverAnswer(410));
    await untilSucceeded(id, event_id, 2);
    expect(await webhooks.endpoints.get({ ...harness.createSampleWebhookCommand(), endpoint_id: id })).toMatchObject({
      status: 'enabled',
    });
  });

  test('a 410 makes no dead letter if the attempting process does not know of the change yet', async () => {
    await webhooks.stop();
    webhooks = await harness.startWebhooks({ policy: POLICY, pollMs: HOUR_MS });
    const { id } = await harness.createEnabledEndpoint(webhooks, FORMER);
    const { event_id, reply } = await attemptUnderWay();
    const owner = webhooks;
    webhooks = await harness.startWebhooks({}, undefined, harness.receivers, true);
    await changeUrl(id, PRESENT);
    webhooks = owner;
    reply(createReceiverAnswer(410));
    await untilSucceeded(id, event_id, 2);
    expect(await webhooks.endpoints.get({ ...harness.createSampleWebhookCommand(), endpoint_id: id })).toMatchObject({
      status: 'enabled',
    });
  });

  test('a 410 from before the URL was set again disables nothing', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, FORMER);
    const { event_id, reply } = await attemptUnderWay();
    await changeUrl(id, PRESENT);
    harness.receivers.setFakeReceiverBehaviour(FORMER, (request) => harness.receivers.respondWithOk(request));
    await changeUrl(id, FORMER);
    reply(createReceiverAnswer(410));
    await untilSucceeded(id, event_id, 2);
    expect(await webhooks.endpoints.get({ ...harness.createSampleWebhookCommand(), endpoint_id: id })).toMatchObject({
      status: 'enabled',
    });
  });
});

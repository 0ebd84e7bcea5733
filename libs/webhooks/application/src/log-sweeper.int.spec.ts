import { jest } from '@jest/globals';
import { eventually } from '@tracking/testing';
import type { RetryPolicy } from '@tracking/webhooks-domain';
import { storeDeadLetters } from '../test/dead-letters.ts';
import { createReceiverAnswer } from '../test/fake-receivers.ts';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestHarness } from '../test/webhooks-test-harness.ts';
import { ENDPOINTS_COLLECTION_SPEC, ENDPOINT_HEALTH_COLLECTION_SPEC } from './endpoints/endpoint-document.ts';
import {
  ATTEMPTS_COLLECTION_SPEC,
  DELIVERIES_COLLECTION_SPEC,
  PAYLOADS_COLLECTION_SPEC,
  type PayloadDocument,
} from './store/delivery-document.ts';

jest.setTimeout(30_000);

const URL_A = 'https://a.example.com/hook';
const URL_B = 'https://b.example.com/hook';
const DAY_MS = 86_400_000;
const POLICY: RetryPolicy = { firstMs: 5, factor: 1, capMs: 5, windowMs: 20 };
const SETTINGS = { policy: POLICY, sweepMs: 20 };

let harness: WebhooksTestHarness;
let webhooks: RunningWebhooks;
beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
  webhooks = await harness.startWebhooks(SETTINGS);
});
afterEach(() => harness.closeWebhooksHarness());

/** Numbers of documents: deliveries, earlier attempts, bodies. */
async function stored(): Promise<readonly number[]> {
  const collections = await Promise.all(
    [DELIVERIES_COLLECTION_SPEC, ATTEMPTS_COLLECTION_SPEC, PAYLOADS_COLLECTION_SPEC].map((spec) =>
      harness.engine.documentStore.collection(spec),
    ),
  );
  return Promise.all(collections.map((collection) => collection.count({})));
}
const count = async (status: string) => (await harness.listDeliveries(webhooks, { statuses: [status] })).length;
const swept = () => webhooks.metrics.getMetricValue('webhook_deliveries_deleted_total');

test('deletes deliveries past their retention with their attempts and bodies; keeps everything else', async () => {
  const other = { ...SAMPLE_SCOPE, workspace_id: 'wsp_two', environment: 'test' as const };
  await harness.createEnabledEndpoint(webhooks, URL_A);
  await harness.createEnabledEndpoint(webhooks, URL_A, {}, other);
  const refusing = await harness.createEnabledEndpoint(webhooks, URL_B, { event_types: ['milestone.recorded'] });
  let refusals = 0;
  harness.receivers.setFakeReceiverBehaviour(URL_A, () =>
    (refusals += 1) === 1 ? createReceiverAnswer(500) : createReceiverAnswer(200),
  );
  harness.receivers.setFakeReceiverBehaviour(URL_B, () => createReceiverAnswer(500));
  await harness.publishEventsToBrokerForTest(
    harness.addAcknowledgedEventToLog(),
    harness.addAcknowledgedEventToLog(),
    harness.addAcknowledgedEventToLog(other),
    harness.addAcknowledgedEventToLog({ type: 'milestone.recorded' }),
  );
  await eventually(async () => expect([await count('succeeded'), await count('dead_lettered')]).toEqual([3, 1]));
  await eventually(() => expect(webhooks.metrics.getMetricValue('webhook_dead_letters_total')).toBe(1));
  await webhooks.endpoints.disable({ ...harness.createSampleWebhookCommand(), endpoint_id: refusing.id });
  harness.clockOffset += 29 * DAY_MS;
  await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
  await eventually(async () => expect(await count('succeeded')).toBe(4));
  expect(swept()).toBe(0);

  harness.clockOffset += 2 * DAY_MS;
  await eventually(() => expect(swept()).toBe(4));
  // The new one, and the dead letter whose body another delivery shared.
  await eventually(async () => expect((await stored())[2]).toBe(2));
  expect([await count('succeeded'), await count('dead_lettered')]).toEqual([1, 1]);

  harness.clockOffset += 60 * DAY_MS;
  await eventually(() => expect(swept()).toBe(6));
  await eventually(async () => expect(await stored()).toEqual([0, 0, 0]));
});

test('keeps pending deliveries, however old, which are delivered in the end', async () => {
  const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
  const on = () => ({ ...harness.createSampleWebhookCommand(), endpoint_id: id });
  const held = harness.addAcknowledgedEventToLog();
  await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
  await eventually(async () => expect(await count('succeeded')).toBe(1));
  await webhooks.endpoints.disable(on());
  await harness.publishEventsToBrokerForTest(held);
  await eventually(async () => expect(await count('pending')).toBe(1));
  harness.clockOffset += 400 * DAY_MS;
  await eventually(() => expect(swept()).toBe(1));
  await webhooks.endpoints.enable(on());
  await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(2));
  expect(JSON.parse(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)[1]?.body ?? '')).toMatchObject({
    id: held.id,
  });
  // Retention starts at the delivery's end, not at its event.
  await eventually(async () => expect(await count('succeeded')).toBe(1));
});

test('does not deliver events from before the retention watermark again if they are republished', async () => {
  await harness.createEnabledEndpoint(webhooks, URL_A);
  const event = harness.addAcknowledgedEventToLog();
  await harness.publishEventsToBrokerForTest(event);
  await eventually(async () => expect(await count('succeeded')).toBe(1));
  harness.clockOffset += 31 * DAY_MS;
  await eventually(async () => expect((await stored())[0]).toBe(0));
  await webhooks.stop();
  webhooks = await harness.startWebhooks(SETTINGS);
  const next = harness.addAcknowledgedEventToLog();
  await harness.publishEventsToBrokerForTest(event, next);
  await eventually(async () => expect(await count('succeeded')).toBe(1));
  await harness.waitUntilEventsRecorded();
  expect(
    harness.receivers.listDeliveriesReceivedAtUrl(URL_A).map(({ headers }) => headers['service-event-id']),
  ).toEqual([event.id, next.id]);
});

test('records an event older than the log while nothing of its time was deleted', async () => {
  await harness.createEnabledEndpoint(webhooks, URL_A);
  const late = harness.addAcknowledgedEventToLog();
  harness.clockOffset += 31 * DAY_MS;
  await harness.publishEventsToBrokerForTest(late);
  await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(1));
});

test('deletes a replay this long after its end; keeps a running one', async () => {
  const create = async (endpoint_id: string) =>
    (await webhooks.replays.create({ ...harness.createSampleWebhookCommand(), endpoint_id, filter: {} })).id;
  const statusOf = async (replay_id: string) =>
    (await webhooks.replays.get({ ...SAMPLE_SCOPE, replay_id }).catch(() => undefined))?.status;
  const old = await create((await harness.createEnabledEndpoint(webhooks, URL_A)).id);
  await eventually(async () => expect(await statusOf(old)).toBe('completed'));
  const waiting = await harness.createEnabledEndpoint(webhooks, URL_B);
  harness.addAcknowledgedEventToLog();
  harness.receivers.setFakeReceiverBehaviour(URL_B, () => createReceiverAnswer(503, { 'retry-after': '3600' }));
  const running = await create(waiting.id);
  harness.clockOffset += 29 * DAY_MS;
  await webhooks.replays.cancel({ ...harness.createSampleWebhookCommand(), replay_id: running });
  await webhooks.replays.resume({ ...harness.createSampleWebhookCommand(), replay_id: running });
  harness.clockOffset += 2 * DAY_MS;
  await eventually(async () => expect(await statusOf(old)).toBeUndefined());
  expect(await statusOf(running)).toBe('running');
});

test('deletes a deleted endpoint and its health with the last delivery and replay of its log', async () => {
  const deleted = async (url: string, statusCode: number) => {
    const { id: endpoint_id } = await harness.createEnabledEndpoint(webhooks, url);
    harness.receivers.setFakeReceiverBehaviour(url, () => createReceiverAnswer(statusCode, { 'retry-after': '1' }));
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    await eventually(async () => {
      const [found] = await harness.listDeliveries(webhooks, { endpoint_id });
      expect(found?.attempts_count).toBeGreaterThan(0);
    });
    await webhooks.endpoints.remove({ ...harness.createSampleWebhookCommand(), endpoint_id });
    return endpoint_id;
  };
  const collections = await Promise.all([
    harness.engine.documentStore.collection(ENDPOINTS_COLLECTION_SPEC),
    harness.engine.documentStore.collection(ENDPOINT_HEALTH_COLLECTION_SPEC),
  ]);
  const left = async () => (await Promise.all(collections.map((each) => each.find({ filter: {}, limit: 9 })))).flat();
  const ids = async () => [...new Set((await left()).map(({ id }) => id))].sort();
  const gone = await deleted(URL_B, 503);
  const withDeadLetter = await deleted(URL_A, 500);
  await storeDeadLetters(harness, 1, { endpoint_id: withDeadLetter });
  expect(await ids()).toEqual([gone, withDeadLetter].sort());
  expect((await left()).length).toBeGreaterThan(2);
  harness.clockOffset += 29 * DAY_MS;
  const present = await harness.createEnabledEndpoint(webhooks, 'https://c.example.com/hook');
  harness.clockOffset += 2 * DAY_MS;
  await eventually(async () => expect(await ids()).toEqual([withDeadLetter, present.id].sort()));
  harness.clockOffset += 60 * DAY_MS;
  await eventually(async () => expect(await ids()).toEqual([present.id]));
});

test('deletes an unreferenced body at the retention of dead letters', async () => {
  await harness.createEnabledEndpoint(webhooks, URL_A);
  const payloads = await harness.engine.documentStore.collection<PayloadDocument>(PAYLOADS_COLLECTION_SPEC);
  harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(503, { 'retry-after': '3600' }));
  const waiting = harness.addAcknowledgedEventToLog();
  await harness.publishEventsToBrokerForTest(waiting);
  await harness.waitUntilEventsRecorded();
  const body = (id: string) => ({ id, body: '{}', created_at: harness.now() });
  await payloads.insert(body('evt_orphan.2026-11-01'));
  harness.clockOffset += 89 * DAY_MS;
  await payloads.insert(body('evt_recent.2026-11-01'));
  harness.clockOffset += 2 * DAY_MS;
  await eventually(async () => expect(await payloads.get('evt_orphan.2026-11-01')).toBeUndefined());
  const left = (await payloads.find({ filter: {}, limit: 9 })).map(({ id }) => id.split('.')[0]);
  expect(left.sort()).toEqual(['evt_recent', waiting.id].sort());
});

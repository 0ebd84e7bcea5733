import { jest } from '@jest/globals';
import type { JsonObject, PublishedEvent } from '@tracking/contracts';
import { eventually } from '@tracking/testing';
import type { RetryPolicy } from '@tracking/webhooks-domain';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import { type EndpointDocument, ENDPOINTS_COLLECTION_SPEC } from '../endpoints/endpoint-document.ts';

const THIN_URL = 'https://thin.example.com/hook';
const FULL_URL = 'https://full.example.com/hook';
/** The tests request each further attempt. */
const NEVER: RetryPolicy = { firstMs: 3_600_000, factor: 1, capMs: 3_600_000, windowMs: 7_200_000 };

jest.setTimeout(30_000);

let harness: WebhooksTestHarness;
let webhooks: RunningWebhooks;

beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
  webhooks = await harness.startWebhooks({ policy: NEVER });
});
afterEach(() => harness.closeWebhooksHarness());

const ABOUT = { shipment_id: 'shp_1', external_id: 'PO-1', shipment_version: 4 };
const CHANGES = { eta: { from: null, to: '2026-12-01T00:00:00.000Z' } };
const newEvent = (fields: Partial<PublishedEvent> = {}) =>
  harness.addAcknowledgedEventToLog({
    type: 'shipment.updated',
    data: { ...ABOUT, shipment: { id: 'shp_1', version: 4, status: 'in_transit' }, changes: CHANGES },
    ...fields,
  });
const thin = (event: PublishedEvent) => ({ ...event, data: { ...ABOUT, changes: CHANGES } });
const receivedAt = (url: string, count: number) =>
  eventually(() => {
    const bodies = harness.receivers.listDeliveriesReceivedAtUrl(url).map(({ body }) => body);
    expect(bodies).toHaveLength(count);
    return bodies;
  });
const parsedLast = (bodies: readonly string[]) => JSON.parse(bodies.at(-1) ?? '') as JsonObject;
const untilStatusIs = (endpoint_id: string, event: PublishedEvent, status: string) =>
  eventually(async () => {
    const found = await harness.getDelivery(webhooks, endpoint_id, event.id);
    expect(found.status).toBe(status);
    return found;
  });
const changePayload = (endpoint_id: string, payload: string | null) =>
  webhooks.endpoints.change({ ...harness.createSampleWebhookCommand(), endpoint_id, fields: { payload } });

describe('an endpoint with thin payloads', () => {
  test('receives each event without its snapshot, and other endpoints receive the same event with it', async () => {
    const small = await harness.createEnabledEndpoint(webhooks, THIN_URL, { payload: 'thin' });
    const large = await harness.createEnabledEndpoint(webhooks, FULL_URL);
    expect([small.payload, large.payload]).toEqual(['thin', 'full']);
    const event = newEvent();
    await harness.publishEventsToBrokerForTest(event);
    expect(parsedLast(await receivedAt(THIN_URL, 1))).toEqual(thin(event));
    expect(parsedLast(await receivedAt(FULL_URL, 1))).toEqual(event);
    expect((await untilStatusIs(small.id, event, 'succeeded')).payload).toEqual(thin(event));
    expect((await untilStatusIs(large.id, event, 'succeeded')).payload).toEqual(event);
  });

  test('receives sandbox events and missed events of a replay without snapshots', async () => {
    const missed = newEvent({ created_at: new Date(Date.parse(harness.now()) - 60_000).toISOString() });
    const { id } = await harness.createEnabledEndpoint(webhooks, THIN_URL, { payload: 'thin' });
    await webhooks.endpoints.test({
      ...harness.createSampleWebhookCommand(),
      endpoint_id: id,
      type: 'shipment.created',
    });
    const sandbox = parsedLast(await receivedAt(THIN_URL, 1));
    expect(sandbox).toMatchObject({ sandbox: true });
    expect(Object.keys(sandbox['data'] as object)).toEqual(['shipment_id', 'external_id', 'shipment_version']);
    await webhooks.replays.create({ ...harness.createSampleWebhookCommand(), endpoint_id: id, filter: {} });
    expect(parsedLast(await receivedAt(THIN_URL, 2))).toEqual(thin(missed));
  });

  test.each([
    ['full', 'thin'],
    ['thin', 'full'],
  ])('changed from %s to %s keeps the bytes of earlier deliveries, also in retries and replays', async (from, to) => {
    const { id } = await harness.createEnabledEndpoint(webhooks, THIN_URL, { payload: from });
    harness.receivers.setFakeReceiverBehaviour(THIN_URL, () => createReceiverAnswer(500));
    const [before, after] = [newEvent(), newEvent()];
    await harness.publishEventsToBrokerForTest(before);
    const [first] = await receivedAt(THIN_URL, 1);
    const { id: delivery_id } = await untilStatusIs(id, before, 'retrying');
    harness.receivers.setFakeReceiverBehaviour(THIN_URL, (request) => harness.receivers.respondWithOk(request));
    expect(await changePayload(id, to)).toMatchObject({ payload: to, status: 'enabled' });
    await webhooks.deliveries.retry({ ...harness.createSampleWebhookCommand(), delivery_id });
    await untilStatusIs(id, before, 'succeeded');
    await webhooks.replays.create({
      ...harness.createSampleWebhookCommand(),
      endpoint_id: id,
      filter: { statuses: ['succeeded'] },
    });
    expect(await receivedAt(THIN_URL, 3)).toEqual([first, first, first]);
    await harness.publishEventsToBrokerForTest(after);
    expect(parsedLast(await receivedAt(THIN_URL, 4))).toEqual(to === 'thin' ? thin(after) : after);
  });

  test('receives the events that were too large for it, and keeps their bytes from then on', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, THIN_URL);
    harness.receivers.setFakeReceiverBehaviour(THIN_URL, (request) =>
      request.body.includes('"shipment":') ? createReceiverAnswer(413) : harness.receivers.respondWithOk(request),
    );
    const event = newEvent();
    await harness.publishEventsToBrokerForTest(event);
    const refused = await untilStatusIs(id, event, 'retrying');
    expect(refused.last_error?.message).toContain('set `payload` of the endpoint to `thin`');
    expect(refused.payload).toEqual(event);
    await changePayload(id, 'thin');
    await webhooks.deliveries.retry({ ...harness.createSampleWebhookCommand(), delivery_id: refused.id });
    expect((await untilStatusIs(id, event, 'succeeded')).payload).toEqual(thin(event));
    await changePayload(id, 'full');
    await webhooks.replays.create({
      ...harness.createSampleWebhookCommand(),
      endpoint_id: id,
      filter: { statuses: ['succeeded'] },
    });
    const [full, ...others] = await receivedAt(THIN_URL, 3);
    expect([JSON.parse(full ?? ''), ...others.map((body) => JSON.parse(body) as JsonObject)]).toEqual([
      event,
      thin(event),
      thin(event),
    ]);
    expect(others[1]).toBe(others[0]);
  });

  test('is full again after null', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, THIN_URL, { payload: 'thin' });
    expect(await changePayload(id, null)).toMatchObject({ payload: 'full' });
    await expect(changePayload(id, 'slim')).rejects.toMatchObject({
      details: [{ param: 'payload', code: 'invalid_value', message: 'payload must be one of full, thin.' }],
    });
  });
});

test('an endpoint that was stored before forms existed is full', async () => {
  const { id } = await harness.createEnabledEndpoint(webhooks, FULL_URL);
  const stored = await harness.engine.documentStore.collection<EndpointDocument>(ENDPOINTS_COLLECTION_SPEC);
  const { payload, ...former } = (await stored.get(id)) as EndpointDocument;
  expect(payload).toBe('full');
  await webhooks.stop();
  await stored.upsert(former as EndpointDocument);
  webhooks = await harness.startWebhooks();
  expect(await webhooks.endpoints.get({ ...SAMPLE_SCOPE, endpoint_id: id })).toMatchObject({ payload: 'full' });
  const event = newEvent();
  await harness.publishEventsToBrokerForTest(event);
  expect(parsedLast(await receivedAt(FULL_URL, 1))).toEqual(event);
});

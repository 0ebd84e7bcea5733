import { randomUUID } from 'node:crypto';
import type { JsonObject, PublishedEvent } from '@tracking/contracts';
import { eventually, hostileReceiverBehaviours } from '@tracking/testing';
import { createEnabledEndpoint, startClientReceiver } from './client-endpoint.ts';
import type { ClientWebhookTestReceiver } from './client-endpoint.ts';
import { getExampleEventData } from './described-responses.ts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let receiver: ClientWebhookTestReceiver;
let key: string;

beforeAll(async () => {
  api = await startApi();
  receiver = await startClientReceiver();
  key = await api.key('developer');
});
afterAll(async () => {
  await api.stop();
  await receiver.close();
});

const DELIVERIES = '/v1/webhook_deliveries';
const list = (query = '', by = key): Promise<ApiResponse> => api.call('GET', `${DELIVERIES}${query}`, { key: by });
const get = (id: unknown, by = key): Promise<ApiResponse> =>
  api.call('GET', `${DELIVERIES}/${String(id)}`, { key: by });
const post = (id: unknown, action: string, by = key): Promise<ApiResponse> =>
  api.call('POST', `${DELIVERIES}/${String(id)}/${action}`, { key: by });
const dataOf = ({ body }: ApiResponse): JsonObject[] => body['data'] as JsonObject[];
const ids = (answer: ApiResponse): unknown[] => dataOf(answer).map(({ id }) => id);

async function publish(type: PublishedEvent['type'] = 'shipment.created'): Promise<string> {
  const id = `evt_${randomUUID()}`;
  const created_at = new Date().toISOString();
  const workspace_id = await api.workspace();
  const about = { created_at, api_version: '2026-11-01', environment: 'live', workspace_id } as const;
  await api.publish({ id, type, ...about, data: getExampleEventData(type) });
  return id;
}

/** Waits until the delivery of an event to an endpoint has the expected fields. */
function delivery(event_id: string, endpoint: JsonObject, expected: object): Promise<JsonObject> {
  return eventually(async () => {
    const [found] = dataOf(await list(`?event_id=${event_id}&endpoint_id=${String(endpoint['id'])}`));
    expect(found).toMatchObject(expected);
    return found ?? {};
  });
}

describe('webhook deliveries', () => {
  it('are shown with every attempt', async () => {
    const endpoint = await createEnabledEndpoint(api, key, receiver.url);
    const event_id = await publish();
    const listed = await delivery(event_id, endpoint, { status: 'succeeded' });
    expect(listed).toEqual({
      id: expect.stringMatching(/^dlv_/),
      endpoint_id: endpoint['id'],
      event_id,
      event_type: 'shipment.created',
      status: 'succeeded',
      sandbox: false,
      created_at: expect.any(String),
      next_attempt_at: null,
      completed_at: expect.any(String),
      attempts_count: 1,
      last_error: null,
      version: expect.any(Number),
    });
    const { status, body } = await get(listed['id']);
    expect([status, body]).toEqual([
      200,
      {
        ...listed,
        payload: expect.objectContaining({ id: event_id, api_version: '2026-11-01' }),
        attempts: [
          {
            number: 1,
            at: expect.any(String),
            duration_ms: expect.any(Number),
            status_code: 204,
            error: null,
            response: { headers: expect.any(Object), body: '' },
            manual: false,
          },
        ],
      },
    ]);
    const document = (await api.call('GET', '/openapi.json')).body;
    const { schemas } = document['components'] as { schemas: Record<string, { properties: JsonObject }> };
    expect(Object.keys(body).sort()).toEqual(Object.keys(schemas['WebhookDeliveryDetail']?.properties ?? {}).sort());
  });

  it('are retried and discarded by hand', async () => {
    const failing = await startClientReceiver(hostileReceiverBehaviours.answers(500, 'broken'));
    const endpoint = await createEnabledEndpoint(api, key, failing.url);
    const event_id = await publish();
    const { id } = await delivery(event_id, endpoint, { status: 'retrying', attempts_count: 1 });
    const retried = await post(id, 'retry');
    expect([retried.status, retried.body]).toEqual([
      202,
      expect.objectContaining({ id, status: 'retrying', warnings: [] }),
    ]);
    expect(retried.headers.get('consistency-token')).toMatch(/^[\w-]{20,}$/);
    const after = await delivery(event_id, endpoint, { status: 'retrying', attempts_count: 2 });
    expect(after['last_error']).toEqual({ code: expect.any(String), message: expect.any(String) });
    expect((await get(id)).body['attempts']).toEqual([
      expect.objectContaining({ number: 1, status_code: 500, manual: false }),
      expect.objectContaining({
        number: 2,
        status_code: 500,
        manual: true,
        response: expect.objectContaining({ body: 'broken' }),
      }),
    ]);

    await api.call('POST', `/v1/webhook_endpoints/${String(endpoint['id'])}/disable`, { key });
    const held = await post(id, 'retry');
    expect([held.status, held.body['error']]).toEqual([
      409,
      expect.objectContaining({ type: 'conflict', code: 'endpoint_not_enabled' }),
    ]);

    for (let time = 0; time < 2; time++) {
      const discarded = await post(id, 'discard');
      expect([discarded.status, discarded.body]).toEqual([
        200,
        expect.objectContaining({ id, status: 'discarded', next_attempt_at: null, warnings: [] }),
      ]);
      expect(discarded.headers.get('consistency-token')).toMatch(/^[\w-]{20,}$/);
    }
    await failing.close();
  });

  it('that succeeded cannot be discarded', async () => {
    const endpoint = await createEnabledEndpoint(api, key, receiver.url);
    const { id } = await delivery(await publish(), endpoint, { status: 'succeeded' });
    const answer = await post(id, 'discard');
    expect([answer.status, answer.body['error']]).toEqual([
      409,
      expect.objectContaining({ type: 'conflict', code: 'delivery_succeeded' }),
    ]);
  });

  it('are listed by endpoint, event, type and status, the newest first, in pages', async () => {
    const failing = await startClientReceiver(hostileReceiverBehaviours.answers(500));
    const bad = await createEnabledEndpoint(api, key, failing.url);
    const good = await createEnabledEndpoint(api, key, receiver.url);
    const events: string[] = [];
    const found: JsonObject[] = [];
    // Events are published one after the other, because deliveries recorded in the same millisecond have no defined
    // order.
    for (const type of ['shipment.created', 'shipment.updated', 'shipment.created'] as const) {
      const event = await publish(type);
      events.push(event);
      found.push(await delivery(event, bad, { status: 'retrying' }));
      await delivery(event, good, { status: 'succeeded' });
    }
    const newest = found.map(({ id }) => id).reverse();
    const to = `endpoint_id=${String(bad['id'])}`;

    expect(ids(await list(`?${to}`))).toEqual(newest);
    expect(ids(await list(`?${to}&status=retrying`))).toEqual(newest);
    expect(ids(await list(`?${to}&status=pending,succeeded`))).toEqual([]);
    expect(ids(await list(`?${to}&event_type=shipment.updated`))).toEqual([newest[1]]);
    expect(ids(await list(`?${to}&event_id=${String(events[0])}`))).toEqual([newest[2]]);
    expect(ids(await list(`?event_id=${String(events[0])}&status=retrying`))).toContain(newest[2]);

    const first = await list(`?${to}&limit=2&status=retrying,pending`);
    const cursor = String(first.body['next_cursor']);
    const second = await list(`?${to}&limit=2&status=pending,retrying&cursor=${cursor}`);
    expect([...ids(first), ...ids(second)]).toEqual(newest);
    expect([first.body['has_more'], second.body['has_more']]).toEqual([true, false]);
    expect((await list(`?${to}&cursor=${cursor}`)).body['error']).toMatchObject({ code: 'invalid_cursor' });
    await failing.close();
  });

  it('of another workspace or environment do not exist', async () => {
    const endpoint = await createEnabledEndpoint(api, key, receiver.url);
    const event_id = await publish();
    const { id } = await delivery(event_id, endpoint, { status: 'succeeded' });
    for (const stranger of [await api.key('admin', 'test'), await api.key('admin', 'live', 'strangers')]) {
      for (const answer of [
        await get(id, stranger),
        await post(id, 'retry', stranger),
        await post(id, 'discard', stranger),
      ]) {
        expect([answer.status, answer.body['error']]).toEqual([404, expect.objectContaining({ code: 'not_found' })]);
      }
      for (const query of ['', `?endpoint_id=${String(endpoint['id'])}`, `?event_id=${event_id}`]) {
        expect(dataOf(await list(query, stranger))).toEqual([]);
      }
    }
    expect((await get(id)).body).toMatchObject({ attempts_count: 1 });
  });
});

it('no request got an internal error', () => {
  expect(api.lines.filter(({ level }) => level === 'error')).toEqual([]);
});

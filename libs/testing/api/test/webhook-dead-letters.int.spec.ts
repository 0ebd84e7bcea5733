import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@tracking/contracts';
import { eventually, hostileReceiverBehaviours } from '@tracking/testing';
import { createEnabledEndpoint, startClientReceiver } from './client-endpoint.ts';
import type { ClientWebhookTestReceiver } from './client-endpoint.ts';
import { getExampleEventData } from './described-responses.ts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let receiver: ClientWebhookTestReceiver;
let workspace: string;
let key: string;

beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  receiver = await startClientReceiver();
  workspace = randomUUID();
  key = await api.key('developer', 'live', workspace);
});
afterEach(() => receiver.close());
afterAll(() => api.stop());

const DEAD = '/v1/webhook_dead_letters';
const post = (path: string, json?: object, by = key): Promise<ApiResponse> =>
  api.call('POST', path, { key: by, ...(json && { json }) });
const get = (path: string, by = key): Promise<ApiResponse> => api.call('GET', path, { key: by });
const dataOf = ({ body }: ApiResponse): JsonObject[] => body['data'] as JsonObject[];
const codeOf = ({ status, body }: ApiResponse) => [status, (body['error'] as JsonObject | undefined)?.['code']];

/** Endpoints that gave each a delivery up, and are enabled again. */
async function deadLetters(count = 1): Promise<JsonObject[]> {
  const made: JsonObject[] = [];
  for (let n = 0; n < count; n += 1) made.push(await createEnabledEndpoint(api, key, receiver.url));
  receiver.setReceiverBehaviour(hostileReceiverBehaviours.answers(410, ''));
  await api.publish({
    id: `evt_${randomUUID()}`,
    type: 'shipment.created',
    api_version: '2026-11-01',
    created_at: new Date().toISOString(),
    environment: 'live',
    workspace_id: await api.workspace(workspace),
    data: getExampleEventData('shipment.created'),
  });
  const letters = await eventually(async () => {
    const found = dataOf(await get('/v1/webhook_deliveries?status=dead_lettered'));
    expect(found).toHaveLength(count);
    return found;
  });
  receiver.setReceiverBehaviour(hostileReceiverBehaviours.answers(204, ''));
  for (const { endpoint_id } of letters) {
    const path = `/v1/webhook_endpoints/${String(endpoint_id)}`;
    await eventually(async () => expect((await get(path)).body['status']).toBe('disabled'));
    await post(`${path}/enable`);
  }
  return letters;
}
const ended = (id: unknown): Promise<ApiResponse> =>
  eventually(async () => {
    const found = await get(`/v1/webhook_replays/${String(id)}`);
    expect(found.body['status']).toBe('completed');
    return found;
  });

describe('dead letters', () => {
  it('are counted, and listed by reason and time', async () => {
    const [letter] = await deadLetters();
    const endpoint_id = letter?.['endpoint_id'];
    const summary = await get(`${DEAD}/summary`);
    expect([summary.status, summary.body]).toEqual([
      200,
      {
        count: 1,
        is_exact: true,
        by_reason: [{ reason: 'unexpected_status', count: 1, is_exact: true }],
        by_endpoint: [{ endpoint_id, url: receiver.url, status: 'enabled', count: 1, is_exact: true }],
        by_event_type: [{ event_type: 'shipment.created', count: 1, is_exact: true }],
      },
    ]);
    const later = new Date(Date.now() + 60_000).toISOString();
    for (const [query, count] of [
      ['reason=timeout,unexpected_status&event_type=shipment.created', 1],
      [`endpoint_id=${String(endpoint_id)}&until=${later}`, 1],
      ['reason=timeout', 0],
      ['event_type=shipment.updated', 0],
      [`since=${later}`, 0],
    ] as const) {
      expect((await get(`${DEAD}/summary?${query}`)).body['count']).toBe(count);
    }
    const listed = async (query: string) => dataOf(await get(`/v1/webhook_deliveries?${query}`)).map(({ id }) => id);
    expect(await listed(`reason=UNEXPECTED_STATUS&until=${later}`)).toEqual([letter?.['id']]);
    expect(await listed(`since=${later}`)).toEqual([]);
    expect(await listed('reason=timeout')).toEqual([]);
    const other = await api.key('developer', 'test', workspace);
    expect((await get(`${DEAD}/summary`, other)).body['count']).toBe(0);
  });

  it('are delivered again, each endpoint by a replay of its own', async () => {
    const letters = await deadLetters(2);
    const begun = await post(`${DEAD}/replay`, { reasons: ['unexpected_status'], until: null });
    expect([begun.status, begun.body['refused'], begun.body['warnings']]).toEqual([202, [], []]);
    const endpoints = letters.map(({ endpoint_id }) => endpoint_id).sort();
    expect(
      dataOf(begun)
        .map(({ endpoint_id }) => endpoint_id)
        .sort(),
    ).toEqual(endpoints);
    for (const { id } of dataOf(begun)) {
      expect((await ended(id)).body).toMatchObject({ action: 'replay', matched: 1, done: 1, failed: 0 });
    }
    expect((await get(`${DEAD}/summary`)).body['count']).toBe(0);
    expect((await post(`${DEAD}/replay`, {})).body).toEqual({ data: [], refused: [], warnings: [] });
  });

  it('are given up, and told as a job among the replays', async () => {
    const [letter] = await deadLetters();
    const { body } = await post(`${DEAD}/discard`, { delivery_ids: [letter?.['id']], colour: 'red' });
    expect(body['warnings']).toMatchObject([{ code: 'unknown_field', param: 'colour' }]);
    const [job] = body['data'] as JsonObject[];
    expect(job).toMatchObject({ action: 'discard', delivery_ids: [letter?.['id']] });
    await ended(job?.['id']);
    expect(dataOf(await get('/v1/webhook_replays')).map(({ id }) => id)).toEqual([job?.['id']]);
    expect((await get(`/v1/webhook_deliveries/${String(letter?.['id'])}`)).body['status']).toBe('discarded');
    expect((await get(`${DEAD}/summary`)).body['count']).toBe(0);
  });

  it('say why none was begun: where one endpoint is asked for as a refusal, else beside what was', async () => {
    const [one, two] = await deadLetters(2);
    await post(`/v1/webhook_endpoints/${String(one?.['endpoint_id'])}/disable`);
    expect(codeOf(await post(`${DEAD}/replay`, { endpoint_id: one?.['endpoint_id'] }))).toEqual([
      409,
      'endpoint_not_enabled',
    ]);
    const { status, body } = await post(`${DEAD}/replay`, {});
    expect([status, body['refused']]).toEqual([
      202,
      [
        {
          endpoint_id: one?.['endpoint_id'],
          code: 'endpoint_not_enabled',
          message: expect.stringContaining('Enable it first'),
        },
      ],
    ]);
    expect(body['data']).toMatchObject([{ endpoint_id: two?.['endpoint_id'] }]);
  });

  it('does not find those of another workspace', async () => {
    const [letter] = await deadLetters();
    const stranger = await api.key('developer', 'live', randomUUID());
    for (const which of [{ endpoint_id: letter?.['endpoint_id'] }, { delivery_ids: [letter?.['id']] }]) {
      expect(codeOf(await post(`${DEAD}/discard`, which, stranger))).toEqual([404, 'not_found']);
    }
    expect((await post(`${DEAD}/discard`, {}, stranger)).body['data']).toEqual([]);
    expect((await get(`${DEAD}/summary`)).body['count']).toBe(1);
  });

  it.each([
    [{ reasons: ['luck'] }, 'reasons[0]'],
    [{ event_types: 'shipment.created' }, 'event_types'],
    [{ since: 'yesterday' }, 'since'],
    [{ endpoint_id: 'x' }, 'endpoint_id'],
    [{ delivery_ids: Array(201).fill('dlv_a') }, 'delivery_ids'],
    [{ since: '2026-11-22T00:00:00Z', until: '2026-11-21T00:00:00Z' }, 'since'],
  ])('are not settled by %j', async (json, param) => {
    for (const how of ['replay', 'discard']) {
      const { status, body } = await post(`${DEAD}/${how}`, json);
      expect([status, (body['error'] as JsonObject)['param']]).toEqual([400, param]);
    }
  });
});

describe('the audit log', () => {
  const audited = async (): Promise<JsonObject[]> => {
    const admin = await api.key('admin', 'live', workspace);
    return dataOf(await get('/v1/audit_log?limit=200', admin)).filter(
      ({ type }) => !/^(api_key|service_account|webhook_endpoint)\./.test(String(type)),
    );
  };

  it('says who had dead letters sent again or discarded, which, how many, and by which jobs', async () => {
    const [letter] = await deadLetters(3);
    const discarded = await post(`${DEAD}/discard`, { endpoint_id: letter?.['endpoint_id'] });
    for (const { id } of dataOf(discarded)) await ended(id);
    const since = '2026-01-01T00:00:00.000Z';
    const replayed = await post(`${DEAD}/replay`, { reasons: ['unexpected_status'], since });
    const by = { actor: { type: 'service_account', id: expect.stringMatching(/^sva_/), name: 'developer' } };
    const common = { ...by, target: { type: 'webhook_dead_letters', id: null }, outcome: 'done', address: '127.0.0.1' };
    const to = (value: unknown) => ({ from: null, to: value });
    const jobs = (answer: ApiResponse) => to(dataOf(answer).map(({ id }) => id));
    expect(await audited()).toEqual([
      expect.objectContaining({
        ...common,
        type: 'webhook_dead_letters.replayed',
        request_id: replayed.headers.get('request-id'),
        changes: {
          environment: to('live'),
          since: to(since),
          until: to(dataOf(replayed)[0]?.['until']),
          reasons: to(['unexpected_status']),
          matched: to(2),
          replay_ids: jobs(replayed),
        },
      }),
      expect.objectContaining({
        ...common,
        type: 'webhook_dead_letters.discarded',
        request_id: discarded.headers.get('request-id'),
        changes: {
          environment: to('live'),
          endpoint_id: to(letter?.['endpoint_id']),
          until: to(dataOf(discarded)[0]?.['until']),
          matched: to(1),
          replay_ids: jobs(discarded),
        },
      }),
    ]);
  });

  it('names those that were named, and has no entry of what began nothing', async () => {
    const [letter] = await deadLetters();
    const id = letter?.['id'];
    await post(`/v1/webhook_endpoints/${String(letter?.['endpoint_id'])}/disable`);
    await post(`${DEAD}/replay`, {});
    await post(`${DEAD}/replay`, { endpoint_id: letter?.['endpoint_id'] });
    await post(`${DEAD}/discard`, { reasons: ['timeout'] });
    await post(`${DEAD}/discard`, { endpoint_id: 'whe_none' });
    await post(`${DEAD}/discard`, { since: 'yesterday' });
    expect(await audited()).toEqual([]);
    await post(`${DEAD}/discard`, { delivery_ids: [id] });
    const [entry] = await audited();
    expect(entry).toMatchObject({ type: 'webhook_dead_letters.discarded', changes: { delivery_ids: { to: [id] } } });
    expect(entry?.['changes']).not.toHaveProperty('matched');
  });

  it('says who discarded a single one, once', async () => {
    const [letter] = await deadLetters();
    for (let times = 0; times < 2; times += 1) await post(`/v1/webhook_deliveries/${String(letter?.['id'])}/discard`);
    expect(await audited()).toEqual([
      expect.objectContaining({
        type: 'webhook_delivery.discarded',
        target: { type: 'webhook_delivery', id: letter?.['id'] },
        changes: {
          endpoint_id: { from: null, to: letter?.['endpoint_id'] },
          event_id: { from: null, to: letter?.['event_id'] },
          event_type: { from: null, to: 'shipment.created' },
          status: { from: 'dead_lettered', to: 'discarded' },
        },
      }),
    ]);
  });
});

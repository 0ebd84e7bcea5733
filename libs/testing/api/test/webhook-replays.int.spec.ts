import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@tracking/contracts';
import { eventually, hostileReceiverBehaviours } from '@tracking/testing';
import { createEnabledEndpoint, startClientReceiver } from './client-endpoint.ts';
import type { ClientWebhookTestReceiver } from './client-endpoint.ts';
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
  key = await api.key('admin', 'live', workspace);
});
afterEach(() => receiver.close());
afterAll(() => api.stop());

const REPLAYS = '/v1/webhook_replays';
const post = (path: string, json?: object, by = key): Promise<ApiResponse> =>
  api.call('POST', path, { key: by, ...(json && { json }) });
const get = (path: string, by = key): Promise<ApiResponse> => api.call('GET', path, { key: by });
const dataOf = ({ body }: ApiResponse): JsonObject[] => body['data'] as JsonObject[];
const codeOf = ({ status, body }: ApiResponse) => [status, (body['error'] as JsonObject | undefined)?.['code']];
const endpoint = async () => String((await createEnabledEndpoint(api, key, receiver.url))['id']);
const replay = (id: string, filter: object = {}, by = key): Promise<ApiResponse> =>
  post(`/v1/webhook_endpoints/${id}/replay`, filter, by);
/** Creates events that were delivered to no endpoint. */
async function missed(count: number): Promise<string[]> {
  for (let n = 0; n < count; n += 1) await post('/v1/shipments', { external_id: `PO-${n}` });
  return eventually(async () => {
    const events = dataOf(await get('/v1/events'));
    expect(events).toHaveLength(count);
    return events.map(({ id }) => String(id));
  });
}
const ended = ({ body: { id } }: ApiResponse): Promise<ApiResponse> =>
  eventually(async () => {
    const found = await get(`${REPLAYS}/${String(id)}`);
    expect(found.body['status']).toBe('completed');
    return found;
  });
const sent = (): string[] => receiver.deliveries().map(({ headers }) => String(headers['service-event-id']));
/** Creates a replay that waits, because the endpoint requests a pause of an hour. */
async function waiting(): Promise<{ readonly of: string; readonly made: ApiResponse }> {
  await missed(3);
  receiver.setReceiverBehaviour(hostileReceiverBehaviours.answers(503, '', { 'retry-after': '3600' }));
  const of = await endpoint();
  const made = await replay(of);
  await eventually(() => expect(sent()).not.toEqual([]));
  return { of, made };
}

describe('a replay', () => {
  it('is of all that failed or was missed without a body', async () => {
    const of = await endpoint();
    const made = await post(`/v1/webhook_endpoints/${of}/replay`);
    expect([made.status, made.body]).toMatchObject([202, { since: null, event_types: null, warnings: [] }]);
    const { body: described } = await get('/openapi.json');
    const path = '/v1/webhook_endpoints/{id}/replay';
    expect(described).toMatchObject({ paths: { [path]: { post: { requestBody: { required: false } } } } });
  });

  it('sends what was missed, and tells how far it is', async () => {
    const events = await missed(3);
    const of = await endpoint();
    const before = new Date().toISOString();
    const made = await replay(of);
    expect(made.status).toBe(202);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^rpl_[0-9a-z]{20,}$/),
      endpoint_id: of,
      action: 'replay',
      since: null,
      until: expect.any(String),
      event_types: null,
      statuses: ['dead_lettered', 'missed'],
      reasons: null,
      delivery_ids: null,
      status: 'running',
      ...{ matched: 0, done: 0, failed: 0 },
      created_at: expect.any(String),
      completed_at: null,
      version: 1,
      warnings: [],
    });
    expect(String(made.body['until']) >= before).toBe(true);
    const { body, headers } = await ended(made);
    expect(body).toMatchObject({ matched: 3, done: 3, failed: 0, completed_at: expect.any(String) });
    expect(headers.get('etag')).toBe(`"${String(body['version'])}"`);
    expect(sent()).toEqual(events);
    const document = (await api.call('GET', '/openapi.json')).body;
    const { schemas } = document['components'] as { schemas: Record<string, { properties: JsonObject }> };
    expect(Object.keys(body).sort()).toEqual(Object.keys(schemas['WebhookReplay']?.properties ?? {}).sort());
  });

  it('takes what its filter names alone, however it is written', async () => {
    const [first = '', second = ''] = await missed(2);
    const { body } = await get(`/v1/events/${second}`);
    const of = await endpoint();
    const since = String(body['created_at']).replace('Z', '+00:00');
    await ended(
      await replay(of, { since, statuses: ['MISSED'], event_types: ['Shipment.Created', 'exception.opened'] }),
    );
    expect(sent()).toEqual([second]);
    await ended(await replay(of, { statuses: ['succeeded'] }));
    expect(sent()).toEqual([second, second]);
    await ended(await replay(of, { event_types: ['milestone.recorded'] }));
    await ended(await replay(of, { reasons: ['timeout'] }));
    expect(sent()).toEqual([second, second]);
    await ended(await replay(of, { since: null, until: null, statuses: null, event_types: null, reasons: null }));
    expect(sent()).toEqual([second, second, first]);
  });

  it.each<[object, readonly string[]]>([
    [{ since: 'yesterday', until: 1 }, ['since', 'until']],
    [{ since: '2026-11-22T00:00:00Z', until: '2026-11-21T00:00:00Z' }, ['since']],
    [{ event_types: [], statuses: [] }, ['event_types', 'statuses']],
    [{ event_types: ['nothing'], statuses: ['missed', 'pending'] }, ['event_types[0]', 'statuses[1]']],
    [{ event_types: 'milestone.recorded', statuses: {} }, ['event_types', 'statuses']],
    [{ reasons: ['', 1] }, ['reasons[0]', 'reasons[1]']],
    [{ statuses: Array(51).fill('missed') }, ['statuses']],
  ])('is refused for %j', async (filter, faulty) => {
    const { status, body } = await replay(await endpoint(), filter);
    const { code, details } = body['error'] as JsonObject;
    expect([status, (details as JsonObject[]).map(({ param }) => param)]).toEqual([400, faulty]);
    expect(code).toBe(String(faulty) === 'statuses' ? 'limit_exceeded' : 'validation_failed');
    expect(dataOf(await get(REPLAYS))).toEqual([]);
  });

  it('warns of fields that it does not know', async () => {
    const { body } = await replay(await endpoint(), { form: 'x', matched: 1 });
    expect(body['warnings']).toEqual([
      expect.objectContaining({ code: 'unknown_field', param: 'form' }),
      expect.objectContaining({ code: 'read_only_field', param: 'matched' }),
    ]);
  });

  it('is for an enabled endpoint, one at a time, and is canceled and resumed', async () => {
    const { of, made } = await waiting();
    const path = `${REPLAYS}/${String(made.body['id'])}`;
    expect(codeOf(await replay(of))).toEqual([409, 'replay_running']);
    for (let time = 0; time < 2; time += 1) {
      const canceled = await post(`${path}/cancel`);
      expect([canceled.status, canceled.body['status'], canceled.body['warnings']]).toEqual([200, 'canceled', []]);
    }
    expect((await get(path)).body).toMatchObject({ status: 'canceled', completed_at: expect.any(String) });
    const other = await replay(of, { statuses: ['succeeded'] });
    expect(other.status).toBe(202);
    await ended(other);
    await post(`/v1/webhook_endpoints/${of}/disable`);
    expect(codeOf(await post(`${path}/resume`))).toEqual([409, 'endpoint_not_enabled']);
    expect(codeOf(await replay(of))).toEqual([409, 'endpoint_not_enabled']);
    await post(`/v1/webhook_endpoints/${of}/enable`);
    const resumed = await post(`${path}/resume`);
    expect([resumed.status, resumed.body]).toEqual([
      200,
      expect.objectContaining({ status: 'running', completed_at: null }),
    ]);
    expect(codeOf(await post(`${REPLAYS}/${String(other.body['id'])}/resume`))).toEqual([409, 'replay_completed']);
  });

  it('is written at the version that If-Match names', async () => {
    const { made } = await waiting();
    const path = `${REPLAYS}/${String(made.body['id'])}`;
    const present = await eventually(async () => {
      const { body, headers } = await get(path);
      expect(body['matched']).not.toBe(0);
      return headers.get('etag') ?? '';
    });
    const cancel = (tag: string) => api.call('POST', `${path}/cancel`, { key, headers: { 'if-match': tag } });
    const stale = await cancel('"1"');
    expect([...codeOf(stale), stale.headers.get('etag')]).toEqual([412, 'precondition_failed', present]);
    expect((await cancel(present)).status).toBe(200);
  });

  it('is listed by its endpoint, the newest first, in pages', async () => {
    const [one, two] = [await endpoint(), await endpoint()];
    const made: unknown[] = [];
    for (const id of [one, two, one]) {
      const answer = await replay(id);
      made.push(answer.body['id']);
      await ended(answer);
    }
    const ids = (answer: ApiResponse) => dataOf(answer).map(({ id }) => id);
    expect(ids(await get(`${REPLAYS}?endpoint_id=${one}`))).toEqual([made[2], made[0]]);
    const first = await get(`${REPLAYS}?limit=2`);
    const second = await get(`${REPLAYS}?limit=2&cursor=${String(first.body['next_cursor'])}`);
    expect([...ids(first), ...ids(second)]).toEqual(made.toReversed());
    expect([first.body['has_more'], second.body['has_more']]).toEqual([true, false]);
    const elsewhere = await get(`${REPLAYS}?endpoint_id=${one}&cursor=${String(first.body['next_cursor'])}`);
    expect(codeOf(elsewhere)).toEqual([400, 'invalid_cursor']);
  });

  it('of another workspace or environment does not exist', async () => {
    const of = await endpoint();
    const made = await replay(of);
    await ended(made);
    const path = `${REPLAYS}/${String(made.body['id'])}`;
    for (const stranger of [await api.key('admin', 'test', workspace), await api.key('admin', 'live', 'strangers')]) {
      for (const answer of [
        await get(path, stranger),
        await post(`${path}/cancel`, {}, stranger),
        await post(`${path}/resume`, {}, stranger),
        await replay(of, {}, stranger),
      ]) {
        expect(codeOf(answer)).toEqual([404, 'not_found']);
      }
      expect(dataOf(await get(`${REPLAYS}?endpoint_id=${of}`, stranger))).toEqual([]);
    }
  });
});

it('no request got an internal error', () => {
  expect(api.lines.filter(({ level }) => level === 'error')).toEqual([]);
});

describe('the audit log', () => {
  it('says who began, canceled and resumed a replay, and of what; not what was refused or so already', async () => {
    const { of, made } = await waiting();
    const path = `${REPLAYS}/${String(made.body['id'])}`;
    expect((await replay(of)).status).toBe(409);
    for (const how of ['cancel', 'cancel', 'resume', 'resume']) await post(`${path}/${how}`);
    const entries = dataOf(await get('/v1/audit_log')).filter(({ type }) => /replay/.test(String(type)));
    const to = (value: unknown) => ({ from: null, to: value });
    const about = {
      environment: to('live'),
      action: to('replay'),
      endpoint_id: to(of),
      matched: to(expect.any(Number)),
    };
    const target = { type: 'webhook_replay', id: made.body['id'] };
    expect(entries).toEqual([
      expect.objectContaining({
        type: 'webhook_replay.resumed',
        target,
        changes: { ...about, status: { from: 'canceled', to: 'running' } },
      }),
      expect.objectContaining({
        type: 'webhook_replay.canceled',
        target,
        changes: { ...about, status: { from: 'running', to: 'canceled' } },
      }),
      expect.objectContaining({
        type: 'webhook_endpoint.replayed',
        target: { type: 'webhook_endpoint', id: of },
        actor: { type: 'service_account', id: expect.any(String), name: 'admin' },
        changes: {
          environment: to('live'),
          until: to(made.body['until']),
          statuses: to(['dead_lettered', 'missed']),
          replay_id: to(made.body['id']),
        },
      }),
    ]);
  });
});

import { randomUUID } from 'node:crypto';
import type { HistoryEntry, JsonObject } from '@tracking/contracts';
import { startApi } from './start-api.ts';
import type { Api, ApiTestRequest } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

const CONTAINER = 'CSQU3054383';

let api: Api;
let operator: string;
let shipment: string;

beforeAll(async () => {
  api = await startApi();
  operator = await api.key('operator');
});
afterAll(() => api.stop());

beforeEach(async () => {
  shipment = await create();
});

async function create(): Promise<string> {
  const json = { mode: 'ocean', external_id: randomUUID(), container_numbers: [CONTAINER] };
  const { body } = await api.call('POST', '/v1/shipments', { key: operator, json });
  return `/v1/shipments/${String(body['id'])}`;
}

const post = (path: string, json: unknown, rest: ApiTestRequest = {}): Promise<ApiResponse> =>
  api.call('POST', path, { key: operator, json, ...rest });
const open = (json: unknown, rest: ApiTestRequest = {}) => post(`${shipment}/exceptions`, json, rest);
const pathOf = ({ body }: ApiResponse): string => `/v1/exceptions/${String(body['id'])}`;
const acknowledge = (of: ApiResponse, json: unknown, rest: ApiTestRequest = {}) =>
  post(`${pathOf(of)}/acknowledge`, json, rest);
const resolve = (of: ApiResponse, json: unknown, rest: ApiTestRequest = {}) =>
  post(`${pathOf(of)}/resolve`, json, rest);
const get = (path: string, key = operator, headers = {}): Promise<ApiResponse> =>
  api.call('GET', path, { key, headers });
const code = ({ status, body }: ApiResponse): unknown[] => [
  status,
  (body['error'] as JsonObject | undefined)?.['code'],
];
const faults = ({ body }: ApiResponse): string[] =>
  (body['error'] as unknown as { details: { param: string; code: string }[] }).details
    .map((fault) => `${fault.param} ${fault.code}`)
    .sort();
const withoutWarnings = ({ body: { warnings: _warnings, ...exception } }: ApiResponse) => exception;
const countOf = async (): Promise<unknown> => (await get(shipment)).body['open_exceptions_count'];
const events = async (type: string): Promise<readonly JsonObject[]> => {
  const { body } = await get(`/v1/events?shipment_id=${shipment.slice('/v1/shipments/'.length)}&type=${type}`);
  return (body['data'] as JsonObject[]).map(({ data }) => data as JsonObject);
};

describe('POST /v1/shipments/{id}/exceptions', () => {
  it('opens an exception by hand', async () => {
    const milestone = { code: 'gated_in', occurred_at: '2026-01-04T10:00:00Z', container_number: CONTAINER };
    const recorded = await post(`${shipment}/milestones`, milestone);
    const said = {
      severity: 'high',
      title: 'Door bent',
      detail: 'The left door does not close.',
      milestone_id: String(recorded.body['id']),
      reason_code: 'equipment_shortage',
      assignee: 'kim@example.com',
    };
    const answer = await open({ ...said, type: 'Container_Damage', container_number: 'csqu 305438-3' });
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        ...said,
        id: expect.stringMatching(/^exc_[a-z2-7]{42}$/),
        shipment_id: shipment.slice('/v1/shipments/'.length),
        container_number: CONTAINER,
        type: 'container_damage',
        status: 'open',
        detected_by: 'manual',
        rule: null,
        metrics: {},
        resolution: null,
        opened_at: expect.stringMatching(/Z$/),
        acknowledged_at: null,
        resolved_at: null,
        warnings: [],
      },
    ]);
    expect(answer.headers.get('location')).toBe(`https://api.example${pathOf(answer)}`);
    const { body, headers } = await get(shipment);
    expect([body['open_exceptions_count'], headers.get('etag')]).toEqual([1, answer.headers.get('etag')]);
    expect((await events('exception.opened')).map(({ exception }) => exception)).toEqual([withoutWarnings(answer)]);
  });

  it('requires only a type', async () => {
    const answer = await open({ type: 'demurrage_risk' });
    const empty = { detail: null, container_number: null, milestone_id: null, reason_code: null, assignee: null };
    expect([answer.status, answer.body]).toEqual([
      201,
      expect.objectContaining({ ...empty, title: 'Demurrage risk', severity: 'medium', rule: null }),
    ]);
  });

  it('answers every field that the description of the resource names, and no other', async () => {
    const answer = await open({ type: 'other' });
    const document = (await get('/openapi.json')).body;
    const { schemas } = document['components'] as { schemas: Record<string, { properties: JsonObject }> };
    expect(Object.keys(answer.body).sort()).toEqual(Object.keys(schemas['ExceptionWritten']?.properties ?? {}).sort());
    const { body } = await get(pathOf(answer));
    expect(Object.keys(body).sort()).toEqual(Object.keys(schemas['ShipmentException']?.properties ?? {}).sort());
  });

  it.each<[string, JsonObject, string[]]>([
    ['nothing', {}, ['type required']],
    ['null', { type: null }, ['type required']],
    ['no type of exception', { type: 'rumour' }, ['type invalid_value']],
    [
      'what is wrong all over',
      {
        type: 5,
        severity: 'huge',
        title: '',
        detail: 'x'.repeat(1_001),
        container_number: 7,
        milestone_id: 'exc_1',
        reason_code: 'because',
        assignee: ['Kim'],
      },
      [
        'assignee invalid_type',
        'container_number invalid_type',
        'detail too_long',
        'milestone_id invalid_value',
        'reason_code invalid_value',
        'severity invalid_value',
        'title invalid_value',
        'type invalid_type',
      ],
    ],
    ['no container', { type: 'lost', container_number: 'X' }, ['container_number unknown_container']],
    [
      'what the shipment does not have',
      { type: 'lost', container_number: 'MSKU0000006', milestone_id: 'mst_x' },
      ['container_number unknown_container', 'milestone_id unknown_milestone'],
    ],
  ])('refuses %s, and names the invalid fields', async (_, json, named) => {
    const head = await api.head();
    const answer = await open(json);
    expect([answer.status, faults(answer)]).toEqual([400, named]);
    expect(await api.head()).toBe(head);
  });

  it('refuses a milestone of another shipment', async () => {
    const other = await post(`${await create()}/milestones`, { code: 'gated_in', occurred_at: '2026-01-04T10:00:00Z' });
    const answer = await open({ type: 'lost', milestone_id: String(other.body['id']) });
    expect([answer.status, faults(answer)]).toEqual([400, ['milestone_id unknown_milestone']]);
  });

  it('warns about unknown fields, and refuses them under strict handling', async () => {
    const json = { type: 'other', status: 'resolved', colour: 'red' };
    const strict = await open(json, { headers: { prefer: 'handling=strict' } });
    expect([strict.status, faults(strict)]).toEqual([400, ['colour unknown_field', 'status read_only_field']]);
    const answer = await open(json);
    expect([answer.status, answer.body['status']]).toEqual([201, 'open']);
    expect((answer.body['warnings'] as JsonObject[]).map(({ code, param }) => [code, param])).toEqual([
      ['read_only_field', 'status'],
      ['unknown_field', 'colour'],
    ]);
  });

  it('returns 200 with the open exception, and writes nothing', async () => {
    const first = await open({ type: 'shortage', title: 'Two short' });
    await acknowledge(first, { assignee: 'Kim' });
    const head = await api.head();
    const again = await open({ type: 'shortage', title: 'Three short', severity: 'critical' });
    expect([again.status, withoutWarnings(again)]).toEqual([200, (await get(pathOf(first))).body]);
    expect([again.headers.get('location'), await api.head()]).toEqual([null, head]);
    expect((await open({ type: 'shortage', container_number: CONTAINER })).status).toBe(201);
  });

  it('opens one exception for concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => open({ type: 'lost', title: `Lost ${n}` })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(19);
    expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1);
    expect(await countOf()).toBe(1);
  });

  it('warns on a cancelled shipment', async () => {
    await post(`${shipment}/cancel`, {});
    const answer = await open({ type: 'cargo_damage' });
    expect([answer.status, (answer.body['warnings'] as JsonObject[]).map(({ code }) => code)]).toEqual([
      201,
      ['shipment_cancelled'],
    ]);
  });
});

describe('POST /v1/exceptions/{id}/acknowledge', () => {
  it('sets the assignee, and a repeat reassigns', async () => {
    const opened = await open({ type: 'freight_hold' });
    const first = await acknowledge(opened, { assignee: 'Kim' });
    expect([first.status, first.body]).toEqual([
      200,
      { ...opened.body, status: 'acknowledged', assignee: 'Kim', acknowledged_at: expect.stringMatching(/Z$/) },
    ]);
    expect(first.headers.get('etag')).toBe((await get(shipment)).headers.get('etag'));
    const handed = await acknowledge(opened, { assignee: 'Sam' });
    expect([handed.status, handed.body]).toEqual([200, { ...first.body, assignee: 'Sam' }]);
    expect((await acknowledge(opened, {})).body).toEqual(handed.body);
    expect((await acknowledge(opened, { assignee: null })).body).toEqual({ ...first.body, assignee: null });
    expect(await countOf()).toBe(1);
  });

  it('a repeat changes nothing, but a note is recorded in the history', async () => {
    const opened = await open({ type: 'freight_hold' });
    await acknowledge(opened, { assignee: 'Kim', note: 'Broker called.' });
    const head = await api.head();
    expect((await acknowledge(opened, { assignee: 'Kim' })).status).toBe(200);
    expect(await api.head()).toBe(head);
    expect((await acknowledge(opened, { note: 'Still waiting.' })).status).toBe(200);
    const history = (await get(`${shipment}/history`)).body['data'] as unknown as HistoryEntry[];
    const notes = history.filter(({ type }) => type === 'exception.updated').map(({ changes }) => changes['note']);
    expect(notes).toEqual([
      { from: null, to: 'Still waiting.' },
      { from: null, to: 'Broker called.' },
    ]);
    expect((await events('exception.updated')).map(({ exception }) => exception)).toMatchObject([
      { status: 'acknowledged', assignee: 'Kim' },
      { status: 'acknowledged', assignee: 'Kim' },
    ]);
  });

  it('returns 409 for a resolved exception', async () => {
    const opened = await open({ type: 'freight_hold' });
    await resolve(opened, {});
    const head = await api.head();
    expect(code(await acknowledge(opened, { note: 'Late.' }))).toEqual([409, 'exception_resolved']);
    expect(await api.head()).toBe(head);
  });

  it('names the invalid fields', async () => {
    const opened = await open({ type: 'freight_hold' });
    const answer = await acknowledge(opened, { assignee: ' ', note: 5 });
    expect([answer.status, faults(answer)]).toEqual([400, ['assignee invalid_value', 'note invalid_type']]);
  });
});

describe('POST /v1/exceptions/{id}/resolve', () => {
  it('stores the code and the person', async () => {
    const opened = await open({ type: 'seal_broken' });
    const answer = await resolve(opened, { code: 'Waived', note: 'New seal.' });
    const by = { type: 'service_account', id: expect.stringMatching(/^sva_/) };
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        ...opened.body,
        status: 'resolved',
        resolution: { code: 'waived', note: 'New seal.', by },
        resolved_at: expect.stringMatching(/Z$/),
      },
    ]);
    expect(await countOf()).toBe(0);
    expect((await events('exception.resolved')).map(({ exception }) => exception)).toEqual([withoutWarnings(answer)]);
    expect((await open({ type: 'seal_broken' })).status).toBe(201);
  });

  it('defaults to fixed, and is final', async () => {
    const opened = await open({ type: 'seal_broken' });
    const first = await resolve(opened, {});
    expect(first.body).toMatchObject({ resolution: { code: 'fixed', note: null } });
    const head = await api.head();
    const again = await resolve(opened, { code: 'false_positive', note: 'No.' });
    expect([again.status, again.body, await api.head()]).toEqual([200, first.body, head]);
  });

  it.each(['auto_cleared', 'shipment_cancelled', 'gone', 5])('refuses the code %s', async (wrong) => {
    const answer = await resolve(await open({ type: 'seal_broken' }), { code: wrong });
    expect([answer.status, (answer.body['error'] as JsonObject)['param']]).toEqual([400, 'code']);
    expect(await countOf()).toBe(1);
  });

  it('prevents the rule from opening the exception until its condition ends', async () => {
    const hold = { code: 'customs_hold', occurred_at: '2026-01-04T10:00:00Z' };
    await post(`${shipment}/milestones`, hold);
    const found = await open({ type: 'customs_hold' });
    expect([found.status, found.body['rule']]).toEqual([200, 'customs_hold']);
    await resolve(found, { code: 'false_positive' });
    await post(`${shipment}/milestones`, { ...hold, occurred_at: '2026-01-05T10:00:00Z' });
    expect(await countOf()).toBe(0);
  });
});

describe('an exception', () => {
  it('is returned with the ETag of its shipment', async () => {
    const opened = await open({ type: 'other' });
    const answer = await get(pathOf(opened));
    expect([answer.status, answer.body]).toEqual([200, withoutWarnings(opened)]);
    const etag = String((await get(shipment)).headers.get('etag'));
    expect(answer.headers.get('etag')).toBe(etag);
    expect((await get(pathOf(opened), operator, { 'if-none-match': etag })).status).toBe(304);
    await resolve(opened, {});
    expect((await get(pathOf(opened), operator, { 'if-none-match': etag })).body['status']).toBe('resolved');
  });

  it('is not found if it does not exist or belongs to another workspace', async () => {
    const opened = await open({ type: 'other' });
    const own = pathOf(opened);
    const strangers = [await api.key('admin', 'test'), await api.key('admin', 'live', 'other')];
    const head = await api.head();
    const nobody = [`${own.slice(0, -1)}${own.endsWith('a') ? 'b' : 'a'}`, own.slice(0, -1), '/v1/exceptions/exc_x'];
    for (const [path, keys] of [[own, strangers] as const, ...nobody.map((path) => [path, [operator]] as const)]) {
      for (const key of keys) {
        expect(code(await get(path, key))).toEqual([404, 'not_found']);
        for (const action of ['acknowledge', 'resolve']) {
          expect(code(await post(`${path}/${action}`, {}, { key }))).toEqual([404, 'not_found']);
        }
      }
    }
    for (const key of strangers) expect(code(await open({ type: 'lost' }, { key }))).toEqual([404, 'not_found']);
    expect(await api.head()).toBe(head);
    expect((await get(own)).body['status']).toBe('open');
  });

  it('is written by operators, and read by all roles roles', async () => {
    const opened = await open({ type: 'other' });
    const head = await api.head();
    for (const key of [await api.key('viewer'), await api.key('feed'), await api.key('developer')]) {
      for (const answer of [
        await open({ type: 'lost' }, { key }),
        await acknowledge(opened, {}, { key }),
        await resolve(opened, {}, { key }),
      ]) {
        expect(code(answer)).toEqual([403, 'permission_denied']);
        expect(answer.text).toContain('exceptions:write');
      }
      expect((await get(pathOf(opened), key)).status).toBe(200);
    }
    expect(await api.head()).toBe(head);
  });

  it.each([
    ['acknowledge', { assignee: 'Kim' }],
    ['resolve', {}],
  ])('%s applies If-Match', async (action, json) => {
    const opened = await open({ type: 'other' });
    const before = String(opened.headers.get('etag'));
    const { headers } = await post(`${shipment}/milestones`, { code: 'gated_in', occurred_at: '2026-01-04T10:00:00Z' });
    const now = String(headers.get('etag'));
    const act = (tags: string) => post(`${pathOf(opened)}/${action}`, json, { headers: { 'if-match': tags } });
    const refused = await act(before);
    expect([...code(refused), refused.headers.get('etag')]).toEqual([412, 'precondition_failed', now]);
    expect((await get(pathOf(opened))).body).toEqual(withoutWarnings(opened));
    const done = await act(now);
    expect([done.status, Number(done.headers.get('etag')?.slice(1, -1))]).toEqual([200, Number(now.slice(1, -1)) + 1]);
  });

  it('is opened, acknowledged and resolved once with an Idempotency-Key, and answered the same', async () => {
    const twice = async (path: string, json: unknown): Promise<ApiResponse> => {
      const headers = { 'idempotency-key': randomUUID() };
      const first = await post(path, json, { headers });
      const head = await api.head();
      const again = await post(path, json, { headers });
      expect([again.status, again.text, again.headers.get('location')]).toEqual([
        first.status,
        first.text,
        first.headers.get('location'),
      ]);
      expect([again.headers.get('idempotency-replayed'), await api.head()]).toEqual(['true', head]);
      return first;
    };
    const opened = await twice(`${shipment}/exceptions`, { type: 'other' });
    expect(opened.status).toBe(201);
    await twice(`${pathOf(opened)}/acknowledge`, { note: 'Once.' });
    await twice(`${pathOf(opened)}/resolve`, { code: 'duplicate' });
    expect(await events('exception.updated')).toHaveLength(1);
  });
});

describe('while projections are down', () => {
  let still: Api;
  beforeAll(async () => {
    still = await startApi({ project: false, settings: { readYourWritesWaitMs: 50 } });
  });
  afterAll(() => still.stop());

  it('an exception is answered to whoever wrote it', async () => {
    const key = await still.key('operator');
    const call = (method: string, path: string, json?: unknown, headers = {}) =>
      still.call(method, path, { key, headers, ...(json !== undefined && { json }) });
    const created = await call('POST', '/v1/shipments', { external_id: 'A' });
    const opened = await call('POST', `/v1/shipments/${String(created.body['id'])}/exceptions`, { type: 'lost' });
    const path = `/v1/exceptions/${String(opened.body['id'])}`;
    expect((await call('GET', path)).body).toEqual(withoutWarnings(opened));
    const done = await call('POST', `${path}/resolve`, {});
    const token = String(done.headers.get('consistency-token'));
    expect((await call('GET', path, undefined, { 'consistency-token': token })).body['status']).toBe('resolved');
    const forged = await call('GET', path, undefined, { 'consistency-token': 'x' });
    expect(code(forged)).toEqual([400, 'invalid_consistency_token']);
  });
});

import type { JsonObject } from '@tracking/contracts';
import { startApi } from './start-api.ts';
import type { Api, ApiTestRequest } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let operator: string;
let feed: string;
let path: string;

beforeAll(async () => {
  api = await startApi();
  operator = await api.key('operator');
  feed = await api.key('feed');
});
afterAll(() => api.stop());

beforeEach(async () => {
  const json = { mode: 'ocean', house_bill: 'HB', container_numbers: ['CSQU3054383'], eta: '2026-02-01T00:00:00Z' };
  const { body } = await api.call('POST', '/v1/shipments', { key: operator, json });
  path = `/v1/shipments/${String(body['id'])}`;
});

const sent = { code: 'vessel_departed', occurred_at: '2026-01-05T10:00:00Z', source: 'carrier', external_id: 'EV-1' };
/** Every request sends the latest consistency token, so that it includes all earlier writes of any caller. */
const call = async (method: string, url: string, { key = operator, headers = {}, json }: ApiTestRequest = {}) => {
  const known = token === '' ? {} : { 'consistency-token': token };
  const answer = await api.call(method, url, {
    key,
    headers: { ...known, ...headers },
    ...(json !== undefined && { json }),
  });
  token = answer.headers.get('consistency-token') ?? token;
  return answer;
};
let token = '';
const record = (json: object = sent, key = feed): Promise<ApiResponse> =>
  call('POST', `${path}/milestones`, { key, json });
const at = ({ body }: ApiResponse): string => `${path}/milestones/${String(body['id'])}`;
const patch = (of: ApiResponse, json: unknown, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  call('PATCH', at(of), { json, headers });
const retract = (of: ApiResponse, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  call('DELETE', at(of), { headers });
const get = (url: string): Promise<ApiResponse> => call('GET', url);
const shipment = async (): Promise<JsonObject> => (await get(path)).body;
const ids = ({ body }: ApiResponse): unknown[] => (body['data'] as JsonObject[]).map(({ id }) => id);
const code = ({ body }: ApiResponse): unknown => (body['error'] as JsonObject | undefined)?.['code'];
const events = async (type?: string): Promise<JsonObject[]> => {
  const found = await get(
    `/v1/events?shipment_id=${path.slice('/v1/shipments/'.length)}${type ? `&type=${type}` : ''}`,
  );
  return found.body['data'] as JsonObject[];
};
const overridden = [{ code: 'overridden_by_user', param: null, message: expect.any(String) }];

describe('PATCH /v1/shipments/{id}/milestones/{milestone_id}', () => {
  it('corrects the given fields, and the derived values of the shipment', async () => {
    const first = await record();
    const answer = await patch(first, {
      occurred_at: '2026-01-06T10:00:00+02:00',
      location: 'cn sha',
      note: 'by phone',
    });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        ...first.body,
        occurred_at: '2026-01-06T08:00:00.000Z',
        location: 'CNSHA',
        timezone: 'Asia/Shanghai',
        note: 'by phone',
        reported_at: expect.any(String),
        revision: 2,
        warnings: [],
      },
    ]);
    expect(answer.headers.get('etag')).toBe(`"${String((await shipment())['version'])}"`);
    expect(await shipment()).toMatchObject({ atd: '2026-01-06T08:00:00.000Z' });
    const [updated] = (await events('shipment.updated')).slice(-1);
    expect(updated?.['data']).toMatchObject({
      changes: { milestone: { from: { revision: 1 }, to: { revision: 2, note: 'by phone' } } },
    });
  });

  it('clears fields with null, and the classifier becomes actual', async () => {
    const first = await record({ ...sent, classifier: 'estimated', note: 'x', container_number: 'CSQU3054383' });
    const answer = await patch(first, { note: null, container_number: null, classifier: null });
    expect(answer.body).toMatchObject({ note: null, container_number: null, classifier: 'actual' });
    expect(await events('milestone.recorded')).toHaveLength(1);
  });

  it('changes and announces nothing if nothing differs', async () => {
    const first = await record();
    const head = await api.head();
    const answer = await patch(first, { occurred_at: '2026-01-05T11:00:00+01:00', code: 'VESSEL_DEPARTED' });
    expect([answer.status, answer.body]).toEqual([200, first.body]);
    expect((await patch(first, {})).status).toBe(200);
    expect(await api.head()).toBe(head);
  });

  it('names every faulty field', async () => {
    const first = await record();
    const answer = await patch(first, {
      code: null,
      occurred_at: 'yesterday',
      classifier: 'guessed',
      container_number: 'X',
      note: '',
      timezone: 'Mars/Olympus',
    });
    expect(answer.status).toBe(400);
    const { details } = answer.body['error'] as { details: { param: string; code: string }[] };
    expect(details.map((each) => `${each.param} ${each.code}`).sort()).toEqual([
      'classifier invalid_value',
      'code required',
      'container_number invalid_container_number',
      'note invalid_value',
      'occurred_at invalid_timestamp',
      'timezone invalid_value',
    ]);
    const elsewhere = await patch(first, { container_number: 'MSKU0000006' });
    expect(elsewhere.body['error']).toMatchObject({
      param: 'container_number',
      details: [{ code: 'unknown_container' }],
    });
    const soon = new Date(Date.now() + 16 * 60_000).toISOString();
    const future = await patch(first, { occurred_at: soon });
    expect(future.body['error']).toMatchObject({ param: 'occurred_at', details: [{ code: 'timestamp_in_future' }] });
    expect((await patch(first, { occurred_at: soon, classifier: 'estimated' })).status).toBe(200);
    expect((await patch(first, [])).status).toBe(400);
  });

  it('ignores read-only fields with a warning', async () => {
    const first = await record();
    const answer = await patch(first, { source: 'manual', revision: 7, colour: 'red' });
    expect(answer.body).toMatchObject({
      source: 'carrier',
      revision: 1,
      warnings: [
        { code: 'read_only_field', param: 'source' },
        { code: 'read_only_field', param: 'revision' },
        { code: 'unknown_field', param: 'colour' },
      ],
    });
    const strict = await patch(first, { source: 'manual' }, { prefer: 'handling=strict' });
    expect([strict.status, (strict.body['error'] as JsonObject)['param']]).toEqual([400, 'source']);
  });

  it('refuses a retracted milestone, and the external_id of another one', async () => {
    const [first, second] = [await record(), await record({ ...sent, external_id: 'EV-2', code: 'gated_in' })];
    const taken = await patch(second, { external_id: 'EV-1' });
    expect([taken.status, code(taken)]).toEqual([409, 'milestone_exists']);
    await retract(first);
    const late = await patch(first, { note: 'x' });
    expect([late.status, code(late)]).toEqual([409, 'milestone_retracted']);
    expect((await patch(second, { external_id: 'EV-1' })).status).toBe(200);
  });

  it('is kept when the feed repeats its data, but not when the data is new', async () => {
    const first = await record();
    const corrected = await patch(first, { occurred_at: '2026-01-06T00:00:00Z', location: 'CNSHA' });
    const head = await api.head();
    for (let poll = 0; poll < 3; poll += 1) {
      const again = await record();
      expect([again.status, again.body]).toEqual([200, { ...corrected.body, warnings: overridden }]);
    }
    expect(await api.head()).toBe(head);
    const news = await record({ ...sent, occurred_at: '2026-01-07T00:00:00Z' });
    expect([news.status, news.body]).toMatchObject([
      200,
      { occurred_at: '2026-01-07T00:00:00.000Z', location: 'CNSHA', revision: 3, warnings: overridden },
    ]);
  });
});

describe('DELETE /v1/shipments/{id}/milestones/{milestone_id}', () => {
  it('retracts the milestone once', async () => {
    const first = await record();
    expect((await shipment())['status']).toBe('in_transit');
    const answer = await retract(first);
    expect([answer.status, answer.body]).toMatchObject([200, { retracted_at: expect.any(String), revision: 2 }]);
    expect(await shipment()).toMatchObject({ status: 'pending', atd: null, last_milestone: null });
    const head = await api.head();
    const again = await retract(first);
    expect([again.status, again.body]).toEqual([200, answer.body]);
    expect(await api.head()).toBe(head);
    const told = (await events()).slice(-2);
    expect(told.map(({ type }) => type)).toEqual(['milestone.retracted', 'shipment.updated']);
    expect(told.map(({ data }) => data)).toMatchObject([
      { milestone: { id: first.body['id'], retracted_at: answer.body['retracted_at'] } },
      {
        changes: {
          milestone: { from: { id: first.body['id'], retracted_at: null }, to: null },
          status: { to: 'pending' },
        },
      },
    ]);
  });

  it('lists the retracted milestone only on request', async () => {
    const [first, second] = [await record(), await record({ ...sent, external_id: 'EV-2', code: 'gated_in' })];
    await retract(first);
    expect(ids(await get(`${path}/milestones`))).toEqual([second.body['id']]);
    expect(ids(await get(`${path}/milestones?include_retracted=true`))).toEqual([second.body['id'], first.body['id']]);
    const paged = await get(`${path}/milestones?include_retracted=true&limit=1`);
    const cursor = String(paged.body['next_cursor']);
    expect(ids(await get(`${path}/milestones?include_retracted=true&cursor=${cursor}`))).toEqual([first.body['id']]);
    expect((await get(`${path}/milestones?cursor=${cursor}`)).status).toBe(400);
  });

  it('a feed that sends it again changes nothing; with another time it counts, and a person makes a new one', async () => {
    const first = await record();
    const { body } = await retract(first);
    const head = await api.head();
    const again = await record();
    expect([again.status, again.body]).toEqual([200, { ...body, warnings: overridden }]);
    expect(await api.head()).toBe(head);
    const news = await record({ ...sent, occurred_at: '2026-01-09T00:00:00Z' });
    expect(news.status).toBe(201);
    await retract(news);
    const byHand = await record({ ...sent, source: 'manual' }, operator);
    expect([byHand.status, byHand.body['warnings']]).toEqual([201, []]);
    const twice = await record({ ...sent, source: 'manual' }, operator);
    expect([twice.status, twice.body['id']]).toEqual([200, byHand.body['id']]);
  });

  it('of an estimate restores the previous one', async () => {
    const estimate = { ...sent, code: 'vessel_arrived', classifier: 'estimated', external_id: null };
    const older = await record({ ...estimate, occurred_at: '2026-02-05T00:00:00Z' });
    const newer = await record({ ...estimate, occurred_at: '2026-02-08T00:00:00Z' });
    expect((await shipment())['eta']).toBe('2026-02-08T00:00:00.000Z');
    await retract(newer);
    expect((await shipment())['eta']).toBe('2026-02-05T00:00:00.000Z');
    expect(ids(await get(`${path}/milestones?classifier=estimated`))).toEqual([older.body['id']]);
    await retract(older);
    expect((await shipment())['eta']).toBe('2026-02-01T00:00:00.000Z');
  });

  it('of a cancellation reopens the shipment', async () => {
    const cancelled = await record({ code: 'booking_cancelled', occurred_at: '2026-01-02T00:00:00Z' }, operator);
    const reopen = await api.call('POST', `${path}/reopen`, { key: operator });
    expect([(await shipment())['status'], code(reopen)]).toEqual(['cancelled', 'cancelled_by_milestone']);
    await retract(cancelled);
    expect((await shipment())['status']).toBe('pending');
  });
});

describe('GET /v1/shipments/{id}/milestones/{milestone_id}', () => {
  it('answers one, whatever became of it, with the ETag of its shipment', async () => {
    const first = await record();
    const { warnings: _, ...recorded } = first.body;
    const shown = await get(at(first));
    expect([shown.status, shown.body, shown.headers.get('etag')]).toEqual([200, recorded, first.headers.get('etag')]);
    const unchanged = await call('GET', at(first), {
      headers: { 'if-none-match': String(first.headers.get('etag')) },
    });
    expect(unchanged.status).toBe(304);
    const retracted = await retract(first);
    expect((await get(at(first))).body).toMatchObject({ retracted_at: retracted.body['retracted_at'] });
  });
});

describe('whoever names a milestone', () => {
  it('finds it only in its own shipment, workspace and environment', async () => {
    const first = await record();
    const other = await api.call('POST', '/v1/shipments', { key: operator, json: { house_bill: 'OTHER' } });
    const id = String(first.body['id']);
    const asked: [string, string][] = [
      [operator, `/v1/shipments/${String(other.body['id'])}/milestones/${id}`],
      [operator, `${path}/milestones/mst_x`],
      [await api.key('operator', 'test'), at(first)],
      [await api.key('operator', 'live', 'other'), at(first)],
    ];
    for (const [key, url] of asked) {
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const json = method === 'PATCH' ? { json: { note: 'x' } } : {};
        // A condition is not looked at if there is no such milestone.
        for (const headers of method === 'GET' ? [{}] : [{}, { 'if-match': '"999"' }]) {
          const answer = await api.call(method, url, { key, headers, ...json });
          expect([answer.status, code(answer)]).toEqual([404, 'not_found']);
        }
      }
    }
    expect((await get(at(first))).body).toMatchObject({ note: null, retracted_at: null });
  });

  it('writes on the version of the shipment that If-Match names, or not at all', async () => {
    const first = await record();
    const stale = String(first.headers.get('etag'));
    const now = String((await record({ ...sent, external_id: 'EV-2', code: 'gated_in' })).headers.get('etag'));
    const head = await api.head();
    for (const answer of [
      await patch(first, { note: 'x' }, { 'if-match': stale }),
      await retract(first, { 'if-match': stale }),
    ]) {
      expect([answer.status, code(answer), answer.headers.get('etag')]).toEqual([412, 'precondition_failed', now]);
    }
    expect(await api.head()).toBe(head);
    const corrected = await patch(first, { note: 'x' }, { 'if-match': now });
    expect(corrected.status).toBe(200);
    const retracted = await retract(first, { 'if-match': String(corrected.headers.get('etag')) });
    expect([retracted.status, retracted.headers.get('etag')]).toEqual([200, (await get(path)).headers.get('etag')]);
  });
});

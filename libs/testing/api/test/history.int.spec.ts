import type { EtaChange, HistoryEntry, JsonObject, ShipmentExplanation } from '@tracking/contracts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let feed: string;
let path: string;
let nameLookUps: string[];

const START = Date.parse('2026-11-20T00:00:00.000Z');
let now = START;

beforeAll(async () => {
  api = await startApi({
    override: ({ identity }) => ({
      // Each write gets a different time.
      clock: () => new Date((now += 10)),
      identity: new Proxy(identity, {
        get(of, name) {
          if (name !== 'namesOf') {
            const member = Reflect.get(of, name, of) as unknown;
            return typeof member === 'function' ? (member.bind(of) as unknown) : member;
          }
          return (actors: readonly { readonly id: string }[]) => {
            nameLookUps.push(...actors.map(({ id }) => id));
            return of.namesOf(actors as Parameters<typeof of.namesOf>[0]);
          };
        },
      }),
    }),
  });
  feed = await api.key('feed');
});
afterAll(() => api.stop());

beforeEach(async () => {
  nameLookUps = [];
  const json = {
    mode: 'ocean',
    external_id: `PO-${now}`,
    origin_port: 'CNSHA',
    destination_port: 'USLAX',
    eta: '2026-12-01T00:00:00Z',
  };
  const { body } = await api.call('POST', '/v1/shipments', { key: feed, json });
  path = `/v1/shipments/${String(body['id'])}`;
});

const get = (rest = '', key = feed): Promise<ApiResponse> => api.call('GET', `${path}${rest}`, { key });
const post = async (json: JsonObject): Promise<JsonObject> =>
  (await api.call('POST', `${path}/milestones`, { key: feed, json })).body;
const estimate = (occurred_at: string, rest: JsonObject = {}) =>
  post({ code: 'vessel_arrived', classifier: 'estimated', source: 'carrier', occurred_at, ...rest });
const data = <T>(answer: ApiResponse) => answer.body['data'] as unknown as T[];

/** Returns every page of a list. */
async function pages<T>(list: string, limit: number): Promise<T[][]> {
  const all: T[][] = [];
  for (let cursor = ''; ;) {
    const { body, status } = await get(`${list}${list.includes('?') ? '&' : '?'}limit=${limit}${cursor}`);
    expect(status).toBe(200);
    all.push(body['data'] as unknown as T[]);
    if (body['has_more'] !== true) return all;
    cursor = `&cursor=${encodeURIComponent(String(body['next_cursor']))}`;
  }
}

describe('GET /v1/shipments/{id}/history', () => {
  it('lists the changes with their actors, newest first, with current names', async () => {
    const departed = await post({ code: 'vessel_departed', occurred_at: '2026-11-05T00:00:00Z' });
    await api.call('POST', `${path}/cancel`, { key: feed });
    const entries = data<HistoryEntry>(await get('/history'));
    expect(entries.map(({ type }) => type)).toEqual([
      'shipment.updated',
      'shipment.cancelled',
      'shipment.updated',
      'milestone.recorded',
      'shipment.created',
    ]);
    expect(entries.map(({ version }) => version)).toEqual([5, 4, 3, 2, 1]);
    expect(entries[0]?.changes).toMatchObject({ status: { from: 'in_transit', to: 'cancelled' } });
    const { warnings: _, ...milestone } = departed;
    expect(entries[3]?.changes).toEqual({ milestone: { from: null, to: milestone } });
    expect(entries[4]?.changes).toMatchObject({ mode: { from: null, to: 'ocean' } });
    for (const { actor } of entries) {
      expect(actor).toEqual({ type: 'service_account', id: expect.stringMatching(/^sva_/), name: 'feed' });
    }
    expect(nameLookUps.length).toBeLessThanOrEqual(1);
    const event = await api.call('GET', `/v1/events/${String(entries[2]?.id)}`, { key: feed });
    expect(event.body).toMatchObject({ type: 'shipment.updated', data: { changes: entries[2]?.changes } });
  });

  it('contains corrections, retractions and exceptions', async () => {
    const hold = await post({ code: 'customs_hold', occurred_at: '2026-11-05T00:00:00Z' });
    const milestone = `${path}/milestones/${String(hold['id'])}`;
    await api.call('PATCH', milestone, { key: feed, json: { note: 'by phone' } });
    await api.call('DELETE', milestone, { key: feed });
    const entries = data<HistoryEntry>(await get('/history'))
      .reverse()
      .slice(1);
    expect(entries.map(({ type }) => type)).toEqual([
      'milestone.recorded',
      'exception.opened',
      'milestone.corrected',
      'milestone.retracted',
      'exception.resolved',
    ]);
    expect(entries[2]?.changes).toMatchObject({ milestone: { from: { note: null }, to: { note: 'by phone' } } });
    // The `shipment.updated` event of its write announces the first entry; a separate event announces the second.
    const events = await Promise.all(
      entries.slice(2, 4).map(({ id }) => api.call('GET', `/v1/events/${id}`, { key: feed })),
    );
    expect(events.map(({ status }) => status)).toEqual([404, 200]);
    expect(entries[3]?.changes).toMatchObject({ milestone: { from: { note: 'by phone', revision: 2 }, to: null } });
    expect(entries[4]?.changes).toMatchObject({
      exception: { from: { status: 'open', resolution: null }, to: { status: 'resolved' } },
    });
  });

  it('has pages that neither skip nor repeat entries', async () => {
    for (let day = 1; day <= 9; day++)
      await post({ code: 'in_transit_checkpoint', occurred_at: `2026-11-0${day}T00:00:00Z` });
    const whole = data<HistoryEntry>(await get('/history?limit=200'));
    expect(whole.length).toBeGreaterThan(10);
    for (const limit of [1, 4]) expect((await pages<HistoryEntry>('/history', limit)).flat()).toEqual(whole);
  });
});

describe('GET /v1/shipments/{id}/eta_history', () => {
  it('has every change by upsert, PATCH, estimate and retraction', async () => {
    const first = await estimate('2026-12-03T06:00:00Z', { reason_code: 'port_congestion', location: 'USLAX' });
    const second = await estimate('2026-12-02T00:00:00Z', { location: 'USLAX' });
    await api.call('DELETE', `${path}/milestones/${String(second['id'])}`, { key: feed });
    await api.call('PATCH', path, { key: feed, json: { eta: '2026-12-05T00:00:00Z' } });
    await api.call('PATCH', path, { key: feed, json: { eta: null } });
    const changes = data<EtaChange>(await get('/eta_history'));
    const common = { eta_precision: 'time', reported_at: expect.stringMatching(/^2026-11-20T/) as string };
    const byClient = { source: 'client', milestone_id: null, reason_code: null, ...common };
    const byFirst = { source: 'carrier', milestone_id: first['id'], reason_code: 'port_congestion', ...common };
    const eta = (day: string) => `2026-12-${day}.000Z`;
    expect(changes).toEqual([
      { eta: null, previous_eta: eta('05T00:00:00'), slip_hours: null, ...byClient },
      { eta: eta('05T00:00:00'), previous_eta: eta('03T06:00:00'), slip_hours: 42, ...byClient },
      { eta: eta('03T06:00:00'), previous_eta: eta('02T00:00:00'), slip_hours: 30, ...byFirst },
      {
        eta: eta('02T00:00:00'),
        previous_eta: eta('03T06:00:00'),
        slip_hours: -30,
        ...common,
        source: 'carrier',
        milestone_id: second['id'],
        reason_code: null,
      },
      { eta: eta('03T06:00:00'), previous_eta: eta('01T00:00:00'), slip_hours: 54, ...byFirst },
      { eta: eta('01T00:00:00'), previous_eta: null, slip_hours: null, ...byClient },
    ]);
    expect((await pages<EtaChange>('/eta_history', 2)).flat()).toEqual(changes);
  });
});

describe('GET /v1/shipments/{id}/explanation', () => {
  it('names the rule of each milestone and the cause of each value', async () => {
    const arrived = await post({ code: 'vessel_arrived', occurred_at: '2026-11-04T00:00:00Z' });
    const departed = await post({ code: 'vessel_departed', occurred_at: '2026-11-05T00:00:00Z' });
    const expected = await estimate('2026-12-03T00:00:00Z');
    const answer = await get('/explanation');
    const explanation = answer.body as unknown as ShipmentExplanation;
    expect(explanation.status).toEqual({ value: 'in_transit', rule: 'highest_rank', milestone_id: arrived['id'] });
    expect(explanation.eta).toMatchObject({ rule: 'newest_estimate', milestone_id: expected['id'] });
    expect(explanation.milestones.map(({ milestone_id, result, rule }) => [milestone_id, result, rule])).toEqual([
      [arrived['id'], 'demoted', 'departed_again'],
      [departed['id'], 'counted', 'status_of_code'],
      [expected['id'], 'counted', 'newest_estimate'],
    ]);
    // Expected events depend on settings, which change without a new version of the shipment.
    expect(answer.headers.get('ETag')).toBeNull();
    const again = { key: feed, headers: { 'If-None-Match': `"${explanation.version}"` } };
    expect((await api.call('GET', `${path}/explanation`, again)).status).toBe(200);
  });
});

describe('?as_of=', () => {
  const ALL = 'classifier=all&include_superseded=true&include_retracted=true';

  it('returns the response of that time, byte for byte', async () => {
    const answered: { readonly at: string; readonly shipment: ApiResponse; readonly milestones: ApiResponse }[] = [];
    const remember = async () => {
      const shipment = await get();
      answered.push({ at: String(shipment.body['updated_at']), shipment, milestones: await get(`/milestones?${ALL}`) });
    };
    await remember();
    const departed = await post({ code: 'vessel_departed', occurred_at: '2026-11-05T00:00:00Z' });
    await remember();
    await estimate('2026-12-03T00:00:00Z');
    await remember();
    await estimate('2026-12-04T00:00:00Z');
    await remember();
    const milestone = `${path}/milestones/${String(departed['id'])}`;
    await api.call('PATCH', milestone, { key: feed, json: { occurred_at: '2026-11-06T00:00:00Z' } });
    await remember();
    await api.call('DELETE', milestone, { key: feed });
    await remember();
    await api.call('POST', `${path}/cancel`, { key: feed });
    await remember();
    for (const { at, shipment, milestones } of answered) {
      const then = await get(`?as_of=${at}`);
      expect([then.status, then.text]).toEqual([200, shipment.text]);
      expect(then.headers.get('ETag')).toBe(shipment.headers.get('ETag'));
      expect((await get(`/milestones?${ALL}&as_of=${at}`)).text).toBe(milestones.text);
    }
    expect(new Set(answered.map(({ shipment }) => shipment.text)).size).toBe(answered.length);
    const [first] = answered;
    const local = encodeURIComponent(`${String(first?.at).slice(0, -1)}+00:00`);
    expect((await get(`?as_of=${local}`)).text).toBe(first?.shipment.text);
  });

  it('returns the shipment before later milestones changed which reports and departures count', async () => {
    const answered: (readonly [at: string, shipment: string, milestones: string])[] = [];
    const record = async (json: JsonObject) => {
      await post(json);
      const shipment = await get();
      answered.push([String(shipment.body['updated_at']), shipment.text, (await get(`/milestones?${ALL}`)).text]);
      return [shipment.body['status'], shipment.body['atd'], shipment.body['ata']];
    };
    const inNovember = (day: number) => `2026-11-0${day}T00:00:00.000Z`;
    const [left, passed, arrived, later] = [inNovember(1), inNovember(4), inNovember(8), inNovember(9)];
    const carrier = { source: 'carrier' };
    const departure = { ...carrier, code: 'vessel_departed', location: 'CNSHA' };
    const arrival = { ...carrier, code: 'vessel_arrived', location: 'USLAX' };
    expect(await record({ ...departure, occurred_at: later })).toEqual(['in_transit', later, null]);
    expect(await record({ ...departure, occurred_at: left, source: 'edi' })).toEqual(['in_transit', left, null]);
    expect(await record({ ...arrival, location: 'SGSIN', occurred_at: passed })).toEqual(['in_transit', left, null]);
    const reports = { reported_at: '2026-11-09T12:00:00Z' };
    expect(await record({ ...arrival, ...reports, occurred_at: later })).toEqual(['arrived', left, later]);
    const newest = { reported_at: '2026-11-10T12:00:00Z' };
    expect(await record({ ...arrival, ...newest, occurred_at: arrived })).toEqual(['arrived', left, arrived]);
    for (const [at, shipment, milestones] of answered) {
      expect((await get(`?as_of=${at}`)).text).toBe(shipment);
      expect((await get(`/milestones?${ALL}&as_of=${at}`)).text).toBe(milestones);
    }
  });

  it('filters milestones and returns pages, with a cursor for that time only', async () => {
    for (let day = 1; day <= 5; day++)
      await post({ code: 'in_transit_checkpoint', occurred_at: `2026-11-0${day}T00:00:00Z` });
    await estimate('2026-12-03T00:00:00Z');
    const at = String((await get()).body['updated_at']);
    const whole = data<JsonObject>(await get('/milestones'));
    await post({ code: 'vessel_arrived', occurred_at: '2026-11-09T00:00:00Z' });
    expect((await pages<JsonObject>(`/milestones?as_of=${at}`, 2)).map((page) => page.length)).toEqual([2, 2, 1]);
    expect((await pages<JsonObject>(`/milestones?as_of=${at}`, 2)).flat()).toEqual(whole);
    expect(data(await get(`/milestones?as_of=${at}&classifier=estimated`))).toHaveLength(1);
    const { body } = await get(`/milestones?limit=2&as_of=${at}`);
    const cursor = `cursor=${encodeURIComponent(String(body['next_cursor']))}`;
    const later = new Date(Date.parse(at) + 1).toISOString();
    for (const other of ['', `&as_of=${later}`]) {
      const refused = await get(`/milestones?limit=2&${cursor}${other}`);
      expect([refused.status, refused.body['error']]).toEqual([
        400,
        expect.objectContaining({ code: 'invalid_cursor' }),
      ]);
    }
  });

  it('returns 404 before the creation, and 400 for a future or invalid time', async () => {
    for (const list of ['', '/milestones']) {
      expect((await get(`${list}?as_of=2026-01-01T00:00:00Z`)).status).toBe(404);
      for (const [time, code] of [
        ['2027-01-01T00:00:00Z', 'timestamp_in_future'],
        ['2026-11-20T00:00:00', 'invalid_timestamp'],
        ['yesterday', 'invalid_timestamp'],
      ] as const) {
        const { status, body } = await get(`${list}?as_of=${time}`);
        const details = [expect.objectContaining({ param: 'as_of', code })];
        expect([status, body['error']]).toEqual([400, expect.objectContaining({ details })]);
      }
    }
  });
});

it('other workspaces get 404', async () => {
  const at = String((await get()).body['updated_at']);
  const others = [await api.key('viewer', 'test'), await api.key('viewer', 'live', 'other')];
  const reads = ['/history', '/eta_history', '/explanation', `?as_of=${at}`, `/milestones?as_of=${at}`];
  for (const key of others)
    for (const read of reads) expect([read, (await get(read, key)).status]).toEqual([read, 404]);
  const unknown = { key: feed };
  for (const id of ['shp_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'nonsense']) {
    for (const read of reads) {
      expect((await api.call('GET', `/v1/shipments/${id}${read}`, unknown)).status).toBe(404);
    }
  }
});

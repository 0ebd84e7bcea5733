import { MILESTONE_CATALOG } from '@tracking/contracts';
import type { JsonObject } from '@tracking/contracts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
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
  const json = { mode: 'ocean', house_bill: 'HB', container_numbers: ['CSQU3054383', 'MSKU0000006'] };
  const { body } = await api.call('POST', '/v1/shipments', { key: operator, json });
  path = `/v1/shipments/${String(body['id'])}`;
});

const record = (json: JsonObject, key = operator): Promise<ApiResponse> =>
  api.call('POST', `${path}/milestones`, { key, json });
const list = (query = ''): Promise<ApiResponse> => api.call('GET', `${path}/milestones${query}`, { key: operator });
const codes = (answer: ApiResponse): unknown[] => (answer.body['data'] as JsonObject[]).map(({ code }) => code);

describe('superseded estimates of a feed', () => {
  it('are listed up to the newest 50 and the earliest, and known when they are sent again', async () => {
    const estimate = (minute: number) => ({
      shipment_id: path.slice('/v1/shipments/'.length),
      code: 'vessel_arrived',
      classifier: 'estimated',
      source: 'carrier',
      occurred_at: new Date(Date.UTC(2026, 1, 1, 0, minute)).toISOString(),
      reported_at: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
    });
    const post = async (minutes: readonly number[]) => {
      const milestones = minutes.map(estimate);
      const { body } = await api.call('POST', '/v1/milestones/bulk', { key: feed, json: { milestones } });
      return body['data'] as unknown as { status: number; milestone: { id: string; warnings: { code: string }[] } }[];
    };
    const minutes = Array.from({ length: 200 }, (_, minute) => minute);
    // The posts are not in the order of the reports.
    const posted = await post([
      ...minutes.filter((each) => each % 2 === 1),
      ...minutes.filter((each) => each % 2 === 0),
    ]);
    expect(new Set(posted.map(({ status }) => status))).toEqual(new Set([201]));
    const listed = await list('?classifier=estimated&include_superseded=true&limit=200');
    const kept = [0, ...minutes.slice(149)];
    const times = (listed.body['data'] as JsonObject[]).map(({ occurred_at }) => occurred_at);
    expect(times).toEqual(kept.map((minute) => estimate(minute).occurred_at));
    const before = await api.call('GET', path, { key: operator });
    expect(before.body).toMatchObject({ eta: estimate(199).occurred_at, original_eta: estimate(0).occurred_at });

    const again = await post(minutes);
    expect(new Set(again.map(({ status }) => status))).toEqual(new Set([200]));
    expect(again[20]?.milestone.warnings).toMatchObject([{ code: 'outdated_report' }]);
    expect(again[20]?.milestone.id).toBe(again[199]?.milestone.id);
    const after = await api.call('GET', path, { key: operator });
    expect(after.body['version']).toBe(before.body['version']);
    const dropped = posted[10]?.milestone.id ?? '';
    expect(await api.call('GET', `${path}/milestones/${dropped}`, { key: operator })).toMatchObject({ status: 404 });
    const events = await api.call('GET', `/v1/events?shipment_id=${String(before.body['id'])}`, { key: operator });
    expect(events.status).toBe(200);
  });

  it('that are not kept are answered equally if the request is repeated', async () => {
    const post = (minute: number) => ({
      code: 'vessel_arrived',
      classifier: 'estimated',
      source: 'carrier',
      occurred_at: new Date(Date.UTC(2026, 1, 1, 0, minute)).toISOString(),
      reported_at: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
    });
    for (const minute of [0, ...Array.from({ length: 60 }, (_, index) => index + 10)]) await record(post(minute), feed);
    const send = () =>
      api.call('POST', `${path}/milestones`, {
        key: feed,
        json: post(5),
        headers: { 'Idempotency-Key': `late ${path}` },
      });
    const [first, second] = [await send(), await send()];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect(first.body).toMatchObject({ occurred_at: post(5).occurred_at, warnings: [{ code: 'outdated_report' }] });
  });
});

describe('POST /v1/shipments/{id}/milestones', () => {
  it('records a milestone and updates the status', async () => {
    const answer = await record({
      code: 'vessel_departed',
      occurred_at: '2026-01-05T10:00:00+08:00',
      reason_code: 'carrier_feed_unavailable',
      location: 'CNSHA',
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      id: expect.stringMatching(/^mst_/),
      shipment_id: path.slice('/v1/shipments/'.length),
      code: 'vessel_departed',
      classifier: 'actual',
      occurred_at: '2026-01-05T02:00:00.000Z',
      source: 'manual',
      location: 'CNSHA',
      timezone: 'Asia/Shanghai',
      reason_code: 'carrier_feed_unavailable',
      recorded_by: { type: 'service_account', id: expect.stringMatching(/^sva_/) },
      revision: 1,
      warnings: [],
    });
    expect(answer.headers.get('location')).toBe(`https://api.example${path}/milestones/${String(answer.body['id'])}`);
    const shipment = await api.call('GET', path, { key: operator });
    expect(shipment.body).toMatchObject({ status: 'in_transit', atd: '2026-01-05T02:00:00.000Z' });
  });

  it('warns about unknown fields, and accepts codes in any case', async () => {
    const answer = await record({
      code: 'Vessel_Departed',
      occurred_at: '2026-01-05T10:00:00+08:00',
      source: 'Manual',
      classifier: 'ACTUAL',
      reason_code: 'Backfill',
      sequence: 1,
      carrier: 'MAEU',
    });
    expect([answer.status, answer.body]).toEqual([
      201,
      expect.objectContaining({
        code: 'vessel_departed',
        source: 'manual',
        classifier: 'actual',
        reason_code: 'backfill',
        warnings: [
          { code: 'read_only_field', param: 'sequence', message: expect.any(String) },
          { code: 'unknown_field', param: 'carrier', message: expect.any(String) },
        ],
      }),
    ]);
  });

  it('stores position, terminal, IMO number, pieces and temperature, and corrects them', async () => {
    const details = {
      latitude: 31.3665,
      longitude: 121.6158,
      terminal: 'Yangshan',
      pieces: 12,
      temperature_celsius: -18.5,
    };
    const answer = await record({
      code: 'gated_in',
      occurred_at: '2026-01-04T10:00:00Z',
      ...details,
      imo: 'IMO 9321483',
    });
    expect(answer.body).toMatchObject({ ...details, imo: '9321483', warnings: [] });
    const own = `${path}/milestones/${String(answer.body['id'])}`;
    const half = await api.call('PATCH', own, { key: operator, json: { latitude: null } });
    expect(half.body['error']).toMatchObject({ details: [{ param: 'latitude', code: 'required' }] });
    const json = { latitude: 10, pieces: 0, terminal: null, temperature_celsius: 4 };
    const corrected = await api.call('PATCH', own, { key: operator, json });
    expect(corrected.body).toMatchObject({ ...json, longitude: 121.6158, revision: 2 });
    expect((await list()).body['data']).toMatchObject([{ ...json, imo: '9321483' }]);
  });

  it.each([
    [{ latitude: 90.1, longitude: 0 }, 'latitude', 'invalid_value'],
    [{ latitude: 0, longitude: -180.5 }, 'longitude', 'invalid_value'],
    [{ latitude: '51.9', longitude: 4 }, 'latitude', 'invalid_type'],
    [{ latitude: 51.9 }, 'longitude', 'required'],
    [{ imo: '9321484' }, 'imo', 'invalid_value'],
    [{ imo: 9321483 }, 'imo', 'invalid_type'],
    [{ pieces: 1.5 }, 'pieces', 'invalid_value'],
    [{ pieces: -1 }, 'pieces', 'invalid_value'],
    [{ temperature_celsius: -274 }, 'temperature_celsius', 'invalid_value'],
    [{ terminal: 7 }, 'terminal', 'invalid_type'],
  ])('refuses %j', async (json, param, code) => {
    const answer = await record({ code: 'gated_in', occurred_at: '2026-01-04T10:00:00Z', ...json });
    expect([answer.status, answer.body['error']]).toEqual([
      400,
      expect.objectContaining({ details: [expect.objectContaining({ param, code })] }),
    ]);
  });

  it.each(['DEPA', 'VD', 'GTIN', 'X4'])('answers %s of another standard with the code that is meant', async (code) => {
    const answer = await record({ code, occurred_at: '2026-01-05T10:00:00Z' });
    expect([answer.status, answer.body['error']]).toEqual([
      400,
      expect.objectContaining({ param: 'code', message: expect.stringMatching(`Here ${code} is [a-z_]+`) }),
    ]);
  });

  it('answers every field that the description of the resource names, and no other', async () => {
    const answer = await record({ code: 'gated_in', occurred_at: '2026-01-04T10:00:00Z' });
    const document = (await api.call('GET', '/openapi.json')).body;
    const { schemas } = document['components'] as { schemas: Record<string, { properties: JsonObject }> };
    expect(Object.keys(answer.body).sort()).toEqual(Object.keys(schemas['MilestoneWritten']?.properties ?? {}).sort());
  });

  it('returns 200 for a known milestone and for a correction', async () => {
    const json = { code: 'gated_in', occurred_at: '2026-01-04T10:00:00Z', external_id: 'E-1' };
    const first = await record(json);
    const again = await record(json);
    const corrected = await record({ ...json, occurred_at: '2026-01-04T11:00:00Z' });
    expect([first.status, again.status, corrected.status]).toEqual([201, 200, 200]);
    expect([again.body['id'], corrected.body['id']]).toEqual([first.body['id'], first.body['id']]);
    expect([again.body['revision'], corrected.body['revision']]).toEqual([1, 2]);
  });

  it('accepts sources other than manual only from feeds', async () => {
    const json = { code: 'gated_in', occurred_at: '2026-01-04T10:00:00Z', source: 'carrier' };
    const head = await api.head();
    const refused = await record(json);
    expect(refused.status).toBe(403);
    expect(refused.body['error']).toMatchObject({
      type: 'permission',
      code: 'permission_denied',
      message: expect.stringContaining('milestones:feed'),
    });
    expect(await api.head()).toBe(head);
    expect((await record(json, feed)).status).toBe(201);
  });

  it.each([
    ['status_note', 'pending', []],
    ['terminal_hold', 'pending', ['terminal_hold']],
    ['terminal_released', 'pending', []],
    ['freight_hold', 'pending', ['freight_hold']],
    ['freight_released', 'pending', []],
    ['return_started', 'in_transit', ['return_to_sender']],
    ['empty_loaded', 'pending', []],
    ['empty_discharged', 'pending', []],
  ])('accepts %s from feeds, once', async (code, status, opened) => {
    const json = { code, occurred_at: '2026-01-04T10:00:00Z', source: 'carrier', location: 'CNSHA' };
    const first = await record(json, feed);
    expect(first).toMatchObject({ status: 201, body: { code, source: 'carrier', warnings: [] } });
    const again = await record(json, feed);
    expect([again.status, again.body['id']]).toEqual([200, first.body['id']]);
    // Reads with another key would need the consistency token.
    const shipment = await api.call('GET', path, { key: feed });
    expect(shipment.body['status']).toBe(status);
    const exceptions = await api.call('GET', `${path}/exceptions`, { key: feed });
    expect((exceptions.body['data'] as JsonObject[]).map(({ type }) => type)).toEqual(opened);
    for (const type of opened) {
      const query = `type=${type}&shipment_id=${path.slice('/v1/shipments/'.length)}`;
      const { body } = await api.call('GET', `/v1/exceptions?${query}`, { key: feed });
      expect(body['data']).toMatchObject([{ type, status: 'open' }]);
    }
  });

  it('opens off_route when a container leaves abroad, and lists it by its type', async () => {
    const route = { origin_port: 'CNSHA', destination_port: 'NLRTM' };
    await api.call('PATCH', path, { key: operator, json: route });
    const gatedOut = { code: 'gated_out', container_number: 'CSQU3054383', location: 'USNYC', source: 'carrier' };
    const { status } = await record({ ...gatedOut, occurred_at: '2026-01-05T10:00:00Z' }, feed);
    expect(status).toBe(201);
    const query = `type=off_route&shipment_id=${path.slice('/v1/shipments/'.length)}`;
    const { body } = await api.call('GET', `/v1/exceptions?${query}`, { key: feed });
    expect(body['data']).toMatchObject([{ type: 'off_route', severity: 'medium', status: 'open' }]);
    const shipment = await api.call('GET', path, { key: feed });
    expect(shipment.body).toMatchObject({ status: 'in_transit', ata: null });
  });

  it('names every faulty field', async () => {
    const answer = await record({
      code: 'teleported',
      occurred_at: '2026-01-04T10:00:00',
      source: 'rumour',
      classifier: 'guessed',
      reason_code: 'because',
      container_number: 'X',
      timezone: 'Mars/Olympus',
      location: 5,
      note: 'x'.repeat(1_001),
    });
    expect(answer.status).toBe(400);
    const { details } = answer.body['error'] as { details: { param: string; code: string }[] };
    expect(details.map(({ param, code }) => `${param} ${code}`).sort()).toEqual([
      'classifier invalid_value',
      'code unknown_code',
      'container_number invalid_container_number',
      'location invalid_type',
      'note too_long',
      'occurred_at invalid_timestamp',
      'reason_code invalid_value',
      'source invalid_value',
      'timezone invalid_value',
    ]);
  });

  it('refuses future actual times, and containers that are not on the shipment', async () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const future = await record({ code: 'gated_in', occurred_at: soon });
    expect(future.body['error']).toMatchObject({ param: 'occurred_at', details: [{ code: 'timestamp_in_future' }] });
    const elsewhere = await record({
      code: 'gated_in',
      occurred_at: '2026-01-04T10:00:00Z',
      container_number: 'TGHU1234563',
    });
    expect(elsewhere.status).toBe(400);
    expect(elsewhere.body['error']).toMatchObject({ param: 'container_number' });
  });

  it('returns 404 for a shipment that does not exist', async () => {
    const json = { code: 'gated_in', occurred_at: '2026-01-04T10:00:00Z' };
    for (const id of ['shp_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'shp_x', 'x', '%2e%2e', "shp_'--", 'shp_%00', '%F0%9F%9A%A2']) {
      const answer = await api.call('POST', `/v1/shipments/${id}/milestones`, { key: operator, json });
      expect(answer.status).toBe(404);
      expect(answer.body['error']).toMatchObject({ code: 'not_found' });
    }
    // Before the body is looked at.
    const faulty = await api.call('POST', '/v1/shipments/shp_x/milestones', { key: operator, json: { code: 5 } });
    expect(faulty.status).toBe(404);
  });
});

describe('GET /v1/shipments/{id}/milestones', () => {
  beforeEach(async () => {
    await record({ code: 'vessel_departed', occurred_at: '2026-01-05T10:00:00Z', container_number: 'CSQU3054383' });
    await record({ code: 'gated_in', occurred_at: '2026-01-04T10:00:00Z', container_number: 'MSKU0000006' });
    await record({ code: 'loaded_on_vessel', occurred_at: '2026-01-05T10:00:00Z' });
    await record({ code: 'vessel_arrived', occurred_at: '2026-02-01T10:00:00Z', classifier: 'estimated' });
    await record({ code: 'vessel_arrived', occurred_at: '2026-02-02T10:00:00Z', classifier: 'estimated' });
    await record({ code: 'delivered', occurred_at: '2026-02-09T10:00:00Z', classifier: 'planned' });
  });

  it('lists actual milestones by time and catalog sequence', async () => {
    const answer = await list();
    expect(codes(answer)).toEqual(['gated_in', 'loaded_on_vessel', 'vessel_departed']);
    expect(answer.body).toMatchObject({ next_cursor: null, has_more: false });
  });

  it('includes other milestones on request', async () => {
    expect(codes(await list('?classifier=estimated'))).toEqual(['vessel_arrived']);
    expect(codes(await list('?classifier=estimated&include_superseded=true'))).toHaveLength(2);
    expect(codes(await list('?classifier=planned,estimated'))).toEqual(['vessel_arrived', 'delivered']);
    expect(codes(await list('?classifier=all'))).toHaveLength(5);
    expect(codes(await list('?classifier=all&include_superseded=true&include_retracted=true'))).toHaveLength(6);
    expect(codes(await list('?container_number=csqu-3054383'))).toEqual(['vessel_departed']);
  });

  it('is paged, with cursors of this shipment and these filters', async () => {
    const first = await list('?limit=2');
    expect(codes(first)).toEqual(['gated_in', 'loaded_on_vessel']);
    const cursor = String(first.body['next_cursor']);
    expect(codes(await list(`?cursor=${cursor}`))).toEqual(['vessel_departed']);
    expect((await list(`?cursor=${cursor}&classifier=all`)).status).toBe(400);
    const other = await api.call('POST', '/v1/shipments', { key: operator, json: { house_bill: 'OTHER' } });
    const elsewhere = await api.call('GET', `/v1/shipments/${String(other.body['id'])}/milestones?cursor=${cursor}`, {
      key: operator,
    });
    expect(elsewhere.body['error']).toMatchObject({ code: 'invalid_cursor' });
  });

  it('names invalid parameters', async () => {
    const answer = await list('?classifier=maybe&include_superseded=yes&limit=x&container_number=');
    expect(answer.status).toBe(400);
    const { details } = answer.body['error'] as { details: { param: string }[] };
    expect(details.map(({ param }) => param).sort()).toEqual([
      'classifier',
      'container_number',
      'include_superseded',
      'limit',
    ]);
  });
});

describe('GET /v1/milestone_codes', () => {
  it('returns the whole catalog to any key', async () => {
    const answer = await api.call('GET', '/v1/milestone_codes', { key: await api.key('viewer') });
    expect(answer.status).toBe(200);
    expect(answer.body['data']).toEqual(MILESTONE_CATALOG);
    expect(answer.body).toMatchObject({ next_cursor: null, has_more: false });
  });

  it('returns the catalog page by page', async () => {
    const key = await api.key('viewer');
    const seen: unknown[] = [];
    for (let query = '?limit=30'; query !== '';) {
      const { body } = await api.call('GET', `/v1/milestone_codes${query}`, { key });
      seen.push(...(body['data'] as unknown[]));
      query = body['next_cursor'] === null ? '' : `?limit=30&cursor=${String(body['next_cursor'])}`;
    }
    expect(seen).toEqual(MILESTONE_CATALOG);
    for (const cursor of ['', 'x', 'x'.repeat(2_000)]) {
      const { body } = await api.call('GET', `/v1/milestone_codes?cursor=${cursor}`, { key });
      expect(body['error']).toMatchObject({ code: 'invalid_cursor', param: 'cursor' });
    }
  });
});

import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@tracking/contracts';
import { UnavailableError } from '@tracking/ports';
import { choosePropertyTestRounds } from '@tracking/testing';
import { startApi, overrideOperations } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

/** Response to an item of a bulk request, or to the single call that corresponds to it. */
interface ItemAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

const A = 'MSCU1234566';
const B = 'CSQU3054383';
let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

/** Creates keys with the same role in two workspaces that no other test uses. */
const keys = (role: 'operator' | 'feed' = 'operator') =>
  Promise.all([1, 2].map(() => api.key(role, 'live', randomUUID()))) as Promise<[string, string]>;
const bulk = (
  key: string,
  of: 'shipments' | 'milestones',
  items: readonly unknown[],
  headers: Record<string, string> = {},
): Promise<ApiResponse> => api.call('POST', `/v1/${of}/bulk`, { key, json: { [of]: items }, headers });
const itemsOf = (answer: ApiResponse): ItemAnswer[] => {
  expect([answer.status, answer.text.slice(0, 8)]).toEqual([200, '{"data":']);
  return (answer.body['data'] as JsonObject[]).map(({ index, status, ...of }, place) => {
    expect(index).toBe(place);
    const [body, ...more] = Object.values(of);
    expect(more).toEqual([]);
    return { status: Number(status), body: Object.keys(of)[0] === 'error' ? { error: body } : (body as JsonObject) };
  }) as ItemAnswer[];
};
const codes = (answer: ApiResponse) =>
  itemsOf(answer).map(({ status, body }) => [status, (body['error'] as JsonObject | undefined)?.['code']]);

/** Returns a response without ids, times and request ids, which differ between workspaces. */
const comparable = ({ status, body }: ItemAnswer) => ({
  status,
  body: JSON.parse(
    JSON.stringify(body, (name, value: unknown) =>
      ['request_id', 'created_at', 'updated_at', 'recorded_at', 'reported_at'].includes(name) ? null : value,
    ).replace(/\b(shp|mst|exc|sva)_[a-z2-7]+/g, '$1'),
  ) as JsonObject,
});

describe('POST /v1/shipments/bulk', () => {
  it('returns the same result for each item as the single call', async () => {
    const [one, other] = await keys();
    const large = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`name ${n}`, 'x'.repeat(900)]));
    const kinds: readonly ((n: number) => unknown)[] = [
      (n) => ({
        external_id: `PO-${n}`,
        house_bill: `HB-${n}`,
        container_numbers: [A.replace('MSC', `M${letters(n)}`)],
      }),
      (n) => ({ external_id: `PO-${n % 9}`, eta: '2026-12-19T18:00:00+08:00', legs: [{ origin_port: 'cn sha' }] }),
      (n) => ({ house_bill: `OWN-${n}`, colour: 'red', status: 'delivered' }),
      () => ({ mode: 'ocean' }),
      () => ({ external_id: 7, carrier_scac: '?', legs: [{ etd: 'soon' }, 3], mode: 'teleport' }),
      (n) => ({
        external_id: `NEW-${n}`,
        origin_port: 'XXXXX',
        container_numbers: [`WRNU${1_000_000 + n}`],
        mode: 'ocean',
      }),
      (n) => ({ external_id: `LIM-${n}`, references: Array(51).fill({ type: 'po', value: '1' }) }),
      () => 'text',
      () => null,
      () => [],
      (n) => ({ external_id: `PO-${n % 9}`, house_bill: null, container_numbers: [], metadata: large }),
      (n) => ({ external_id: `x`.repeat(1_001), house_bill: `HB-${n}` }),
    ];
    const items = Array.from({ length: choosePropertyTestRounds(500) }, (_, n) => kinds[n % kinds.length]?.(n));
    const single: ItemAnswer[] = [];
    for (const json of items) {
      const raw = JSON.stringify(json);
      single.push(await api.call('POST', '/v1/shipments', { key: one, raw }));
    }
    const answers = itemsOf(await bulk(other, 'shipments', items));
    expect(answers.map(comparable)).toEqual(single.map(comparable));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 201, 400]));
  });

  it('applies strict handling to each item on request', async () => {
    const [key] = await keys();
    const items = [{ external_id: 'A', colour: 'red' }, { external_id: 'B' }];
    const answer = await bulk(key, 'shipments', items, { prefer: 'handling=strict' });
    expect(codes(answer)).toEqual([
      [400, 'validation_failed'],
      [201, undefined],
    ]);
  });

  it('applies items with the same external_id in order', async () => {
    const [key] = await keys();
    const count = choosePropertyTestRounds(300);
    const items = Array.from({ length: count }, (_, n) => ({ external_id: `S-${n % 3}`, house_bill: `HB-${n}` }));
    const answers = itemsOf(await bulk(key, 'shipments', items));
    expect(answers.map(({ status }) => status)).toEqual(items.map((_, n) => (n < 3 ? 201 : 200)));
    expect(answers.map(({ body }) => [body['house_bill'], body['version']])).toEqual(
      items.map(({ house_bill }, n) => [house_bill, 1 + Math.floor(n / 3)]),
    );
    const { body } = await api.call('GET', '/v1/shipments', { key });
    expect((body['data'] as JsonObject[]).map((shipment) => shipment['house_bill']).sort()).toEqual(
      items.slice(-3).map(({ house_bill }) => house_bill),
    );
  });

  it('warns about duplicates among the items', async () => {
    const [key] = await keys();
    const items = ['A', 'B'].map((external_id) => ({ external_id, container_numbers: [A] }));
    const answers = itemsOf(await bulk(key, 'shipments', items));
    for (const { body } of answers) expect(body['warnings']).toMatchObject([{ code: 'possible_duplicate' }]);
  });

  it('warns once about another shipment with several of its containers', async () => {
    const [key] = await keys();
    const numbers = Array.from({ length: 200 }, (_, n) => `ABCU${1_000_000 + n}`);
    const items = ['A', 'B'].map((external_id) => ({ external_id, house_bill: 'HB', container_numbers: numbers }));
    const [a, b] = itemsOf(await bulk(key, 'shipments', items));
    const warnings = (b?.body['warnings'] as JsonObject[]).filter(({ code }) => code === 'possible_duplicate');
    const id = String(a?.body['id']);
    expect(warnings.map(({ param, message }) => [param, message])).toEqual([
      ['house_bill', `${id} has the same house bill.`],
      ['container_numbers', `${id} has containers ABCU1000000, ABCU1000001, ABCU1000002 and 197 more too.`],
    ]);
  });

  it('accepts 1 to 500 items, and reports unknown fields of the body', async () => {
    const [key] = await keys();
    const refused = async (json: unknown) => {
      const { status, body } = await api.call('POST', '/v1/shipments/bulk', { key, json });
      const error = body['error'] as JsonObject;
      return [status, error['code'], error['param']];
    };
    expect(await refused({ shipments: [] })).toEqual([400, 'validation_failed', 'shipments']);
    expect(await refused({ shipments: Array(501).fill({}) })).toEqual([400, 'limit_exceeded', 'shipments']);
    expect(await refused({ shipments: {} })).toEqual([400, 'validation_failed', 'shipments']);
    expect(await refused({})).toEqual([400, 'validation_failed', 'shipments']);
    expect(await refused([])).toEqual([400, 'validation_failed', null]);
    const json = { shipments: [{ external_id: 'A' }], atomic: true };
    const { status, body } = await api.call('POST', '/v1/shipments/bulk', { key, json });
    expect([status, body['warnings']]).toEqual([
      200,
      [expect.objectContaining({ code: 'unknown_field', param: 'atomic' })],
    ]);
  });

  it('accepts 10 MiB, with the limit of the single call per item, and no If-Match', async () => {
    const [key] = await keys();
    const large = (external_id: string, size: number) => ({ external_id, colour: 'x'.repeat(size) });
    const items = [large('A', 900_000), large('B', 1_100_000), { external_id: 'C' }];
    expect(codes(await bulk(key, 'shipments', items))).toEqual([
      [201, undefined],
      [413, 'body_too_large'],
      [201, undefined],
    ]);
    expect((await bulk(key, 'shipments', [large('D', 11_000_000)])).status).toBe(413);
    expect((await bulk(key, 'shipments', items, { 'if-match': '*' })).status).toBe(400);
  });

  it('answers an item that is nested deeply as the single call does, also where sizes are looked at', async () => {
    const [key] = await keys();
    const deeply = '['.repeat(20_000) + ']'.repeat(20_000);
    const item = (field: string) => `{"external_id":"${field}","${field}":${deeply}}`;
    const large = JSON.stringify({ external_id: 'L', colour: 'x'.repeat(900_000) });
    const raw = `{"shipments":[${large},${large},${item('metadata')},${item('colour')}]}`;
    const headers = { 'content-type': 'application/json' };
    const answer = await api.call('POST', '/v1/shipments/bulk', { key, raw, headers });
    expect(codes(answer)).toEqual([
      [201, undefined],
      [200, undefined],
      [400, 'validation_failed'],
      [201, undefined],
    ]);
  });

  it('counts as one request for the rate limit, and its writes are read back', async () => {
    const [key] = await keys();
    const remaining = ({ headers }: ApiResponse) => Number(headers.get('x-ratelimit-remaining'));
    const before = remaining(await api.call('GET', '/v1/shipments', { key }));
    const items = Array.from({ length: 100 }, () => ({ house_bill: randomUUID() }));
    const answer = await bulk(key, 'shipments', items);
    expect(remaining(answer)).toBe(before - 1);
    const token = answer.headers.get('consistency-token') ?? '';
    const listed = await api.call('GET', '/v1/shipments?limit=200', { key, headers: { 'consistency-token': token } });
    expect(listed.body['data']).toHaveLength(100);
  });
});

describe('POST /v1/milestones/bulk', () => {
  const occurred_at = '2026-01-05T10:00:00Z';

  /** Creates the same shipments in the workspace of the key. Returns the id of the first one. */
  async function prepare(key: string): Promise<string> {
    const shipments = [
      { external_id: 'PO-1', master_bill: 'MB-1', booking_number: 'BK-1', container_numbers: [A], mode: 'ocean' },
      {
        external_id: 'PO-2',
        master_bill: 'MB-TWICE',
        booking_number: 'BK-TWICE',
        container_numbers: [B],
        mode: 'ocean',
      },
      { external_id: 'PO-3', master_bill: 'MB-TWICE', booking_number: 'BK-TWICE', container_numbers: [B] },
    ];
    const [first] = itemsOf(await bulk(key, 'shipments', shipments));
    return String(first?.body['id']);
  }

  it('returns the same result for each item as the single call', async () => {
    const [one, other] = await keys();
    const [id, otherId] = [await prepare(one), await prepare(other)];
    const kinds: readonly ((n: number) => JsonObject)[] = [
      (n) => ({ code: 'in_transit_checkpoint', occurred_at, location: `km ${n}` }),
      () => ({ code: 'gated_in', occurred_at, container_number: A }),
      () => ({ code: 'gated_in', occurred_at, container_number: B }),
      () => ({ code: 'VD', occurred_at: 'yesterday', timezone: 'Moon', note: 7 }),
      () => ({ code: 'flight_departed', occurred_at, colour: 'red', label: 'x' }),
      () => ({ code: 'gated_in', occurred_at: '2999-01-01T00:00:00Z' }),
      () => ({ code: 'vessel_departed', occurred_at, source: 'carrier' }),
      () => ({}),
    ];
    const items = Array.from({ length: choosePropertyTestRounds(240) }, (_, n) => kinds[n % kinds.length]?.(n) ?? {});
    const single: ItemAnswer[] = [];
    for (const json of items) {
      single.push(await api.call('POST', `/v1/shipments/${id}/milestones`, { key: one, json }));
    }
    const answers = itemsOf(
      await bulk(
        other,
        'milestones',
        items.map((item) => ({ shipment_id: otherId, ...item })),
      ),
    );
    expect(answers.map(comparable)).toEqual(single.map(comparable));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 201, 400, 403]));
  });

  it('finds the shipment by any one reference, including one that was just written', async () => {
    const [key] = await keys();
    const id = await prepare(key);
    const by = (reference: JsonObject, n: number) => ({
      ...reference,
      code: 'in_transit_checkpoint',
      occurred_at,
      note: `${n}`,
      location: `km ${n}`,
    });
    const references = [
      { shipment_id: id },
      { external_id: 'PO-1' },
      { master_bill: 'MB-1' },
      { booking_number: 'BK-1' },
      { container_number: ' mscu 123456-6' },
      { external_id: 'PO-1', container_number: A, master_bill: null },
    ];
    const answers = itemsOf(await bulk(key, 'milestones', references.map(by)));
    expect(answers.map(({ status, body }) => [status, body['shipment_id'], body['container_number']])).toEqual([
      ...Array(4).fill([201, id, null]),
      ...Array(2).fill([201, id, A]),
    ]);
    for (let n = 0; n < 5; n++) {
      await api.call('POST', '/v1/shipments', { key, json: { external_id: `NEW-${n}`, booking_number: `NB-${n}` } });
      expect(codes(await bulk(key, 'milestones', [by({ booking_number: `NB-${n}` }, n)]))).toEqual([[201, undefined]]);
    }
  });

  it('refuses items without a shipment, with several references, or with an ambiguous one', async () => {
    const [key] = await keys();
    const id = await prepare(key);
    const milestone = { code: 'gated_in', occurred_at };
    const answer = await bulk(key, 'milestones', [
      milestone,
      { ...milestone, shipment_id: id, external_id: 'PO-1' },
      { ...milestone, master_bill: 'MB-1', booking_number: 'BK-1', code: 'nonsense' },
      { ...milestone, external_id: 7 },
      { ...milestone, shipment_id: 'shp_none' },
      { ...milestone, shipment_id: `shp_${'a'.repeat(26)}` },
      { ...milestone, external_id: 'PO-9' },
      { ...milestone, master_bill: 'MB-TWICE' },
      { ...milestone, booking_number: 'BK-TWICE' },
      { ...milestone, container_number: B },
      { ...milestone, container_number: B, external_id: 'PO-2' },
      { ...milestone, container_number: 'nonsense' },
      'text',
    ]);
    expect(
      itemsOf(answer).map(({ status, body }) => {
        const error = body['error'] as JsonObject | undefined;
        const details = (error?.['details'] ?? []) as JsonObject[];
        return [status, error?.['code'], details.map(({ param, code }) => `${String(param)} ${String(code)}`).join()];
      }),
    ).toEqual([
      [400, 'validation_failed', 'shipment_id required'],
      [400, 'validation_failed', 'external_id invalid_value'],
      [400, 'validation_failed', 'booking_number invalid_value,code unknown_code'],
      [400, 'validation_failed', 'external_id invalid_type'],
      [404, 'not_found', ''],
      [404, 'not_found', ''],
      [404, 'not_found', ''],
      [409, 'ambiguous_shipment', ''],
      [409, 'ambiguous_shipment', ''],
      [409, 'ambiguous_shipment', ''],
      [201, undefined, ''],
      [400, 'validation_failed', 'container_number invalid_container_number'],
      [400, 'validation_failed', ''],
    ]);
    expect(JSON.stringify(itemsOf(answer)[1])).toContain(
      'external_id of the milestone itself is milestone_external_id',
    );
    expect(JSON.stringify(itemsOf(answer)[2])).not.toContain('milestone_external_id');
  });

  it('accepts an external_id, and applies milestones of one shipment in order', async () => {
    const [key] = await keys('feed');
    const id = await prepare(key);
    const items = Array.from({ length: 60 }, (_, n) => ({
      ...[{ external_id: 'PO-1' }, { shipment_id: id }, { booking_number: 'BK-1' }][n % 3],
      code: 'vessel_departed',
      occurred_at,
      source: 'carrier',
      note: `${n}`,
      milestone_external_id: 'EVT-1',
    }));
    const answers = itemsOf(await bulk(key, 'milestones', items));
    expect(answers.map(({ status, body }) => [status, body['external_id'], body['note'], body['revision']])).toEqual(
      items.map((_, n) => [n === 0 ? 201 : 200, 'EVT-1', `${n}`, n + 1]),
    );
    const faulty = await bulk(key, 'milestones', [{ ...items[0], milestone_external_id: ' ' }]);
    expect(JSON.stringify(faulty.body)).toContain('"param":"milestone_external_id"');
  });

  it('looks each reference up once, even if several items have it', async () => {
    const asked: (readonly string[])[] = [];
    const { readModels } = api.dependencies;
    const { shipments } = readModels.queries;
    const counted = overrideOperations(shipments, {
      findShipmentIdsByReference: (...query) => {
        asked.push(query[1].values);
        return shipments.findShipmentIdsByReference(...query);
      },
    });
    const queries = { ...readModels.queries, shipments: counted };
    const call = await api.gateway({ readModels: overrideOperations(readModels, { queries }) });
    const [key] = await keys();
    await prepare(key);
    const milestones = Array.from({ length: 200 }, (_, n) => ({
      booking_number: `BK-${n % 2}`,
      code: 'gated_in',
      occurred_at,
      note: `${n}`,
    }));
    expect((await call('POST', '/v1/milestones/bulk', { key, json: { milestones } })).status).toBe(200);
    expect(asked).toEqual([['BK-0', 'BK-1']]);
  });
});

describe('POST /v1/milestones/bulk by container', () => {
  const DAY_MS = 24 * 60 * 60_000;
  const startMs = Date.parse('2026-01-01T12:00:00Z');
  const day = (number: number) => new Date(startMs + number * DAY_MS).toISOString();
  const item = (code: string, occurred_at: string, location?: string) => ({
    ...{ container_number: A, code, occurred_at },
    ...(location !== undefined && { location }),
  });
  const route = { mode: 'ocean', container_numbers: [A], origin_port: 'CNSHA', destination_port: 'NLRTM' };
  const FIRST_TRIP = [
    item('gated_in', day(1), 'CNSHA'),
    item('vessel_departed', day(2), 'CNSHA'),
    item('vessel_arrived', day(30), 'NLRTM'),
    item('discharged', day(31), 'NLRTM'),
    item('gated_out', day(33), 'NLRTM'),
    item('empty_returned', day(36)),
  ];
  const SECOND_TRIP = [
    item('empty_picked_up', day(80)),
    item('gated_in', day(82), 'CNSHA'),
    item('loaded_on_vessel', day(83), 'CNSHA'),
    item('vessel_departed', day(84), 'CNSHA'),
  ];

  async function createShipment(key: string, fields: JsonObject): Promise<string> {
    return String((await api.call('POST', '/v1/shipments', { key, json: { ...route, ...fields } })).body['id']);
  }
  async function post(key: string, items: readonly JsonObject[]): Promise<readonly unknown[]> {
    return itemsOf(await bulk(key, 'milestones', items)).map(
      ({ status, body }) => body['shipment_id'] ?? [status, (body['error'] as JsonObject)['code']],
    );
  }
  async function statusOf(key: string, ...ids: readonly string[]): Promise<readonly unknown[]> {
    const answers = await Promise.all(ids.map((id) => api.call('GET', `/v1/shipments/${id}`, { key })));
    return answers.map(({ body }) => body['status']);
  }

  it.each([
    ['in order', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ['in reverse after the return', [5, 4, 9, 8, 7, 6, 3, 2, 1, 0]],
    ['the second trip first', [6, 7, 8, 9, 0, 1, 2, 3, 4, 5]],
    ['mixed', [5, 9, 0, 7, 2, 6, 1, 8, 4, 3]],
    ['with the return early', [1, 5, 3, 6, 0, 2, 8, 4, 9, 7]],
  ])('splits the milestones of two trips between their shipments, %s and twice', async (_, order) => {
    const [key] = await keys();
    const first = await createShipment(key, { external_id: 'A', etd: day(1), eta: day(10) });
    const second = await createShipment(key, { external_id: 'B', etd: day(78) });
    const all = [...FIRST_TRIP, ...SECOND_TRIP];
    const expected = order.map((index) => (index < FIRST_TRIP.length ? first : second));
    const items = order.flatMap((index) => all[index] ?? []);
    for (const round of [1, 2]) {
      expect([round, await post(key, items)]).toEqual([round, expected]);
      expect(await statusOf(key, first, second)).toEqual(['completed', 'in_transit']);
    }
    for (const one of items) await post(key, [one]);
    const lists = [first, second].map((id) => api.call('GET', `/v1/shipments/${id}/milestones`, { key }));
    expect((await Promise.all(lists)).map(({ body }) => (body['data'] as unknown[]).length)).toEqual([6, 4]);
  });

  it.each([
    ['in order', [0, 1, 2, 3, 4, 5, 'B'], [0, 1]],
    ['in reverse', [5, 4, 3, 2, 1, 0, 'B'], [1, 0]],
    ['after the next shipment was created', ['B', 0, 1, 2, 3, 4, 5], [1, 0]],
    ['in reverse after the next shipment was created', ['B', 5, 4, 3, 2, 1, 0], [0, 1]],
    ['before and after the next shipment was created', [5, 1, 'B', 3, 0, 4, 2], [1, 0]],
  ] as const)(
    'applies milestones of today to the next shipment if the first was completed a month ago %s, twice',
    async (_, steps, orderOfToday) => {
      const [key] = await keys();
      const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
      const trip = FIRST_TRIP.map((each, index) => ({ ...each, occurred_at: ago(60 - index * 6) }));
      const first = await createShipment(key, { external_id: 'A', etd: ago(60), eta: ago(40) });
      let second = '';
      for (const step of steps) {
        if (step === 'B') second = await createShipment(key, { external_id: 'B' });
        else expect([step, await post(key, trip.slice(step, step + 1))]).toEqual([step, [first]]);
      }
      const show = (id: string) => api.call('GET', `/v1/shipments/${id}`, { key });
      const completed = (await show(first)).body;
      expect(completed).toMatchObject({ status: 'completed', atd: trip[1]?.occurred_at, ata: trip[2]?.occurred_at });

      const today = [item('gated_in', ago(0.1), 'CNSHA'), item('loaded_on_vessel', ago(0.05), 'CNSHA')];
      const items = orderOfToday.flatMap((index) => today[index] ?? []);
      for (const round of [1, 2]) {
        expect([round, await post(key, items)]).toEqual([round, [second, second]]);
        expect((await show(first)).body).toEqual(completed);
        expect((await show(second)).body).toMatchObject({ status: 'at_origin', atd: null });
      }
      const lists = [first, second].map((id) => api.call('GET', `/v1/shipments/${id}/milestones`, { key }));
      expect((await Promise.all(lists)).map(({ body }) => (body['data'] as unknown[]).length)).toEqual([6, 2]);
    },
  );

  it('finds the next shipment of the container once an earlier item has completed the first', async () => {
    const [key] = await keys();
    const first = await createShipment(key, { external_id: 'A' });
    await post(key, FIRST_TRIP.slice(0, 5));
    expect(await post(key, [item('empty_returned', day(36)), item('status_note', day(37))])).toEqual([
      first,
      [404, 'no_open_shipment'],
    ]);
    const second = await createShipment(key, { external_id: 'B' });
    expect(await post(key, [item('status_note', day(37)), item('status_note', day(36))])).toEqual([second, first]);
  });

  it('finds cancelled shipments only for corrections of their milestones', async () => {
    const [key] = await keys();
    const id = await createShipment(key, { external_id: 'A' });
    const gated = { ...item('gated_in', day(1)), milestone_external_id: 'EV-1' };
    expect(await post(key, [gated])).toEqual([id]);
    await api.call('POST', `/v1/shipments/${id}/cancel`, { key });
    const corrected = { ...gated, occurred_at: day(2) };
    const other = { ...gated, milestone_external_id: 'EV-2', occurred_at: day(3) };
    expect(await post(key, [gated, corrected, other])).toEqual([id, id, [404, 'no_open_shipment']]);
  });

  it('refuses containers of no shipment, and milestones that fit several open ones', async () => {
    const [key] = await keys();
    const unknown = { ...item('gated_in', day(1)), container_number: B };
    await createShipment(key, { external_id: 'A' });
    await createShipment(key, { external_id: 'B' });
    expect(await post(key, [unknown, item('gated_in', day(1))])).toEqual([
      [404, 'no_open_shipment'],
      [409, 'ambiguous_shipment'],
    ]);
  });
});

describe('with an Idempotency-Key', () => {
  const under = () => ({ 'idempotency-key': randomUUID() });

  it('changes nothing when repeated, and returns the same response', async () => {
    const [key] = await keys();
    const items = Array.from({ length: choosePropertyTestRounds(500) }, (_, n) =>
      n % 7 === 0 ? { mode: 'ocean' } : { house_bill: `HB-${n}` },
    );
    const headers = under();
    const first = await bulk(key, 'shipments', items, headers);
    const head = await api.head();
    const again = await bulk(key, 'shipments', items, headers);
    expect([again.text === first.text, again.headers.get('idempotency-replayed')]).toEqual([true, 'true']);
    expect(again.headers.get('consistency-token')).toBe(first.headers.get('consistency-token'));
    expect(await api.head()).toEqual(head);
    const reused = await bulk(key, 'shipments', items.slice(1), headers);
    expect([reused.status, reused.text]).toEqual([409, expect.stringContaining('idempotency_key_reused')]);
  });

  it('repeats only items with server errors', async () => {
    const [key] = await keys();
    const { shipments } = api.dependencies;
    let isDown = true;
    const call = await api.gateway({
      shipments: overrideOperations(shipments, {
        upsertShipment: (command) =>
          isDown && command.fields.house_bill === 'LATE'
            ? Promise.reject(new UnavailableError('event store', 'gone'))
            : shipments.upsertShipment(command),
      }),
    });
    const request = { key, json: { shipments: [{ house_bill: 'EARLY' }, { house_bill: 'LATE' }] }, headers: under() };
    const first = await call('POST', '/v1/shipments/bulk', request);
    expect(codes(first)).toEqual([
      [201, undefined],
      [503, 'unavailable'],
    ]);
    isDown = false;
    const second = await call('POST', '/v1/shipments/bulk', request);
    expect(itemsOf(second)[0]).toEqual(itemsOf(first)[0]);
    expect(codes(second)[1]).toEqual([201, undefined]);
    const third = await call('POST', '/v1/shipments/bulk', request);
    expect([third.text, third.headers.get('idempotency-replayed')]).toEqual([second.text, 'true']);
    const { body } = await api.call('GET', '/v1/shipments', { key });
    expect(body['data']).toHaveLength(2);
  });

  it('returns 503 if all items got 503', async () => {
    const [key] = await keys();
    const down = () => Promise.reject(new UnavailableError('event store', 'gone'));
    const call = await api.gateway({
      shipments: overrideOperations(api.dependencies.shipments, { upsertShipment: down }),
    });
    const answer = await call('POST', '/v1/shipments/bulk', {
      key,
      json: { shipments: [{ external_id: 'A' }, { external_id: 'B' }] },
    });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  });
});

/** Returns three letters that represent a number. */
function letters(n: number): string {
  return String.fromCharCode(65 + (Math.floor(n / 26) % 26), 65 + (n % 26));
}

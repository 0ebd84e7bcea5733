import type { JsonObject } from '@tracking/contracts';
import { type Api, startApi, overrideOperations } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let key: string;

beforeAll(async () => {
  api = await startApi();
  key = await api.key('operator');
});
afterAll(() => api.stop());

const post = (json: JsonObject, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  api.call('POST', '/v1/shipments', { key, json, headers });
const get = (path: string, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  api.call('GET', path, { key, headers });
const data = (answer: ApiResponse): JsonObject[] => answer.body['data'] as JsonObject[];

describe('POST /v1/shipments', () => {
  it('keeps metadata under whatever name', async () => {
    const metadata = JSON.parse('{"__proto__":"a","constructor":"b","a.b":"c","$set":"d"}');
    const created = await post({ external_id: 'NAMES', metadata });
    expect(JSON.stringify(created.body['metadata'])).toBe(JSON.stringify(metadata));
    const again = await post({ external_id: 'NAMES', metadata });
    expect([again.status, again.body['version']]).toEqual([200, created.body['version']]);
    const listed = data(await get('/v1/shipments?external_id=NAMES'));
    expect(JSON.stringify(listed[0]?.['metadata'])).toBe(JSON.stringify(metadata));
  });

  it('creates the full resource, normalised', async () => {
    const answer = await post({
      external_id: 'FULL-1',
      mode: 'sea',
      load_type: 'fcl',
      house_bill: 'HBL-1',
      container_numbers: [' csqu 305438-3 ', 'CSQU3054383'],
      carrier_scac: 'maeu',
      origin_port: 'cn sha',
      destination_port: 'NLRTM',
      // The dates are far in the future, so that nothing is late.
      etd: '2126-11-21T09:30:00+08:00',
      eta: '2126-12-19T18:00:00Z',
      shipper: { name: 'Acme', external_id: 'C-1' },
      references: [{ type: 'po', value: '1' }],
      metadata: { cost_centre: '4711' },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      id: expect.stringMatching(/^shp_[a-z2-7]{26}$/),
      external_id: 'FULL-1',
      status: 'pending',
      mode: 'ocean',
      container_numbers: ['CSQU3054383'],
      carrier_scac: 'MAEU',
      origin_port: 'CNSHA',
      etd: '2126-11-21T01:30:00.000Z',
      shipper: { name: 'Acme', external_id: 'C-1' },
      consignee: null,
      warnings: [],
      version: 1,
      url: `https://app.example/shipments/${String(answer.body['id'])}`,
    });
    expect(answer.headers.get('etag')).toBe('"1"');
    expect(answer.headers.get('location')).toBe(`https://api.example/v1/shipments/${String(answer.body['id'])}`);
    expect(answer.headers.get('consistency-token')).toMatch(/^[\w-]{20,}$/);
    expect((await get(`/v1/shipments/${String(answer.body['id'])}`)).body).toEqual(withoutWarnings(answer.body));
  });

  it('names fields that it ignored, those that cannot be set apart, and refuses them where the client wants that', async () => {
    const fields = { external_id: 'IGNORED-1', legs: [{ atd: '2026-01-01T00:00:00Z', flag: 'NL' }] };
    const sent = { ...fields, status: 'delivered', colour: 'red', ETA: '2026-01-01T00:00:00Z' };
    const answer = await post(sent);
    expect([answer.status, answer.body['status']]).toEqual([201, 'pending']);
    const unknown = [
      ['read_only_field', 'legs[0].atd'],
      ['unknown_field', 'legs[0].flag'],
      ['read_only_field', 'status'],
      ['unknown_field', 'colour'],
      ['unknown_field', 'ETA'],
    ].map(([code, param]) => ({ code, param, message: expect.any(String) }));
    expect(answer.body['warnings']).toEqual(unknown);

    const json = { ...sent, external_id: 'IGNORED-2' };
    const strict = await api.call('POST', '/v1/shipments', { key, json, headers: { prefer: 'handling=strict' } });
    expect([strict.status, strict.body['error']]).toEqual([400, expect.objectContaining({ details: unknown })]);
    const lenient = await post(withoutWarnings(answer.body));
    const own = (lenient.body['warnings'] as JsonObject[]).filter(({ code }) => code === 'read_only_field');
    expect(own.map(({ param }) => param)).toEqual(expect.arrayContaining(['id', 'status', 'version', 'url']));
    expect(lenient.body['warnings']).toEqual(own);
  });

  it('answers every field that the description of the resource names, and no other', async () => {
    const answer = await post({ house_bill: 'FIELDS-1', legs: [{ mode: 'air' }] });
    const document = (await get('/openapi.json')).body;
    const schemas = (document['components'] as { schemas: Record<string, { properties: JsonObject }> }).schemas;
    const fields = (name: string): string[] => Object.keys(schemas[name]?.properties ?? {}).sort();
    expect(Object.keys(answer.body).sort()).toEqual(fields('ShipmentWritten'));
    const [leg] = answer.body['legs'] as JsonObject[];
    expect(Object.keys(leg ?? {}).sort()).toEqual(fields('Leg'));
  });

  it('updates under the same external_id, keeps what is omitted and clears what is null', async () => {
    const first = await post({ external_id: 'UP-1', house_bill: 'HB', booking_number: 'B' });
    const second = await post({ external_id: 'UP-1', booking_number: null });
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body).toMatchObject({ id: first.body['id'], house_bill: 'HB', booking_number: null });
    expect(second.headers.get('etag')).not.toBe(first.headers.get('etag'));
  });

  it('takes an Incoterm in any case, stores it in upper case, and clears it', async () => {
    const created = await post({ external_id: 'INCOTERM-1', incoterm: 'fob' });
    expect([created.status, created.body['incoterm']]).toEqual([201, 'FOB']);
    const head = await api.head();
    expect((await post({ external_id: 'INCOTERM-1', incoterm: 'Fob' })).body['incoterm']).toBe('FOB');
    expect(await api.head()).toBe(head);
    const path = `/v1/shipments/${String(created.body['id'])}`;
    const patch = (incoterm: string | null) => api.call('PATCH', path, { key, json: { incoterm } });
    expect((await patch('dat')).body['incoterm']).toBe('DAT');
    expect((await patch('XYZ')).body['error']).toMatchObject({
      details: [{ param: 'incoterm', code: 'invalid_value', message: expect.stringContaining('EXW, FCA') }],
    });
    expect((await patch(null)).body['incoterm']).toBeNull();
  });

  it('answers 200 and writes nothing when nothing changes', async () => {
    const first = await post({ external_id: 'SAME-1', mode: 'truck' });
    const head = await api.head();
    const second = await post({ external_id: 'SAME-1', mode: 'road' });
    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(await api.head()).toBe(head);
  });

  it('makes one shipment of many upserts at once', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => post({ external_id: 'RACE-1', mode: 'air' })));
    expect(new Set(answers.map((answer) => answer.body['id'])).size).toBe(1);
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(29);
  });

  it('warns of a possible duplicate, also of the write just before', async () => {
    // The API waits long enough for its reads to include earlier writes on a busy machine.
    let shown = '';
    const patient = await startApi({
      override: ({ readModels, readModels: { queries, progress } }) => ({
        readModels: overrideOperations(readModels, {
          queries: {
            ...queries,
            shipments: overrideOperations(queries.shipments, {
              findPossibleDuplicates: async (...args) => {
                const found = await queries.shipments.findPossibleDuplicates(...args);
                const rows = await Promise.all(found.map(({ id }) => queries.shipments.getShipment(args[0], id)));
                return found.filter((_, i) => (rows[i]?.position ?? 'z') <= shown);
              },
            }),
          },
          progress: {
            ...progress,
            reached: async (model, position) => {
              const reached = await progress.reached(model, position, 60_000);
              if (reached && model === 'shipments' && position > shown) shown = position;
              return reached;
            },
          },
        }),
      }),
    });
    const writer = await patient.key('operator');
    const write = (external_id: string): Promise<ApiResponse> => {
      const json = { external_id, house_bill: 'DUP', container_numbers: ['MSKU0000006'] };
      return patient.call('POST', '/v1/shipments', { key: writer, json });
    };
    const first = await write('DUP-1');
    const shownForFirst = shown;
    const second = await write('DUP-2');
    const read = await patient.call('GET', `/v1/shipments/${String(second.body['id'])}`, { key: writer });
    await patient.stop();
    expect(first.body['warnings']).toEqual([]);
    // No known shipment has the same references, so the response waits for no read model.
    expect(shownForFirst).toBe('');
    expect(second.body['warnings']).toEqual([
      { code: 'possible_duplicate', param: 'house_bill', message: expect.stringContaining(String(first.body['id'])) },
      { code: 'possible_duplicate', param: 'container_numbers', message: expect.stringContaining('MSKU0000006') },
    ]);
    expect(read.body['external_id']).toBe('DUP-2');
    expect(read.body).not.toHaveProperty('warnings');
  });

  it('warns of a wrong check digit, and refuses it when strict', async () => {
    const json = { house_bill: 'CHECK-1', container_numbers: ['CSQU3054384'] };
    expect((await post(json)).body['warnings']).toMatchObject([
      { code: 'invalid_container_number', param: 'container_numbers[0]' },
    ]);
    const strict = await post(json, { prefer: 'handling=strict' });
    expect(strict.status).toBe(400);
    expect(strict.body['error']).toMatchObject({ param: 'container_numbers[0]' });
  });

  it('names wrong types and wrong contents of one list together, each under its index', async () => {
    const answer = await post({
      mode: 'ocean',
      container_numbers: [5, 'CSQU3054383', 'nonsense'],
      legs: [{ etd: 'soon', origin_port: '??' }, 'x', { destination_port: '!!' }],
      carrier_scac: 'TOOLONG',
    });
    expect(answer.status).toBe(400);
    const { details } = answer.body['error'] as { details: { param: string; code: string }[] };
    expect(details.map(({ param, code }) => `${param} ${code}`).sort()).toEqual([
      'carrier_scac invalid_scac',
      'container_numbers[0] invalid_type',
      'container_numbers[2] invalid_container_number',
      'legs[0].etd invalid_timestamp',
      'legs[0].origin_port invalid_port',
      'legs[1] invalid_type',
      'legs[2].destination_port invalid_port',
    ]);
  });

  it('needs a reference', async () => {
    const answer = await post({ mode: 'air' });
    expect(answer.status).toBe(400);
    expect(answer.body['error']).toMatchObject({ type: 'invalid_request', code: 'reference_required' });
  });
});

describe('GET /v1/shipments/{id}', () => {
  it('answers 304 to a tag that still fits', async () => {
    const { body, headers } = await post({ external_id: 'ETAG-1' });
    const path = `/v1/shipments/${String(body['id'])}`;
    const etag = headers.get('etag') ?? '';
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const answer = await get(path, { 'if-none-match': tag });
      expect([answer.status, answer.text, answer.headers.get('etag')]).toEqual([304, '', etag]);
    }
    expect((await get(path, { 'if-none-match': '"999"' })).status).toBe(200);
  });

  it('knows nothing of another workspace or environment', async () => {
    const { body } = await post({ external_id: 'MINE-1' });
    const path = `/v1/shipments/${String(body['id'])}`;
    const others = [await api.key('admin', 'test'), await api.key('admin', 'live', 'other')];
    for (const other of others) {
      for (const [method, where, json] of [
        ['GET', path, undefined],
        ['GET', `${path}/milestones`, undefined],
        ['POST', `${path}/milestones`, { code: 'delivered', occurred_at: '2026-01-01T00:00:00Z' }],
      ] as const) {
        const answer = await api.call(method, where, { key: other, json });
        expect(answer.status).toBe(404);
        expect(answer.body['error']).toMatchObject({ type: 'not_found', code: 'not_found' });
      }
      expect(data(await api.call('GET', '/v1/shipments', { key: other }))).toEqual([]);
    }
  });

  it('gives the same external_id of another environment a shipment of its own', async () => {
    const other = await api.key('operator', 'test');
    const mine = await post({ external_id: 'BOTH-1' });
    const theirs = await api.call('POST', '/v1/shipments', { key: other, json: { external_id: 'BOTH-1' } });
    expect(theirs.status).toBe(201);
    expect(theirs.body['id']).not.toBe(mine.body['id']);
  });
});

describe('GET /v1/shipments', () => {
  let paged: string;
  const names = Array.from({ length: 7 }, (_, i) => `PAGE-${i}`);

  beforeAll(async () => {
    paged = await api.key('operator', 'live', 'paged');
    for (const external_id of names) {
      const { body } = await api.call('POST', '/v1/shipments', { key: paged, json: { external_id } });
      if (external_id < 'PAGE-3') continue;
      await api.call('POST', `/v1/shipments/${String(body['id'])}/milestones`, {
        key: paged,
        json: { code: 'vessel_departed', occurred_at: '2026-01-01T00:00:00Z' },
      });
    }
  });
  const list = (query: string): Promise<ApiResponse> => api.call('GET', `/v1/shipments${query}`, { key: paged });
  const walk = async (query: string, limits: readonly number[]): Promise<unknown[]> => {
    const seen: unknown[] = [];
    let cursor: string | undefined;
    for (let i = 0; i < 20; i++) {
      const limit = limits[i % limits.length] ?? 1;
      const answer = await list(`?limit=${limit}${query}${cursor === undefined ? '' : `&cursor=${cursor}`}`);
      expect(answer.status).toBe(200);
      expect(data(answer).length).toBeLessThanOrEqual(limit);
      seen.push(...data(answer).map((shipment) => shipment['external_id']));
      expect(answer.body['has_more']).toBe(answer.body['next_cursor'] !== null);
      if (answer.body['next_cursor'] === null) return seen;
      cursor = String(answer.body['next_cursor']);
    }
    throw new Error('the list does not end');
  };

  it('shows own writes at once, the newest first, whatever the page size', async () => {
    const newestFirst = [...names].reverse();
    expect(await walk('', [50])).toEqual(newestFirst);
    expect(await walk('', [3])).toEqual(newestFirst);
    expect(await walk('', [1, 4, 2])).toEqual(newestFirst);
    expect(await walk('&status=in_transit,pending', [2])).toEqual(newestFirst);
  });

  it('filters by status and external_id', async () => {
    expect(await walk('&status=in_transit', [2])).toEqual(['PAGE-6', 'PAGE-5', 'PAGE-4', 'PAGE-3']);
    expect(await walk('&status=pending&external_id=PAGE-1', [2])).toEqual(['PAGE-1']);
    expect(await walk('&status=delivered', [2])).toEqual([]);
    expect(await walk('&external_id=PAGE%2D2', [2])).toEqual(['PAGE-2']);
  });

  it('takes a cursor however the same filter is spelt, and under no other', async () => {
    const first = await list('?limit=1&status=in_transit,pending');
    const cursor = String(first.body['next_cursor']);
    expect((await list(`?limit=2&cursor=${cursor}&status=pending,in_transit,pending`)).status).toBe(200);
    for (const other of ['', '&status=in_transit', '&status=pending,in_transit&external_id=PAGE-1']) {
      const answer = await list(`?cursor=${cursor}${other}`);
      expect(answer.status).toBe(400);
      expect(answer.body['error']).toMatchObject({ code: 'invalid_cursor', param: 'cursor' });
    }
    const stranger = await get(`/v1/shipments?cursor=${cursor}&status=pending,in_transit`);
    expect(stranger.status).toBe(400);
  });

  it('names every faulty parameter and what is allowed', async () => {
    const answer = await list('?status=flying&limit=0&external_id=%00');
    expect(answer.status).toBe(400);
    const { details } = answer.body['error'] as { details: { param: string; message: string }[] };
    expect(details.map(({ param }) => param).sort()).toEqual(['external_id', 'limit', 'status']);
    expect(details.find(({ param }) => param === 'status')?.message).toContain('in_transit');
    expect(details.find(({ param }) => param === 'limit')?.message).toContain('1 to 200');
  });
});

function withoutWarnings({ warnings: _, ...shipment }: JsonObject): JsonObject {
  return shipment;
}

import type { JsonObject } from '@tracking/contracts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let key: string;
/** Shipment ids by external_id. */
const shipments = new Map<string, string>();

/**
 * Shipment A has a hold, then damage. Shipment B has a wrong container number, which is resolved, then a freight hold
 * that Ann acknowledged.
 */
beforeAll(async () => {
  api = await startApi();
  key = await api.key('operator');
  for (const external_id of ['A', 'B']) {
    const { body } = await post('/v1/shipments', { external_id, mode: 'ocean' });
    shipments.set(external_id, String(body['id']));
  }
  await open('A', { type: 'terminal_hold', severity: 'high' });
  const wrong = await open('B', { type: 'other', severity: 'critical' });
  await post(`/v1/exceptions/${wrong}/resolve`, { code: 'false_positive' });
  await open('A', { type: 'cargo_damage', severity: 'low', assignee: 'bob' });
  const freight = await open('B', { type: 'freight_hold', severity: 'high' });
  await post(`/v1/exceptions/${freight}/acknowledge`, { assignee: 'ann@example.com' });
});
afterAll(() => api.stop());

const post = (path: string, json: JsonObject): Promise<ApiResponse> => api.call('POST', path, { key, json });
const list = (query = '', as = key): Promise<ApiResponse> => api.call('GET', `/v1/exceptions?${query}`, { key: as });
const types = ({ body }: ApiResponse): unknown[] => {
  expect(body['error']).toBeUndefined();
  return (body['data'] as JsonObject[]).map(({ type }) => type);
};

/** Opens an exception and returns its id. */
async function open(shipment: string, json: JsonObject): Promise<string> {
  const { status, body } = await post(`/v1/shipments/${String(shipments.get(shipment))}/exceptions`, json);
  expect(status).toBe(201);
  return String(body['id']);
}

const ALL = ['freight_hold', 'cargo_damage', 'other', 'terminal_hold'];

describe('GET /v1/exceptions', () => {
  it.each<[string, readonly string[]]>([
    ['', ALL],
    ['sort=opened_at', [...ALL].reverse()],
    ['sort=-Severity', ['other', 'terminal_hold', 'freight_hold', 'cargo_damage']],
    ['status=open', ['cargo_damage', 'terminal_hold']],
    ['status=Open,acknowledged', ['freight_hold', 'cargo_damage', 'terminal_hold']],
    ['status=open,acknowledged&sort=-severity', ['terminal_hold', 'freight_hold', 'cargo_damage']],
    ['status=resolved', ['other']],
    ['type=terminal_hold,lost', ['terminal_hold']],
    ['type=lost', []],
    ['severity=low,critical', ['cargo_damage', 'other']],
    ['severity=HIGH&status=open', ['terminal_hold']],
    ['shipment_id=SHIPMENT', ['cargo_damage', 'terminal_hold']],
    ['shipment_id=SHIPMENT&assignee=bob', ['cargo_damage']],
    ['shipment_id=shp_aaaaaaaaaaaaaaaaaaaaaaaaaa', []],
    ['assignee=ann%40example.com', ['freight_hold']],
    ['assignee=Ann%40example.com', []],
    ['unassigned=true', ['other', 'terminal_hold']],
    ['unassigned=false', ['freight_hold', 'cargo_damage']],
    ['unassigned=true&assignee=bob', []],
    ['opened_from=2100-01-01T00:00:00Z', []],
    ['opened_from=2000-01-01T00:00:00%2B01:00&opened_to=2100-01-01T00:00:00Z', ALL],
  ])('answers to %s', async (query, expected) => {
    const { status, body } = await list(query.replace('SHIPMENT', String(shipments.get('A'))));
    expect([status, body['has_more'], body['next_cursor']]).toEqual([200, false, null]);
    expect((body['data'] as JsonObject[]).map(({ type }) => type)).toEqual(expected);
  });

  it('answers each as it is now', async () => {
    const { body } = await list('type=freight_hold');
    expect(body['data']).toEqual([
      expect.objectContaining({
        id: expect.stringMatching(/^exc_/),
        shipment_id: shipments.get('B'),
        type: 'freight_hold',
        status: 'acknowledged',
        severity: 'high',
        detected_by: 'manual',
        assignee: 'ann@example.com',
        acknowledged_at: expect.any(String),
        resolved_at: null,
      }),
    ]);
  });

  it.each<[string, string, string]>([
    ['status=open,gone', 'invalid_value', 'open, acknowledged, resolved'],
    ['status=', 'invalid_value', 'open, acknowledged, resolved'],
    ['type=hold', 'invalid_value', 'eta_slip, departure_overdue'],
    ['severity=grave', 'invalid_value', 'low, medium, high, critical'],
    ['shipment_id=exc_1', 'invalid_value', 'shp_'],
    ['assignee=', 'invalid_value', 'blank'],
    ['unassigned=1', 'invalid_value', 'true, false'],
    ['opened_from=2027-01-05', 'invalid_timestamp', 'Must also have a time'],
    ['opened_to=soon', 'invalid_timestamp', 'RFC 3339'],
    ['sort=severity', 'invalid_value', '-opened_at, opened_at, -severity'],
    ['rule=eta_slip', 'unknown_parameter', 'status, type'],
    ['limit=0', 'invalid_value', '1 to 200'],
  ])('refuses %s, and says what it takes', async (query, code, told) => {
    const { status, body } = await list(query);
    expect(status).toBe(400);
    const param = query.split('=')[0];
    expect(body['error']).toMatchObject({ param, details: [{ param, code, message: expect.stringContaining(told) }] });
  });

  it('goes on under the same filter and sort, however they are spelt, and under no other', async () => {
    const first = await list('status=open,acknowledged&sort=-severity&limit=1');
    expect([types(first), first.body['has_more']]).toEqual([['terminal_hold'], true]);
    const cursor = String(first.body['next_cursor']);
    const next = await list(`limit=5&sort=-SEVERITY&status=acknowledged,open&cursor=${cursor}`);
    expect(types(next)).toEqual(['freight_hold', 'cargo_damage']);
    for (const other of ['', 'sort=-severity&', 'status=open&sort=-severity&', 'status=open,acknowledged&']) {
      const { status, body } = await list(`${other}cursor=${cursor}`);
      expect([status, body['error']]).toMatchObject([400, { code: 'invalid_cursor', param: 'cursor' }]);
    }
  });

  it('shows a client what it has written', async () => {
    const { body } = await post('/v1/shipments', { external_id: 'C', container_numbers: ['CSQU3054384'] });
    shipments.set('C', String(body['id']));
    expect(types(await list('type=invalid_container_number'))).toEqual(['invalid_container_number']);
    const [found] = (await list('type=invalid_container_number')).body['data'] as [JsonObject];
    await post(`/v1/exceptions/${String(found['id'])}/resolve`, { code: 'waived' });
    expect(types(await list('type=invalid_container_number&status=open,acknowledged'))).toEqual([]);
    expect(types(await list('type=invalid_container_number&status=resolved'))).toEqual(['invalid_container_number']);
  });
});

describe('GET /v1/shipments/{id}/exceptions', () => {
  const ofShipment = (id: string, query = '', as = key): Promise<ApiResponse> =>
    api.call('GET', `/v1/shipments/${id}/exceptions${query}`, { key: as });

  it('answers all of them, the newest first, page by page', async () => {
    const id = String(shipments.get('B'));
    expect(types(await ofShipment(id))).toEqual(['freight_hold', 'other']);
    const first = await ofShipment(id, '?limit=1');
    expect([types(first), first.body['has_more']]).toEqual([['freight_hold'], true]);
    const cursor = String(first.body['next_cursor']);
    const last = await ofShipment(id, `?cursor=${cursor}`);
    expect([types(last), last.body['has_more']]).toEqual([['other'], false]);
    const { status, body } = await ofShipment(String(shipments.get('A')), `?cursor=${cursor}`);
    expect([status, body['error']]).toMatchObject([400, { code: 'invalid_cursor' }]);
  });

  it('takes no filter, and no id of nothing', async () => {
    const { status, body } = await ofShipment(String(shipments.get('A')), '?status=open');
    expect([status, body['error']]).toMatchObject([400, { param: 'status', details: [{ code: 'unknown_parameter' }] }]);
    for (const id of ['shp_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'exc_1', '%20']) {
      expect((await ofShipment(id)).body['error']).toMatchObject({ code: 'not_found' });
    }
  });

  it('is nobody else’s, as is the list of all', async () => {
    const others = [await api.key('admin', 'test'), await api.key('admin', 'live', 'other')];
    for (const other of others) {
      expect(types(await list('', other))).toEqual([]);
      expect(types(await list(`shipment_id=${String(shipments.get('A'))}`, other))).toEqual([]);
      const answer = await ofShipment(String(shipments.get('A')), '', other);
      expect([answer.status, answer.body['error']]).toMatchObject([404, { code: 'not_found' }]);
    }
    // A viewer sees all exceptions of the shipment.
    expect(types(await ofShipment(String(shipments.get('A')), '', await api.key('viewer')))).toHaveLength(2);
  });
});

import type { JsonObject } from '@tracking/contracts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let operator: string;
let path: string;

beforeAll(async () => {
  api = await startApi();
  operator = await api.key('operator');
});
afterAll(() => api.stop());

let made = 0;
const create = (fields: JsonObject = {}): Promise<ApiResponse> =>
  api.call('POST', '/v1/shipments', { key: operator, json: { external_id: `CANCEL-${made++}`, ...fields } });
const pathOf = ({ body }: ApiResponse): string => `/v1/shipments/${String(body['id'])}`;
beforeEach(async () => {
  path = pathOf(await create({ mode: 'ocean', origin_port: 'CNSHA', destination_port: 'USLAX' }));
});

const cancel = (key = operator): Promise<ApiResponse> => api.call('POST', `${path}/cancel`, { key });
const reopen = (key = operator): Promise<ApiResponse> => api.call('POST', `${path}/reopen`, { key });
const record = (code: string, occurred_at = '2026-01-05T10:00:00Z'): Promise<ApiResponse> =>
  api.call('POST', `${path}/milestones`, { key: operator, json: { code, occurred_at } });
const get = (): Promise<ApiResponse> => api.call('GET', path, { key: operator });
const codeOf = (answer: ApiResponse): unknown => (answer.body['error'] as JsonObject)['code'];

it('cancels and reopens; repeating either returns the same and causes no event', async () => {
  await record('vessel_departed');
  const cancelled = await cancel();
  expect(cancelled.status).toBe(200);
  expect(cancelled.body).toMatchObject({ status: 'cancelled', status_milestone_id: null, warnings: [] });
  expect(cancelled.headers.get('etag')).toBe(`"${String(cancelled.body['version'])}"`);
  expect(cancelled.headers.get('consistency-token')).toMatch(/^[\w-]{20,}$/);
  const again = await cancel();
  expect([again.status, again.body]).toEqual([200, cancelled.body]);
  const { warnings: _, ...shipment } = cancelled.body;
  expect((await get()).body).toEqual(shipment);

  const reopened = await reopen();
  expect(reopened.status).toBe(200);
  expect(reopened.body).toMatchObject({ status: 'in_transit', status_milestone_id: expect.stringMatching(/^mst_/) });
  const twice = await reopen();
  expect([twice.status, twice.body]).toEqual([200, reopened.body]);
});

it('accepts an empty JSON object or no body', async () => {
  const answer = await api.call('POST', `${path}/cancel`, { key: operator, json: {} });
  expect([answer.status, answer.body['status']]).toEqual([200, 'cancelled']);
  expect((await api.call('POST', `${path}/reopen`, { key: operator })).status).toBe(200);
});

it('announces each as an update, with what was open resolved and what moved meanwhile', async () => {
  await record('customs_hold');
  await cancel();
  await record('vessel_departed');
  await reopen();
  const id = path.split('/').at(-1) ?? '';
  const { body } = await api.call('GET', `/v1/events?shipment_id=${id}`, { key: operator });
  const told = (body['data'] as { type: string; data: JsonObject }[]).map(({ type, data }) => {
    const exception = data['exception'] as JsonObject | undefined;
    const status = (data['changes'] as JsonObject | undefined)?.['status'] as { to: string } | undefined;
    const resolution = exception?.['resolution'] as JsonObject | null | undefined;
    return [type, status?.to ?? exception?.['type'], resolution?.['code']].filter(Boolean).join(' ');
  });
  expect(told).toEqual([
    'shipment.created',
    'milestone.recorded',
    'exception.opened customs_hold',
    'shipment.updated cancelled',
    'exception.resolved customs_hold shipment_cancelled',
    'milestone.recorded',
    // The departure is known, whatever the status.
    'shipment.updated',
    'exception.opened movement_after_cancel',
    'shipment.updated in_transit',
    'exception.resolved movement_after_cancel auto_cleared',
  ]);
});

it('refuses to cancel a delivered shipment', async () => {
  await record('delivered');
  const answer = await cancel();
  expect(answer.status).toBe(409);
  expect(answer.body['error']).toMatchObject({ type: 'conflict', code: 'already_delivered' });
});

it('refuses to reopen a shipment that a milestone cancels', async () => {
  await record('booking_cancelled');
  const answer = await reopen();
  expect(answer.status).toBe(409);
  expect(answer.body['error']).toMatchObject({ type: 'conflict', code: 'cancelled_by_milestone' });
  expect((await cancel()).status).toBe(200);
  await record('booking_confirmed', '2026-01-06T10:00:00Z');
  expect((await reopen()).body).toMatchObject({ status: 'booked' });
});

it('stores writes to a cancelled shipment, with a warning', async () => {
  await cancel();
  const answer = await record('delivered');
  expect(answer.status).toBe(201);
  expect(answer.body['warnings']).toMatchObject([{ code: 'shipment_cancelled' }]);
  expect((await get()).body).toMatchObject({ status: 'cancelled', last_milestone: { code: 'delivered' } });
});

it('reopening warns of what took its place, cancelling does not', async () => {
  path = pathOf(await create({ house_bill: 'HB-PLACE' }));
  await cancel();
  await create({ house_bill: 'HB-PLACE' });
  expect((await cancel()).body['warnings']).toEqual([]);
  expect((await reopen()).body['warnings']).toMatchObject([{ code: 'possible_duplicate', param: 'house_bill' }]);
});

it("requires shipments:write and a shipment of the key's workspace", async () => {
  const viewer = await api.key('viewer');
  const stranger = await api.key('operator', 'live', 'elsewhere');
  const test = await api.key('operator', 'test');
  for (const call of [cancel, reopen]) {
    expect((await call(viewer)).status).toBe(403);
    for (const key of [stranger, test]) {
      const answer = await call(key);
      expect([answer.status, codeOf(answer)]).toEqual([404, 'not_found']);
    }
  }
  path = '/v1/shipments/shp_x';
  for (const call of [cancel, reopen]) expect((await call()).status).toBe(404);
});

it('warns about unknown fields of the body, and refuses them under strict handling', async () => {
  const json = { reason: 'no longer needed' };
  const cancelled = await api.call('POST', `${path}/cancel`, { key: operator, json });
  expect(cancelled.body).toMatchObject({
    status: 'cancelled',
    warnings: [expect.objectContaining({ code: 'unknown_field', param: 'reason' })],
  });
  const headers = { prefer: 'handling=strict' };
  const refused = await api.call('POST', `${path}/reopen`, { key: operator, json, headers });
  expect([refused.status, codeOf(refused)]).toEqual([400, 'validation_failed']);
  expect((await get()).body).toMatchObject({ status: 'cancelled' });
  for (const action of ['cancel', 'reopen']) {
    const nowhere = await api.call('POST', `/v1/shipments/shp_x/${action}`, { key: operator, json, headers });
    expect(nowhere.status).toBe(400);
  }
});

import type { JsonObject } from '@tracking/contracts';
import type { ApiResponse } from './described-responses.ts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';

let api: Api;
let key: string;
let feed: string;

/** End of 9 December 2026 in Los Angeles, in Shanghai, and in UTC−12. */
const END_IN_LOS_ANGELES = '2026-12-10T07:59:59.999Z';
const END_IN_SHANGHAI = '2026-12-09T15:59:59.999Z';
const END_OF_DAY = '2026-12-10T11:59:59.999Z';

beforeAll(async () => {
  api = await startApi();
  key = await api.key('operator');
  feed = await api.key('feed');
});
afterAll(() => api.stop());

let count = 0;
/** Consistency token of the last created shipment, for requests with another key. */
let creationToken = '';
async function createShipment(fields: JsonObject = {}): Promise<JsonObject> {
  const route = { mode: 'ocean', origin_port: 'CNSHA', destination_port: 'USLAX' };
  const json = { external_id: `DAY-${++count}`, ...route, ...fields };
  const { status, headers, body } = await api.call('POST', '/v1/shipments', { key, json });
  expect(status).toBe(201);
  creationToken = headers.get('consistency-token') ?? '';
  return body;
}
/** @param reader key whose own writes the response includes */
const readShipment = async (id: unknown, reader = key): Promise<JsonObject> =>
  (await api.call('GET', `/v1/shipments/${String(id)}`, { key: reader })).body;
const post = (id: unknown, json: JsonObject): Promise<ApiResponse> =>
  api.call('POST', `/v1/shipments/${String(id)}/milestones`, { key: feed, json: { source: 'carrier', ...json } });
const details = ({ body }: ApiResponse): unknown[] =>
  ((body['error'] as JsonObject)['details'] as JsonObject[]).map(
    ({ param, code }) => `${String(param)} ${String(code)}`,
  );

describe('dates of shipments', () => {
  it('are answered as the end of the day at the port, with their precision', async () => {
    const legs = [
      { origin_port: 'CNSHA', destination_port: 'SGSIN', etd: '2026-12-09' },
      { origin_port: 'SGSIN', destination_port: 'USLAX', eta: '2026-12-09' },
    ];
    const shipment = await createShipment({ eta: '2026-12-09', legs });
    expect(shipment).toMatchObject({
      etd: END_IN_SHANGHAI,
      etd_precision: 'day',
      eta: END_IN_LOS_ANGELES,
      eta_precision: 'day',
      original_eta: END_IN_LOS_ANGELES,
      original_eta_precision: 'day',
      legs: [
        { etd: END_IN_SHANGHAI, etd_precision: 'day', eta: null, eta_precision: 'time' },
        { etd: null, etd_precision: 'time', eta: END_IN_LOS_ANGELES, eta_precision: 'day' },
      ],
    });
    const { warnings: _, ...answered } = shipment;
    expect(await readShipment(shipment['id'])).toEqual(answered);
  });

  it('can be patched, and are no change if they are sent again', async () => {
    const { id, external_id } = await createShipment({ eta: '2026-12-09T10:00:00Z' });
    const patch = (json: JsonObject) => api.call('PATCH', `/v1/shipments/${String(id)}`, { key, json });
    const { body } = await patch({ eta: '2026-12-09', destination_port: null });
    expect(body).toMatchObject({ eta: END_OF_DAY, eta_precision: 'day', original_eta_precision: 'time' });
    const again = await api.call('POST', '/v1/shipments', { key, json: { external_id, eta: '2026-12-09T10:00:00Z' } });
    expect(again.body).toMatchObject({ eta: END_OF_DAY, version: body['version'] });
    expect((await patch({ eta: '2026-12-09T10:00:00Z' })).body).toMatchObject({ eta_precision: 'time' });
  });

  it('are found by the filters of times', async () => {
    const { id } = await createShipment({ eta: '2031-03-09', carrier_scac: 'DAYS' });
    const list = async (query: string) => {
      const { body } = await api.call('GET', `/v1/shipments?carrier_scac=DAYS&${query}`, { key });
      return (body['data'] as JsonObject[]).map((each) => each['id']);
    };
    expect(await list('eta_from=2031-03-10T06:59:59.999Z')).toEqual([id]);
    expect(await list('eta_to=2031-03-10T06:59:59.998Z')).toEqual([]);
    expect(await list('sort=eta')).toEqual([id]);
  });

  it('that do not exist are refused with every other fault', async () => {
    const json = { external_id: 'DAY-X', etd: '2026-02-30', eta: '2026-12-09T10:00:00', legs: [{ eta: '2026-13-01' }] };
    const answer = await api.call('POST', '/v1/shipments', { key, json });
    expect(answer.status).toBe(400);
    expect(details(answer)).toEqual([
      'legs[0].eta invalid_timestamp',
      'etd invalid_timestamp',
      'eta invalid_timestamp',
    ]);
  });

  it('appear in events, in the history and in the ETA history', async () => {
    const { id } = await createShipment({ eta: '2026-12-09' });
    await api.call('PATCH', `/v1/shipments/${String(id)}`, { key, json: { eta: '2026-12-11' } });
    await api.call('PATCH', `/v1/shipments/${String(id)}`, { key, json: { eta: '2026-12-12T20:00:00Z' } });
    const { body: etas } = await api.call('GET', `/v1/shipments/${String(id)}/eta_history`, { key });
    expect(etas['data']).toMatchObject([
      { eta: '2026-12-12T20:00:00.000Z', eta_precision: 'time', slip_hours: 24 },
      { eta: '2026-12-12T07:59:59.999Z', eta_precision: 'day', slip_hours: 48 },
      { eta: END_IN_LOS_ANGELES, eta_precision: 'day', slip_hours: null },
    ]);
    const { body: events } = await api.call('GET', `/v1/events?shipment_id=${String(id)}`, { key });
    const snapshots = (events['data'] as { readonly data: { readonly shipment?: JsonObject } }[]).map(
      ({ data: { shipment } }) => shipment?.['eta_precision'],
    );
    expect(snapshots).toEqual(expect.arrayContaining(['day', 'time']));
    const { body: history } = await api.call('GET', `/v1/shipments/${String(id)}/history`, { key });
    const created = (history['data'] as JsonObject[]).at(-1);
    expect(created).toMatchObject({
      ...{ type: 'shipment.created', changes: { eta_precision: { from: null, to: 'day' } } },
    });
    expect(created?.['changes']).not.toHaveProperty('etd_precision');
  });
});

describe('dates of milestones', () => {
  it('set the ETA of the shipment as that day', async () => {
    const { id } = await createShipment();
    const estimate = { code: 'vessel_arrived', classifier: 'estimated', occurred_at: '2026-12-09', location: 'USLAX' };
    const answer = await post(id, estimate);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      ...{ occurred_at: END_IN_LOS_ANGELES, occurred_at_precision: 'day', timezone: 'America/Los_Angeles' },
    });
    expect((await post(id, estimate)).status).toBe(200);
    expect(await readShipment(id, feed)).toMatchObject({ eta: END_IN_LOS_ANGELES, eta_precision: 'day' });
    const { body } = await api.call('GET', `/v1/shipments/${String(id)}/milestones?classifier=all`, { key: feed });
    expect(body['data']).toMatchObject([{ occurred_at_precision: 'day' }]);
    const changed = await api.call('PATCH', `/v1/shipments/${String(id)}/milestones/${String(answer.body['id'])}`, {
      key,
      json: { occurred_at: '2026-12-10T10:00', timezone: 'location' },
    });
    expect(changed.body).toMatchObject({ occurred_at: '2026-12-10T18:00:00.000Z', occurred_at_precision: 'time' });
  });

  it('are refused if the milestone is actual', async () => {
    const { id } = await createShipment();
    const answer = await post(id, { code: 'vessel_departed', occurred_at: '2026-01-09' });
    expect(answer.status).toBe(400);
    expect(details(answer)).toEqual(['occurred_at invalid_timestamp']);
  });
});

describe('times without an offset', () => {
  const departure = { code: 'vessel_departed', occurred_at: '2026-01-09T10:30' };

  it('are read in the given time zone, or in that of the location', async () => {
    const { id } = await createShipment();
    const byName = await post(id, { ...departure, timezone: 'Asia/Shanghai', reported_at: '2026-01-09T11:00:00' });
    expect(byName.body).toMatchObject({
      ...{ occurred_at: '2026-01-09T02:30:00.000Z', reported_at: '2026-01-09T03:00:00.000Z' },
    });
    for (const location of ['CNSHA', 'Shanghai']) {
      const { body } = await post(id, {
        ...departure,
        occurred_at: '2026-01-10T10:30:00',
        location,
        timezone: 'location',
      });
      expect(body).toMatchObject({ occurred_at: '2026-01-10T02:30:00.000Z', timezone: 'Asia/Shanghai' });
    }
  });

  it('are refused without a known time zone', async () => {
    const { id } = await createShipment();
    const refusals = [
      [{}, 'occurred_at invalid_timestamp'],
      [{ timezone: 'location' }, 'timezone unknown_timezone'],
      [{ timezone: 'location', location: 'Depot 7' }, 'timezone unknown_timezone'],
      [{ timezone: 'Mars/Olympus' }, 'timezone invalid_value'],
      [{ timezone: 'Asia/Shanghai', occurred_at: '2026-01-09T24:30' }, 'occurred_at invalid_timestamp'],
    ] as const;
    for (const [fields, fault] of refusals) {
      const answer = await post(id, { ...departure, ...fields });
      expect([fields, answer.status, details(answer)[0]]).toEqual([fields, 400, fault]);
    }
  });

  it('and dates are accepted in bulk requests', async () => {
    const { id } = await createShipment({ container_numbers: ['TCLU4265691'] });
    const milestones = [
      { ...departure, container_number: 'TCLU4265691', location: 'CNSHA', timezone: 'location' },
      {
        ...{ container_number: 'TCLU4265691', code: 'vessel_arrived', classifier: 'estimated' },
        ...{ occurred_at: '2026-12-09', location: 'USLAX' },
      },
      { ...departure, container_number: 'TCLU4265691', location: 'Depot 7', timezone: 'location' },
    ];
    const headers = { 'consistency-token': creationToken };
    const { body } = await api.call('POST', '/v1/milestones/bulk', { key: feed, headers, json: { milestones } });
    expect((body['data'] as JsonObject[]).map(({ status }) => status)).toEqual([201, 201, 400]);
    expect(await readShipment(id, feed)).toMatchObject({
      ...{ atd: '2026-01-09T02:30:00.000Z', eta: END_IN_LOS_ANGELES, eta_precision: 'day' },
    });
  });
});

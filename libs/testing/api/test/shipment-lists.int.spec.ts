import type { JsonObject } from '@tracking/contracts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let key: string;

beforeAll(async () => {
  api = await startApi();
  key = await api.key('operator');
  const leg = { mode: 'ocean', vessel: 'Maersk Honam', origin_port: 'CNSHA', destination_port: 'NLRTM' };
  await post({
    external_id: 'A',
    mode: 'sea',
    house_bill: 'HBL 1',
    master_bill: 'MAEU912345678',
    booking_number: 'BKG-1',
    incoterm: 'fob',
    container_numbers: ['CSQU3054383'],
    carrier_scac: 'MAEU',
    origin_port: 'CNSHA',
    destination_port: 'NLRTM',
    eta: '2027-01-10T00:00:00Z',
    shipper: { name: 'Ärzte GmbH', external_id: 'S-1' },
    consignee: { name: 'ООО Ромашка', external_id: 'C-1' },
    references: [{ type: 'po', value: 'PO-88213' }],
    legs: [leg],
  });
  await post({ external_id: 'B', mode: 'air', eta: '2027-01-05T00:00:00Z', container_numbers: ['CSQU3054384'] });
  await post({ external_id: 'C', mode: 'truck', references: [{ type: 'x', value: 'po' }] });
  const cancelled = await post({ external_id: 'D', house_bill: 'HBL 1' });
  await api.call('POST', `/v1/shipments/${String(cancelled.body['id'])}/cancel`, { key });
});
afterAll(() => api.stop());

const post = (json: JsonObject): Promise<ApiResponse> => api.call('POST', '/v1/shipments', { key, json });
const list = (query: string): Promise<ApiResponse> => api.call('GET', `/v1/shipments?${query}`, { key });
async function found(query: string): Promise<unknown[]> {
  const answer = await list(query);
  expect(answer.body['error']).toBeUndefined();
  return (answer.body['data'] as JsonObject[]).map((shipment) => shipment['external_id']);
}

describe('GET /v1/shipments', () => {
  it.each<[string, readonly string[]]>([
    ['', ['D', 'C', 'B', 'A']],
    ['active=true', ['C', 'B', 'A']],
    ['active=FALSE', ['D']],
    ['active=true&status=cancelled', []],
    ['mode=sea', ['A']],
    ['mode=Ocean', ['A']],
    ['mode=road', ['C']],
    ['incoterm=FOB', ['A']],
    ['incoterm=fob', ['A']],
    ['incoterm=CIF', []],
    ['mode=ocean,air', ['B', 'A']],
    ['mode=TRUCK,sea,Vessel', ['C', 'A']],
    ['mode=rail,road&active=true', ['C']],
    ['mode=rail,courier', []],
    ['mode=ocean,air&incoterm=cif,Fob', ['A']],
    ['incoterm=CIF,fob', ['A']],
    ['incoterm=CIF,EXW', []],
    ['mode=air,road&status=pending,booked&sort=created_at', ['B', 'C']],
    ['house_bill=HBL%201', ['D', 'A']],
    ['house_bill=hbl%201', ['D', 'A']],
    ['house_bill=HBL-1', ['D', 'A']],
    ['house_bill=hbl1', ['D', 'A']],
    ['house_bill=HBL%2F1', []],
    ['house_bill=HBL%201&active=true', ['A']],
    ['master_bill=MAEU912345678', ['A']],
    ['booking_number=BKG-1', ['A']],
    ['reference=PO-88213', ['A']],
    ['reference=po%2088213', ['A']],
    ['shipper=S-1', ['A']],
    ['shipper=C-1', []],
    ['consignee=C-1', ['A']],
    ['container_number=csqu%20305438-3', ['A']],
    ['carrier_scac=%20ma-eu', ['A']],
    ['origin_port=cn%20sha', ['A']],
    ['destination_port=nlrtm', ['A']],
    ['has_open_exceptions=true', ['B']],
    ['has_open_exceptions=false', ['D', 'C', 'A']],
    ['eta_from=2027-01-05T00:00:00Z', ['B', 'A']],
    ['eta_from=2027-01-05T08:00:00%2B08:00&eta_to=2027-01-05T00:00:00Z', ['B']],
    ['created_from=2100-01-01T00:00:00Z', []],
    ['created_to=2100-01-01T00:00:00Z&updated_since=2000-01-01T00:00:00Z', ['D', 'C', 'B', 'A']],
    ['q=honam', ['A']],
    ['q=HON%20po-88', ['A']],
    ['q=po', ['C', 'A']],
    ['q=%C3%84RZ', ['A']],
    ['q=%D1%80%D0%BE%D0%BC', ['A']],
    ['q=csqu3', ['B', 'A']],
    ['q=po88', ['A']],
    ['q=PO%20882-13', ['A']],
    ['q=88213', ['A']],
    ['q=hbl1', ['D', 'A']],
    ['q=CSQU%20305438%203', ['A']],
    ['q=hon-am', ['A']],
    ['q=rzte', []],
    ['sort=created_at', ['A', 'B', 'C', 'D']],
    ['sort=eta', ['B', 'A', 'C', 'D']],
    ['sort=-ETA&status=pending', ['A', 'B', 'C']],
    ['sort=-updated_at', ['D', 'C', 'B', 'A']],
  ])('answers to %s', async (query, expected) => {
    const ids = await found(query);
    // Two without an ETA come in the order of their ids.
    if (query === 'sort=eta')
      expect([ids.slice(0, 2), ids.slice(2).sort()]).toEqual([
        ['B', 'A'],
        ['C', 'D'],
      ]);
    else expect(ids).toEqual(expected);
  });

  it('answers those of the ids that are named, in the order asked for', async () => {
    const { body } = await list('');
    const ids = new Map((body['data'] as JsonObject[]).map((one) => [one['external_id'], String(one['id'])]));
    const of = (...names: string[]) => names.map((name) => ids.get(name) ?? name).join(',');
    expect(await found(`id=${of('A', 'shp_none', 'C', 'A')}`)).toEqual(['C', 'A']);
    expect(await found(`id=${of('A', 'C')}&mode=sea`)).toEqual(['A']);
    expect(await found(`id=${of('A', 'B', 'C')}&mode=sea,truck`)).toEqual(['C', 'A']);
    expect(await found(`id=${of('A', 'B', 'C')}&sort=eta`)).toEqual(['B', 'A', 'C']);
    const first = await list(`id=${of('A', 'B', 'C')}&limit=2`);
    expect(first.body).toMatchObject({ has_more: true });
    expect(await found(`id=${of('C', 'B', 'A')}&limit=2&cursor=${String(first.body['next_cursor'])}`)).toEqual(['A']);
    const other = await api.key('operator', 'live', 'other');
    expect((await api.call('GET', `/v1/shipments?id=${of('A')}`, { key: other })).body['data']).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['id=', 'invalid_value', 'shp_'],
    ['id=shp_a,exc_b', 'invalid_value', 'shp_'],
    [`id=${Array.from({ length: 101 }, (_, n) => `shp_${n}`).join(',')}`, 'too_many', '100'],
    ['mode=boat', 'invalid_value', 'ocean, air, road'],
    ['incoterm=XXX', 'invalid_value', 'EXW, FCA'],
    ['mode=ocean,boat', 'invalid_value', 'ocean, air, road'],
    ['mode=ocean,', 'invalid_value', 'ocean, air, road'],
    ['mode=ocean&mode=air', 'invalid_value', 'mode=VALUE,VALUE'],
    ['incoterm=FOB,XXX', 'invalid_value', 'EXW, FCA'],
    ['incoterm=FOB&incoterm=CIF', 'invalid_value', 'incoterm=VALUE,VALUE'],
    ['status=in_transit,gone', 'invalid_value', 'pending, booked'],
    ['sort=status', 'invalid_value', 'created_at, -created_at, updated_at, -updated_at, eta, -eta'],
    ['active=1', 'invalid_value', 'true, false'],
    ['has_open_exceptions=yes', 'invalid_value', 'true, false'],
    ['container_number=12', 'invalid_container_number', 'ISO 6346'],
    ['carrier_scac=TOOLONG', 'invalid_scac', 'SCAC'],
    ['origin_port=Shanghai', 'invalid_port', 'UN/LOCODE'],
    ['destination_port=1', 'invalid_port', 'UN/LOCODE'],
    ['eta_from=2027-01-05', 'invalid_timestamp', 'Must also have a time'],
    ['eta_to=x', 'invalid_timestamp', 'RFC 3339'],
    ['created_from=2027-01-05T00:00:00', 'invalid_timestamp', 'offset'],
    ['created_to=', 'invalid_timestamp', 'RFC 3339'],
    ['updated_since=yesterday', 'invalid_timestamp', 'RFC 3339'],
    ['q=', 'invalid_value', 'blank'],
    ['q=-%20.,', 'invalid_value', 'letter or a digit'],
    ['q=1+2+3+4+5+6+7+8+9+10+11', 'invalid_value', '10'],
    ['reference=', 'invalid_value', 'blank'],
    ['limit=201', 'invalid_value', '1 to 200'],
  ])('refuses %s, and says what it takes', async (query, code, told) => {
    const { status, body } = await list(query);
    expect(status).toBe(400);
    const param = query.split('=')[0];
    expect(body['error']).toMatchObject({ param, details: [{ param, code, message: expect.stringContaining(told) }] });
  });

  it('takes ten words, the same ones however often, and values of any length', async () => {
    expect(await found(`q=${'po '.repeat(300)}`)).toEqual(['C', 'A']);
    expect(await found('q=p+po+m+ma+mae+h+hon+e+r+x')).toEqual([]);
    expect(await found(`q=${'x'.repeat(1_000)}`)).toEqual([]);
    expect((await list(`q=${'x'.repeat(1_001)}`)).status).toBe(400);
    expect(await found(`reference=${'x'.repeat(1_000)}`)).toEqual([]);
  });

  it('goes on under the same filter and sort, however they are spelt, and under no other', async () => {
    const first = await list('q=po+8821&sort=-created_at&mode=sea&limit=1');
    expect(first.body).toMatchObject({ has_more: false, next_cursor: null });
    const page = await list('sort=-eta&limit=1');
    const cursor = String(page.body['next_cursor']);
    expect(await found(`sort=-eta&limit=3&cursor=${cursor}`)).toHaveLength(3);
    for (const other of ['', 'sort=eta&', 'sort=-eta&active=true&', 'sort=-eta&q=a&', 'sort=-created_at&']) {
      const { status, body } = await list(`${other}cursor=${cursor}`);
      expect([status, body['error']]).toMatchObject([400, { code: 'invalid_cursor', param: 'cursor' }]);
    }
    const words = await list('q=csqu3+cs&limit=1');
    const next = await list(`limit=1&q=CS+CSQU3&cursor=${String(words.body['next_cursor'])}`);
    expect((next.body['data'] as JsonObject[]).map((shipment) => shipment['external_id'])).toEqual(['A']);
    const bills = await list('house_bill=HBL%201&limit=1');
    const other = await list(`house_bill=hbl-1&limit=1&cursor=${String(bills.body['next_cursor'])}`);
    expect((other.body['data'] as JsonObject[]).map((shipment) => shipment['external_id'])).toEqual(['A']);
  });
});

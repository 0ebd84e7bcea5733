import type { JsonObject } from '@tracking/contracts';
import { type Api, startApi } from './start-api.ts';

let api: Api;
let key: string;
beforeAll(async () => {
  api = await startApi();
  key = await api.key('admin');
});
afterAll(() => api.stop());

const leg = {
  ...{ mode: 'ocean', carrier_scac: 'MAEU', vessel: 'A', voyage: '1', origin_port: 'CNSHA', destination_port: 'NLRTM' },
  ...{ etd: '2026-12-01T00:00:00Z', eta: '2026-12-30T00:00:00Z' },
};
const SHIPMENT = {
  ...{ mode: 'ocean', load_type: 'fcl', house_bill: 'H', master_bill: 'M', booking_number: 'B', incoterm: 'FOB' },
  container_numbers: ['MSCU1234566'],
  ...{ carrier_scac: 'MAEU', origin_port: 'CNSHA', destination_port: 'NLRTM' },
  ...{ etd: '2026-12-01T08:00:00+08:00', eta: '2026-12-30T00:00:00Z', original_eta: '2026-12-29T00:00:00Z' },
  ...{ shipper: { name: 'Acme', external_id: 'C-1' }, consignee: { name: 'Bolt', external_id: null } },
  ...{ references: [{ type: 'po', value: '1' }], metadata: { a: '1' }, legs: [leg] },
};
const MILESTONE = { code: 'vessel_arrived', occurred_at: '2026-12-31T00:00:00Z', classifier: 'estimated', note: 'x' };
const ENDPOINT = {
  ...{ url: 'http://127.0.0.1:9999/hooks', event_types: ['*', 'shipment.created'], description: 'x' },
  ...{ headers: { 'x-a': '1' }, max_concurrency: 3, api_version: '2026-11-01' },
};

/** The path of a resource that the test creates, and the body that is sent twice. */
const PATCHES: Readonly<Record<string, () => Promise<readonly [path: string, body: object]>>> = {
  shipment: async () => [`/v1/shipments/${await create('/v1/shipments', { house_bill: 'H-1' })}`, SHIPMENT],
  container: async () => {
    const id = await create('/v1/shipments', SHIPMENT);
    const body = { size_type: '45g1', seal_number: 'S-1', last_free_day: '2026-12-31', empty_return_by: '2027-01-05' };
    return [`/v1/shipments/${id}/containers/MSCU1234566`, body];
  },
  milestone: async () => {
    const path = `/v1/shipments/${await create('/v1/shipments', { house_bill: 'H-1' })}/milestones`;
    return [`${path}/${await create(path, MILESTONE)}`, { ...MILESTONE, location: 'cn sha', vessel: 'B' }];
  },
  'webhook endpoint': async () => [
    `/v1/webhook_endpoints/${await create('/v1/webhook_endpoints', ENDPOINT)}`,
    ENDPOINT,
  ],
  'service account': async () => {
    const id = await create('/v1/service_accounts', { name: 'a', role: 'viewer' });
    return [`/v1/service_accounts/${id}`, { name: 'b', role: 'operator' }];
  },
  user: async () => {
    const id = await create('/v1/users', { email: 'a@example.com', role: 'viewer' });
    return [`/v1/users/${id}`, { name: 'Ann', role: 'operator' }];
  },
  settings: async () =>
    Promise.resolve([
      '/v1/settings',
      { exceptions: { eta_slip: { enabled: true, severity: 'high', after_hours: 30 } } },
    ]),
};

async function create(path: string, json: object): Promise<string> {
  const { status, text, body } = await api.call('POST', path, { key, json });
  if (status !== 201) throw new Error(`${status} ${text}`);
  return String(body['id']);
}

it.each(Object.entries(PATCHES))('a repeated PATCH of a %s changes nothing', async (_, prepare) => {
  const [path, json] = await prepare();
  const first = await api.call('PATCH', path, { key, json });
  expect([first.status, first.text]).toEqual([200, first.text]);
  const head = await api.head();
  const again = await api.call('PATCH', path, { key, json });
  const { warnings: _warnings, ...resource } = first.body;
  expect(again.body).toMatchObject(resource as JsonObject);
  expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
  expect(await api.head()).toBe(head);
});

it('a PATCH of a shipment with its present values changes nothing', async () => {
  const { original_eta: _, ...fields } = SHIPMENT;
  const id = await create('/v1/shipments', fields);
  const before = await api.call('GET', `/v1/shipments/${id}`, { key });
  const { body } = await api.call('PATCH', `/v1/shipments/${id}`, { key, json: fields });
  expect(body).toMatchObject({ version: before.body['version'], updated_at: before.body['updated_at'] });
});

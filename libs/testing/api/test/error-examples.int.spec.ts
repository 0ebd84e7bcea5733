import { randomUUID } from 'node:crypto';
import { ERROR_CODES, type ErrorBody, FIELD_ERROR_CODES, type FieldError, WARNING_CODES } from '@tracking/contracts';
import { replaceIdsWithPlaceholders, readErrorExampleFromDocsPage } from './documented-examples.ts';
import { type Api, type ApiTestRequest, startApi } from './start-api.ts';

type Call = readonly [method: string, path: string, options?: ApiTestRequest];
interface Example {
  readonly error: ErrorBody['error'];
}

describe('the examples of /docs/errors', () => {
  let api: Api;
  let page: string;
  let admin: string;
  let shipment: string;
  beforeAll(async () => {
    api = await startApi();
    page = (await api.call('GET', '/docs/errors')).text;
    admin = await api.key('admin', 'test');
    shipment = await create({ external_id: 'PO-1', mode: 'ocean', container_numbers: ['MSKU1234565'] });
  });
  afterAll(() => api.stop());

  const call = (method: string, path: string, options: ApiTestRequest = {}) =>
    api.call(method, path, { key: admin, ...options });
  const post = (path: string, json?: object, options: ApiTestRequest = {}) =>
    call('POST', path, { json: json ?? {}, ...options });
  const create = async (fields: object) => String((await post('/v1/shipments', fields)).body['id']);

  /** Provokes the error of each code with one request, after the requests that set up its state. */
  const PROVOKED: Readonly<Record<string, () => Promise<Call>>> = {
    validation_failed: async () => [
      'POST',
      '/v1/shipments',
      { json: { external_id: 'PO-1', mode: 'ship', etd: '2026-12-01T10:00:00' } },
    ],
    unknown_parameter: async () => ['GET', '/v1/webhook_replays?endpoint=whe_x'],
    malformed_json: async () => ['POST', '/v1/shipments', { raw: "{'external_id': 'PO-1'}" }],
    body_too_large: async () => ['POST', '/v1/shipments', { json: { shipper: 'x'.repeat(1_100_000) } }],
    unsupported_media_type: async () => [
      'POST',
      '/v1/shipments',
      { raw: 'x', headers: { 'content-type': 'text/plain' } },
    ],
    invalid_cursor: async () => ['GET', '/v1/shipments?cursor=abc'],
    invalid_consistency_token: async () => ['GET', '/v1/shipments', { headers: { 'consistency-token': '12' } }],
    method_not_allowed: async () => ['PUT', `/v1/shipments/${shipment}`],
    missing_api_key: async () => ['GET', '/v1/shipments', { key: undefined }],
    invalid_api_key: async () => ['GET', '/v1/shipments', { key: 'sk_test_x' }],
    permission_denied: async () => [
      'POST',
      '/v1/webhook_endpoints',
      { key: await api.key('viewer', 'test'), json: {} },
    ],
    not_found: async () => ['GET', '/v1/shipments/shp_aaaaaaaaaaaaaaaaaaaaaaaaaa'],
    idempotency_key_reused: async () => {
      const headers = { 'idempotency-key': randomUUID() };
      await post('/v1/shipments', { house_bill: 'HBL-900' }, { headers });
      return ['POST', '/v1/shipments', { json: { house_bill: 'HBL-901' }, headers }];
    },
    precondition_failed: async () => {
      const id = await create({ external_id: 'PO-2' });
      await call('PATCH', `/v1/shipments/${id}`, { json: { booking_number: 'B' } });
      return ['PATCH', `/v1/shipments/${id}`, { json: { booking_number: 'C' }, headers: { 'if-match': '"1"' } }];
    },
    external_id_immutable: async () => ['PATCH', `/v1/shipments/${shipment}`, { json: { external_id: 'PO-2' } }],
    reference_required: async () => ['POST', '/v1/shipments', { json: { mode: 'ocean' } }],
    already_delivered: async () => {
      const id = await create({ external_id: 'PO-3' });
      await post(`/v1/shipments/${id}/milestones`, { code: 'delivered', occurred_at: '2026-01-01T00:00:00Z' });
      return ['POST', `/v1/shipments/${id}/cancel`, { json: {} }];
    },
    cancelled_by_milestone: async () => {
      const id = await create({ external_id: 'PO-4' });
      await post(`/v1/shipments/${id}/milestones`, { code: 'booking_cancelled', occurred_at: '2026-01-01T00:00:00Z' });
      return ['POST', `/v1/shipments/${id}/reopen`, { json: {} }];
    },
    milestone_retracted: async () => {
      const { body } = await post(`/v1/shipments/${shipment}/milestones`, {
        code: 'gated_in',
        occurred_at: '2026-01-01T00:00:00Z',
      });
      await call('DELETE', `/v1/shipments/${shipment}/milestones/${String(body['id'])}`);
      return ['PATCH', `/v1/shipments/${shipment}/milestones/${String(body['id'])}`, { json: { note: 'late' } }];
    },
    milestone_exists: async () => {
      const path = `/v1/shipments/${shipment}/milestones`;
      const occurred_at = '2026-01-02T00:00:00Z';
      await post(path, { code: 'loaded_on_vessel', occurred_at, external_id: 'EV-7' });
      const { body } = await post(path, { code: 'vessel_departed', occurred_at, external_id: 'EV-8' });
      return ['PATCH', `${path}/${String(body['id'])}`, { json: { external_id: 'EV-7' } }];
    },
    exception_resolved: async () => {
      const { body } = await post(`/v1/shipments/${shipment}/exceptions`, { type: 'seal_broken' });
      await post(`/v1/exceptions/${String(body['id'])}/resolve`, { code: 'false_positive' });
      return ['POST', `/v1/exceptions/${String(body['id'])}/acknowledge`, { json: {} }];
    },
    endpoint_not_verified: async () => ['POST', `/v1/webhook_endpoints/${await endpoint()}/enable`],
    user_exists: async () => {
      await post('/v1/users', { email: 'ann@example.com', role: 'viewer' });
      return ['POST', '/v1/users', { json: { email: 'ann@example.com', role: 'viewer' } }];
    },
    invalid_credentials: async () => [
      'POST',
      '/v1/session',
      {
        key: undefined,
        json: { email: 'ann@example.com', password: 'a quiet harbour' },
        headers: { 'x-requested-with': 'test' },
      },
    ],
  };
  const endpoint = async () =>
    String((await post('/v1/webhook_endpoints', { url: 'https://example.com/hooks', event_types: ['*'] })).body['id']);

  it.each(Object.keys(PROVOKED))('%s is the response to a real request', async (code) => {
    const [method, path, options] = (await PROVOKED[code]?.()) ?? ['', ''];
    const { body, status } = await call(method, path, options);
    const shown = readErrorExampleFromDocsPage(page, code) as unknown as Example;
    expect(replaceIdsWithPlaceholders({ ...shown.error, request_id: 'req_x' })).toEqual(
      replaceIdsWithPlaceholders({ ...(body as unknown as Example).error, request_id: 'req_x' }),
    );
    expect(page).toContain(`<code>${code}</code></a> <small>${status}</small>`);
  });

  const milestone = (fields: object, key = admin): Call => [
    'POST',
    `/v1/shipments/${shipment}/milestones`,
    { key, json: { code: 'discharged', occurred_at: '2026-01-03T00:00:00Z', ...fields } },
  ];
  const upsert = (fields: object, options: ApiTestRequest = {}): Call => [
    'POST',
    '/v1/shipments',
    { json: { external_id: 'PO-1', ...fields }, ...options },
  ];
  const STRICT = { headers: { prefer: 'handling=strict' } };
  const FIELDS: Readonly<Record<string, () => Call>> = {
    required: () => milestone({ code: undefined }),
    invalid_type: () => upsert({ mode: 5 }),
    invalid_value: () => upsert({ mode: 'ship' }),
    too_many: () => [
      'POST',
      '/v1/webhook_endpoints',
      { json: { url: 'https://example.com/', event_types: Array(101).fill('shipment.created') } },
    ],
    too_long: () => [
      'PATCH',
      `/v1/shipments/${shipment}/containers/MSKU1234565`,
      { json: { seal_number: 'x'.repeat(200) } },
    ],
    unknown_field: () => upsert({ externalid: 'PO-1' }, STRICT),
    read_only_field: () => upsert({ status: 'delivered' }, STRICT),
    unknown_parameter: () => ['GET', '/v1/webhook_replays?endpoint=whe_x'],
    invalid_timestamp: () => upsert({ etd: '2026-11-02T10:30:00' }),
    invalid_date: () => [
      'PATCH',
      `/v1/shipments/${shipment}/containers/MSKU1234565`,
      { json: { last_free_day: '24.12.2026' } },
    ],
    invalid_cursor: () => ['GET', '/v1/shipments?cursor=abc'],
    invalid_container_number: () => upsert({ container_numbers: ['MSKU12345'] }),
    invalid_scac: () => upsert({ carrier_scac: 'MAERSK' }),
    invalid_port: () => upsert({ origin_port: 'Shanghai' }),
    timestamp_in_future: () => milestone({ occurred_at: '2927-01-01T00:00:00Z' }),
    unknown_timezone: () =>
      milestone({ occurred_at: '2026-01-03T00:00:00', location: 'Depot 7', timezone: 'location' }),
    unknown_code: () => milestone({ code: 'GTIN' }),
    unknown_container: () => milestone({ container_number: 'TCLU4242420' }),
    external_id_immutable: () => ['PATCH', `/v1/shipments/${shipment}`, { json: { external_id: 'PO-2' } }],
    reference_required: () => ['POST', '/v1/shipments', { json: { mode: 'ocean' } }],
  };

  it.each(Object.keys(FIELDS))('the field error %s is one of a real response', async (code) => {
    const [method, path, options] = FIELDS[code]?.() ?? ['', ''];
    const { body } = await call(method, path, options);
    expect(readErrorExampleFromDocsPage(page, `field-${code}`)).toEqual(
      (body as unknown as Example).error?.details?.find((detail: FieldError) => detail.code === code) ?? body,
    );
  });

  it('exist for all codes', () => {
    for (const code of Object.keys(ERROR_CODES))
      expect(readErrorExampleFromDocsPage(page, code)).toMatchObject({ error: { code } });
    for (const code of FIELD_ERROR_CODES)
      expect(readErrorExampleFromDocsPage(page, `field-${code}`)).toMatchObject({ code });
    for (const code of WARNING_CODES)
      expect(readErrorExampleFromDocsPage(page, `warning-${code}`)).toMatchObject({ code });
  });
});

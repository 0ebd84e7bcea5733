import type { ErrorBody, JsonObject } from '@tracking/contracts';
import { createEnabledEndpoint, startClientReceiver } from './client-endpoint.ts';
import type { ApiResponse } from './described-responses.ts';
import {
  SAMPLE_DOCUMENT_TYPE_PART,
  DocumentApiTestClient,
  SMALL_PDF,
  encodeMultipartForm,
  createFormFilePart,
} from './document-calls.ts';
import {
  expectErrorToEqualDocumentedExample,
  replaceIdsWithPlaceholders,
  readErrorExampleFromDocsPage,
} from './documented-examples.ts';
import { type Api, type ApiTestRequest, startApi } from './start-api.ts';

const OTHER_PDF = Buffer.from(String(SMALL_PDF).replace('1.7', '1.4'));
const PAST = '2026-01-01T00:00:00Z';

let api: Api;
let page: string;
let admin: string;
let documents: DocumentApiTestClient;
let shipment: string;
let receiver: Awaited<ReturnType<typeof startClientReceiver>>;
/** Milliseconds that the clock of the API is ahead. */
let ahead = 0;
beforeAll(async () => {
  api = await startApi({ override: () => ({ clock: () => new Date(Date.now() + ahead) }) });
  page = (await api.call('GET', '/docs/errors')).text;
  admin = await api.key('admin', 'test');
  documents = new DocumentApiTestClient(api, admin);
  receiver = await startClientReceiver();
  shipment = `/v1/shipments/${await create('/v1/shipments', { external_id: 'PO-1' })}`;
});
afterAll(async () => {
  await receiver.close();
  await api.stop();
});

const call = (method: string, path: string, options: ApiTestRequest = {}) =>
  api.call(method, path, { key: admin, ...options });
const post = (path: string, json: object = {}, options: ApiTestRequest = {}) =>
  call('POST', path, { json, ...options });
async function create(path: string, json: object): Promise<string> {
  const { status, text, body } = await post(path, json);
  if (status >= 300) throw new Error(`${status} ${text}`);
  return String(body['id']);
}
const errorOf = ({ body }: ApiResponse) => body['error'] as unknown as ErrorBody['error'];
const endpoint = async (): Promise<string> => {
  const { id } = await createEnabledEndpoint(api, admin, receiver.url);
  return `/v1/webhook_endpoints/${String(id)}`;
};
const uploaded = async () => `/v1/documents/${String((await documents.uploadDocument(shipment.slice(14)))['id'])}`;
const pending = (bytes?: Buffer, differing?: object) => documents.requestUpload(shipment.slice(14), bytes, differing);
const keyOf = async (fields: object) => create('/v1/api_keys', { name: 'k', environment: 'test', ...fields });
const account = () => create('/v1/service_accounts', { name: 'a', role: 'viewer' });
/** Provokes the error of each code. Numbers of bytes and names in its message may differ from the example. */
const ERRORS: Readonly<Record<string, () => Promise<ApiResponse>>> = {
  size_mismatch: async () => {
    const { id, path } = await pending(undefined, { size_bytes: SMALL_PDF.length + 1 });
    await documents.putFileToUploadUrl(path);
    return documents.callDocumentApiOperation(id, 'complete');
  },
  checksum_mismatch: async () => {
    const { id, path } = await pending();
    await documents.putFileToUploadUrl(path, OTHER_PDF);
    return documents.callDocumentApiOperation(id, 'complete');
  },
  unsupported_document_type: () =>
    documents.sendUpload(shipment.slice(14), [
      SAMPLE_DOCUMENT_TYPE_PART,
      createFormFilePart(Buffer.from('<!doctype html><html></html>')),
    ]),
  empty_file: () =>
    documents.sendUpload(shipment.slice(14), [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart(Buffer.alloc(0))]),
  malformed_multipart: () =>
    documents.sendUpload(
      shipment.slice(14),
      encodeMultipartForm([SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart()]).subarray(0, -6),
    ),
  range_not_satisfiable: async () =>
    documents.sendApiGetRequest(`${await uploaded()}/download`, { range: `bytes=${SMALL_PDF.length}-` }),
  document_not_pending: async () => {
    const { id, path } = await pending();
    await documents.putFileToUploadUrl(path);
    await documents.callDocumentApiOperation(id, 'complete');
    return documents.putFileToUploadUrl(path);
  },
  document_not_uploaded: async () => documents.sendApiGetRequest(`/v1/documents/${(await pending()).id}/download`),
  document_reviewed: async () => {
    const path = await uploaded();
    await post(`${path}/approve`);
    return post(`${path}/reject`, { reason: 'Page 2 is missing.' });
  },
  document_replaced: async () => {
    const replaces = { name: 'replaces_document_id', content: (await uploaded()).slice(14) };
    const parts = [SAMPLE_DOCUMENT_TYPE_PART, replaces, createFormFilePart()];
    await documents.sendUpload(shipment.slice(14), parts);
    return documents.sendUpload(shipment.slice(14), parts);
  },
  invalid_upload_url: async () => {
    const { path } = await pending();
    ahead = 3_600_000;
    try {
      return await documents.putFileToUploadUrl(path);
    } finally {
      ahead = 0;
    }
  },
  upload_missing: async () => documents.callDocumentApiOperation((await pending()).id, 'complete'),
  key_not_active: async () => {
    const id = await keyOf({ service_account_id: await account() });
    await post(`/v1/api_keys/${id}/revoke`);
    return post(`/v1/api_keys/${id}/rotate`);
  },
  user_not_active: async () => {
    const id = await account();
    await post(`/v1/service_accounts/${id}/deactivate`);
    return post('/v1/api_keys', { name: 'k', environment: 'test', service_account_id: id });
  },
  endpoint_not_enabled: async () => {
    const path = await endpoint();
    await post(`${path}/disable`);
    return post(`${path}/replay`, { since: PAST });
  },
  too_many_keys: async () => {
    const fields = { service_account_id: await account() };
    for (let n = 0; n < 25; n += 1) await keyOf(fields);
    return post('/v1/api_keys', { name: 'k', environment: 'test', ...fields });
  },
  no_open_shipment: () => bulkMilestone({ container_number: 'MSKU1234565' }),
  ambiguous_shipment: async () => {
    for (const house_bill of ['H-1', 'H-2'])
      await create('/v1/shipments', { house_bill, container_numbers: ['TCLU4242420'] });
    return bulkMilestone({ container_number: 'TCLU4242420' });
  },
  limit_exceeded: async () => {
    const key = await api.key('admin', 'test', 'limited');
    const json = { url: 'https://example.com/hooks', event_types: ['*'] };
    for (let n = 0; n < 50; n += 1) await post('/v1/webhook_endpoints', json, { key });
    return post('/v1/webhook_endpoints', json, { key });
  },
  invalid_session: () =>
    call('GET', '/v1/shipments', { key: undefined, headers: { cookie: '__Host-session=ses_x; session=ses_x' } }),
};
const bulkMilestone = async (reference: object): Promise<ApiResponse> => {
  const milestone = { code: 'gated_in', occurred_at: '2026-11-21T09:30:00Z', ...reference };
  const answer = await post('/v1/milestones/bulk', { milestones: [milestone] });
  const [result] = answer.body['data'] as JsonObject[];
  return { ...answer, body: { error: result?.['error'] } as JsonObject, status: Number(result?.['status']) };
};
it.each(Object.keys(ERRORS))('the example of %s is the response to a real request', async (code) => {
  expectErrorToEqualDocumentedExample(page, code, (await ERRORS[code]?.()) as ApiResponse);
});

const FIELDS: Readonly<Record<string, () => Promise<ApiResponse>>> = {
  timestamp_out_of_range: () =>
    post(`${shipment}/milestones`, { code: 'delivered', occurred_at: '1900-01-01T00:00:00Z' }),
  limit_exceeded: async () => post(`${await endpoint()}/replay`, { statuses: Array(51).fill('missed') }),
  unknown_milestone: () => post(`${shipment}/exceptions`, { type: 'other', milestone_id: `mst_${'a'.repeat(26)}` }),
  unknown_document: () =>
    documents.sendUpload(shipment.slice(14), [
      SAMPLE_DOCUMENT_TYPE_PART,
      { name: 'replaces_document_id', content: `doc_${'a'.repeat(52)}` },
      createFormFilePart(),
    ]),
};

it.each(Object.keys(FIELDS))('the example of the field error %s is one of a real response', async (code) => {
  const { details } = errorOf((await FIELDS[code]?.()) as ApiResponse);
  expect(replaceIdsWithPlaceholders(details)).toEqual([
    replaceIdsWithPlaceholders(readErrorExampleFromDocsPage(page, `field-${code}`)),
  ]);
});

const SHIPMENT = { mode: 'ocean', container_numbers: ['CSQU3054383'] };
/** Writes that are carried out with the warning of each code. */
const WARNINGS: Readonly<Record<string, () => Promise<ApiResponse>>> = {
  unknown_field: () => post('/v1/shipments', { external_id: 'W-1', externalid: 'PO-1' }),
  read_only_field: () => post('/v1/shipments', { external_id: 'W-1', status: 'delivered' }),
  header_dropped: async () => {
    const path = `/v1/webhook_endpoints/${await create('/v1/webhook_endpoints', {
      ...{ url: 'https://old.example.com/webhooks', event_types: ['*'], headers: { authorization: 'x' } },
    })}`;
    const { headers } = (await call('GET', path)).body;
    return call('PATCH', path, { json: { url: 'https://new.example.com/webhooks', headers } });
  },
  invalid_container_number: () => post('/v1/shipments', { external_id: 'W-2', container_numbers: ['MSKU1234567'] }),
  unknown_port: () => post('/v1/shipments', { external_id: 'W-3', origin_port: 'UKLON' }),
  eta_before_etd: () =>
    post('/v1/shipments', { external_id: 'W-4', etd: '2026-12-09T00:00:00Z', eta: '2026-11-02T00:00:00Z' }),
  possible_duplicate: async () => {
    await create('/v1/shipments', { external_id: 'W-5', house_bill: 'HBL123' });
    return post('/v1/shipments', { external_id: 'W-6', house_bill: 'HBL123' });
  },
  code_unusual_for_mode: async () => {
    const id = await create('/v1/shipments', { external_id: 'W-7', mode: 'air' });
    return post(`/v1/shipments/${id}/milestones`, { code: 'vessel_departed', occurred_at: PAST });
  },
  shipment_cancelled: async () => {
    const id = await create('/v1/shipments', { external_id: 'W-8' });
    await post(`/v1/shipments/${id}/cancel`);
    return post(`/v1/shipments/${id}/milestones`, { code: 'gated_in', occurred_at: PAST });
  },
  outdated_report: async () => {
    const path = `/v1/shipments/${await create('/v1/shipments', { external_id: 'W-9', ...SHIPMENT })}/milestones`;
    const report = { code: 'vessel_arrived', classifier: 'estimated', occurred_at: '2026-12-01T00:00:00Z' };
    await post(path, { ...report, reported_at: '2026-11-20T02:00:00Z' });
    return post(path, { ...report, occurred_at: '2026-12-02T00:00:00Z', reported_at: '2026-11-20T01:00:00Z' });
  },
  overridden_by_user: async () => {
    const path = `/v1/shipments/${await create('/v1/shipments', { external_id: 'W-10' })}/milestones`;
    const json = { code: 'gated_in', occurred_at: PAST, external_id: 'EV-1', source: 'carrier' };
    const feed = await api.key('feed', 'test');
    const { body } = await post(path, json, { key: feed });
    await call('PATCH', `${path}/${String(body['id'])}`, { json: { occurred_at: '2026-01-02T00:00:00Z' } });
    return post(path, json, { key: feed });
  },
};

it.each(Object.keys(WARNINGS))('the example of the warning %s is one of a real response', async (code) => {
  const { body } = (await WARNINGS[code]?.()) as ApiResponse;
  const warnings = (body['warnings'] as JsonObject[]).filter((warning) => warning['code'] === code);
  expect(replaceIdsWithPlaceholders(warnings)).toEqual([
    replaceIdsWithPlaceholders(readErrorExampleFromDocsPage(page, `warning-${code}`)),
  ]);
});

it('the description of the API has the same examples of errors', async () => {
  const { body } = await api.call('GET', '/openapi.json');
  const { examples } = body['components'] as unknown as {
    examples: Readonly<Record<string, { value: ErrorBody }>>;
  };
  const codes = Object.keys(examples).filter((name) => !name.endsWith('.problem'));
  expect(codes.length).toBeGreaterThan(50);
  for (const code of codes) {
    const shown = readErrorExampleFromDocsPage(page, code) as unknown as ErrorBody;
    expect({ ...examples[code]?.value.error, request_id: 'req_…' }).toEqual(shown.error);
  }
});

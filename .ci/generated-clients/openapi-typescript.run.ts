// Uses the API with the types that openapi-typescript generates: see .ci/generated-clients.mjs.
import type { components } from './openapi-typescript';

type Schemas = components['schemas'];
declare const process: { readonly env: Readonly<Record<string, string>> };

const { BASE_URL, API_KEY, CLIENT: name = '' } = process.env;

async function send<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const json = body && !(body instanceof FormData);
  const headers = { authorization: `Bearer ${API_KEY}`, ...(json && { 'content-type': 'application/json' }) };
  const content = body instanceof FormData ? body : body && JSON.stringify(body);
  const response = await fetch(BASE_URL + path, { method, headers, ...(content && { body: content }) });
  return (await response.json()) as Answer;
}

const create = (fields: Schemas['ShipmentFields']) =>
  send<Schemas['ShipmentWritten']>('POST', '/v1/shipments', { booking_number: name, mode: 'ocean', ...fields });
await create({ external_id: `${name}-2` });
const { id } = await create({ external_id: `${name}-1` });
const milestone: Schemas['MilestoneFields'] = { code: 'vessel_departed', occurred_at: '2026-11-02T00:00:00Z' };
await send('POST', `/v1/shipments/${id}/milestones`, milestone);
const shipment = await send<Schemas['Shipment']>('GET', `/v1/shipments/${id}`);
console.log(`${shipment.external_id} ${shipment.status}`);
const form = new FormData();
form.append('type', 'bill_of_lading' satisfies Schemas['DocumentType']);
form.append('file', new Blob(['%PDF-1.7\n%%EOF\n'], { type: 'application/pdf' }), 'bl.pdf');
const document = await send<Schemas['DocumentWritten']>('POST', `/v1/shipments/${id}/documents`, form);
console.log(`${document.file_name} ${document.status}`);
let cursor: string | null = '';
while (cursor !== null) {
  const query = new URLSearchParams({ limit: '1', booking_number: name, ...(cursor && { cursor }) });
  const page: Schemas['ShipmentPage'] = await send('GET', `/v1/shipments?${query}`);
  for (const each of page.data) console.log(each.external_id);
  cursor = page.next_cursor;
}
const { error } = await send<Schemas['ErrorResponse']>('POST', '/v1/shipments', { house_bill: '' });
console.log(error.code);
for (const { param, code } of error.details) console.log(`${param} ${code}`);

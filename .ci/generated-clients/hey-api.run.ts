// Uses the client that @hey-api/openapi-ts generates: see .ci/generated-clients.mjs.
import { addDocument, getShipment, listShipments, recordMilestone, upsertShipment } from './hey-api';
import type { ShipmentFields } from './hey-api';
import { client } from './hey-api/client.gen';

declare const process: { readonly env: Readonly<Record<string, string>> };

const { BASE_URL = '', API_KEY = '', CLIENT: name = '' } = process.env;
client.setConfig({ baseUrl: BASE_URL, auth: API_KEY });

async function create(fields: ShipmentFields): Promise<string> {
  const body: ShipmentFields = { booking_number: name, mode: 'ocean', ...fields };
  const { data } = await upsertShipment({ body, throwOnError: true });
  return data.id;
}

await create({ external_id: `${name}-2` });
const path = { id: await create({ external_id: `${name}-1` }) };
await recordMilestone({ path, body: { code: 'vessel_departed', occurred_at: '2026-11-02T00:00:00Z' } });
const { data: shipment } = await getShipment({ path, throwOnError: true });
console.log(`${shipment.external_id} ${shipment.status}`);
const file = new File(['%PDF-1.7\n%%EOF\n'], 'bl.pdf', { type: 'application/pdf' });
const { data: document } = await addDocument({ path, body: { type: 'bill_of_lading', file }, throwOnError: true });
console.log(`${document.file_name} ${document.status}`);
let cursor: string | null | undefined;
do {
  const query = { limit: 1, booking_number: name, ...(cursor && { cursor }) };
  const { data: page } = await listShipments({ query, throwOnError: true });
  for (const each of page.data) console.log(each.external_id);
  cursor = page.next_cursor;
} while (cursor !== null);
const { error: refused } = await upsertShipment({ body: { house_bill: '' } });
if (!refused) throw new Error('not refused');
console.log(refused.error.code);
for (const { param, code } of refused.error.details) console.log(`${param} ${code}`);

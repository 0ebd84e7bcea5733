// Uses the client that OpenAPI Generator generates for TypeScript with axios: see .ci/generated-clients.mjs.
import axios from 'axios';
import { Configuration, DocumentsApi, MilestonesApi, ShipmentsApi } from './typescript-axios';
import type { ErrorResponse, ShipmentFields } from './typescript-axios';

declare const process: { readonly env: Readonly<Record<string, string>> };

const { BASE_URL = '', API_KEY = '', CLIENT: name = '' } = process.env;
const configuration = new Configuration({ basePath: BASE_URL, accessToken: API_KEY });
const http = axios.create({ proxy: false });
const shipments = new ShipmentsApi(configuration, BASE_URL, http);

async function create(fields: ShipmentFields): Promise<string> {
  const { data } = await shipments.upsertShipment({ booking_number: name, mode: 'ocean', ...fields });
  return data.id;
}

await create({ external_id: `${name}-2` });
const id = await create({ external_id: `${name}-1` });
const milestone = { code: 'vessel_departed', occurred_at: '2026-11-02T00:00:00Z' } as const;
await new MilestonesApi(configuration, BASE_URL, http).recordMilestone(id, milestone);
const { data: shipment } = await shipments.getShipment(id);
console.log(`${shipment.external_id} ${shipment.status}`);
const file = new File(['%PDF-1.7\n%%EOF\n'], 'bl.pdf', { type: 'application/pdf' });
const documents = new DocumentsApi(configuration, BASE_URL, http);
const { data: document } = await documents.addDocument(id, 'bill_of_lading', file);
console.log(`${document.file_name} ${document.status}`);
let cursor: string | undefined;
do {
  const { data: page } = await shipments.listShipments(
    1,
    cursor,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    name,
  );
  for (const each of page.data) console.log(each.external_id);
  cursor = page.next_cursor ?? undefined;
} while (cursor !== undefined);
const refused = await shipments.upsertShipment({ house_bill: '' }).catch((error: unknown) => error);
if (!axios.isAxiosError<ErrorResponse>(refused) || !refused.response) throw refused;
const { error } = refused.response.data;
console.log(error.code);
for (const { param, code } of error.details) console.log(`${param} ${code}`);

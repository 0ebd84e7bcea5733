import { randomUUID } from 'node:crypto';
import { DEFAULT_RULE_SETTINGS, type ExplainedException, type ShipmentException } from '@tracking/contracts';
import { eventually } from '@tracking/testing';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';

const PDF = Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n');

let api: Api;
let key: string;
beforeAll(async () => {
  api = await startApi();
  key = await api.key('admin');
});
afterAll(() => api.stop());

async function shipment(fields: object): Promise<string> {
  const json = { external_id: randomUUID(), mode: 'ocean', ...fields };
  const { status, body } = await api.call('POST', '/v1/shipments', { key, json });
  expect(status).toBe(201);
  return String(body['id']);
}

async function add(of: string, type: string): Promise<string> {
  const form = new FormData();
  form.set('type', type);
  form.set('file', new Blob([new Uint8Array(PDF)]), 'a.pdf');
  const sent = new Response(form);
  const headers = { 'content-type': String(sent.headers.get('content-type')) };
  const raw = new Uint8Array(await sent.arrayBuffer());
  const { status, body } = await api.call('POST', `/v1/shipments/${of}/documents`, { key, headers, raw });
  expect(status).toBe(201);
  return String(body['id']);
}

async function review(id: string, verdict: 'approve' | 'reject'): Promise<void> {
  const json = verdict === 'reject' ? { reason: 'Not readable.' } : {};
  expect((await api.call('POST', `/v1/documents/${id}/${verdict}`, { key, json })).status).toBe(200);
}

async function listed(of: string, status: string): Promise<readonly ShipmentException[]> {
  const { body } = await api.call('GET', `/v1/exceptions?shipment_id=${of}&status=${status}`, { key });
  return body['data'] as unknown as readonly ShipmentException[];
}

async function explained(of: string): Promise<readonly ExplainedException[]> {
  const { body } = await api.call('GET', `/v1/shipments/${of}/explanation`, { key });
  return body['exceptions'] as unknown as readonly ExplainedException[];
}

it('a rejection opens an exception that an approved document of the same type resolves', async () => {
  const id = await shipment({});
  const bill = await add(id, 'bill_of_lading');
  await review(bill, 'reject');
  const [opened, ...others] = await listed(id, 'open');
  expect(others).toEqual([]);
  expect(opened).toMatchObject({
    ...{ type: 'document_rejected', severity: 'medium', detected_by: 'system', metrics: { document_ids: [bill] } },
    detail: 'Rejected: bill_of_lading (Not readable.).',
  });
  const told = (await explained(id)).find(({ type }) => type === 'document_rejected');
  expect(told).toMatchObject({
    exception_id: opened?.id,
    status: 'open',
    resolved_by: [{ by: 'document_approved', document_types: ['bill_of_lading'] }],
  });
  await review(await add(id, 'bill_of_lading'), 'approve');
  expect(await listed(id, 'open')).toEqual([]);
  expect(await listed(id, 'resolved')).toMatchObject([{ id: opened?.id, resolution: { code: 'auto_cleared' } }]);
  const { body } = await api.call('GET', `/v1/shipments/${id}`, { key });
  expect(body).toMatchObject({ documents_count: 2, open_exceptions_count: 0 });
});

it('a missing required type opens an exception near the ETA, and an upload resolves it', async () => {
  const json = { required_documents: { ocean: ['packing_list'] } };
  expect((await api.call('PATCH', '/v1/settings', { key, json })).status).toBe(200);
  const hours = Number(DEFAULT_RULE_SETTINGS.exceptions.missing_document.before_hours);
  const eta = new Date(Date.now() + (hours - 1) * 3_600_000).toISOString();
  // Each replica goes by other settings within seconds.
  const id = await eventually(async () => {
    const made = await shipment({ eta });
    expect(await listed(made, 'open')).toMatchObject([
      { type: 'missing_document', metrics: { missing: ['packing_list'], eta } },
    ]);
    return made;
  });
  const told = (await explained(id)).find(({ type }) => type === 'missing_document');
  expect(told).toMatchObject({
    status: 'open',
    resolved_by: [{ by: 'document_uploaded', document_types: ['packing_list'] }, { by: 'field_changed' }],
  });
  await add(id, 'packing_list');
  expect(await listed(id, 'resolved')).toMatchObject([{ type: 'missing_document' }]);
});

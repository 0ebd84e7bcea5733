import { createHash, randomUUID } from 'node:crypto';
import type { JsonObject } from '@tracking/contracts';
import { startApi } from './start-api.ts';
import type { Answer, Api } from './start-api.ts';

const PDF = Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n');

let api: Api;
let key: string;
let shipment: string;
beforeAll(async () => {
  api = await startApi();
  key = await api.key('operator');
});
afterAll(() => api.stop());
beforeEach(async () => {
  const made = await api.call('POST', '/v1/shipments', { key, json: { external_id: randomUUID() } });
  shipment = String(made.body['id']);
});

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function add(fields: Readonly<Record<string, string>>, bytes = PDF, name = 'invoice.pdf'): Promise<Answer> {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  form.set('file', new Blob([new Uint8Array(bytes)]), name);
  const sent = new Response(form);
  const headers = { 'content-type': String(sent.headers.get('content-type')) };
  const raw = new Uint8Array(await sent.arrayBuffer());
  return api.call('POST', `/v1/shipments/${shipment}/documents`, { key, headers, raw });
}

describe('a document that is sent with its fields', () => {
  it('is stored, shown, listed and downloaded', async () => {
    const { status, headers, body } = await add({ type: 'commercial_invoice' });
    expect({ status, body }).toEqual({
      status: 201,
      body: expect.objectContaining({
        shipment_id: shipment,
        type: 'commercial_invoice',
        status: 'uploaded',
        file_name: 'invoice.pdf',
        content_type: 'application/pdf',
        size_bytes: PDF.length,
        checksum_sha256: sha256(PDF),
        warnings: [],
      }) as JsonObject,
    });
    const id = String(body['id']);
    expect(headers.get('location')).toBe(`https://api.example/v1/documents/${id}`);
    const { warnings: _, ...document } = body;
    expect((await api.call('GET', `/v1/documents/${id}`, { key })).body).toEqual(document);
    const { body: list } = await api.call('GET', `/v1/shipments/${shipment}/documents`, { key });
    expect(list['data']).toEqual([document]);
    const download = await api.call('GET', `/v1/documents/${id}/download`, { key });
    expect([download.status, download.text]).toEqual([200, PDF.toString()]);
    expect(Object.fromEntries(download.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': String(PDF.length),
      'content-disposition': 'attachment; filename="invoice.pdf"',
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      etag: `"${sha256(PDF)}"`,
    });
  });
});

describe('a file whose name is refused before a byte of it is read', () => {
  it('ends as a refusal, and not the process with it', async () => {
    // Nobody listens to its stream then: an error of it that nobody catches fails this suite.
    const { status, body } = await add({ type: 'photo' }, PDF, 'a\0b');
    expect([status, body['error']]).toEqual([400, expect.objectContaining({ param: 'file' })]);
    expect((await api.call('GET', `/v1/shipments/${shipment}/documents`, { key })).body['data']).toEqual([]);
  });
});

describe('a document that is sent to a URL of its own', () => {
  it('is whole when that is said', async () => {
    const json = {
      type: 'photo',
      file_name: 'x.pdf',
      content_type: 'application/pdf',
      size_bytes: PDF.length,
      checksum_sha256: sha256(PDF),
    };
    const { status, body } = await api.call('POST', `/v1/shipments/${shipment}/documents/uploads`, { key, json });
    expect([status, body['status']]).toEqual([201, 'pending_upload']);
    const { url, headers } = body['upload'] as { url: string; headers: { 'Content-Type': string } };
    const path = url.replace('https://api.example', '');
    const put = await api.call('PUT', path, {
      headers: { 'content-type': headers['Content-Type']! },
      raw: new Uint8Array(PDF),
    });
    expect([put.status, put.text]).toEqual([204, '']);
    const complete = await api.call('POST', `/v1/documents/${String(body['id'])}/complete`, { key });
    expect([complete.status, complete.body['status']]).toEqual([200, 'uploaded']);
    const again = await api.call('PUT', path, { raw: new Uint8Array(PDF) });
    expect([again.status, again.body]).toMatchObject([409, { error: { code: 'document_not_pending' } }]);
  });
});

import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@tracking/contracts';
import { eventually } from '@tracking/testing';
import { DocumentApiTestClient, SMALL_PDF, sendRawRequest, sha256 } from './document-calls.ts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let calls: DocumentApiTestClient;
let shipment: string;
let before: number;
/** How far the clock of the edge is ahead, in milliseconds. */
let ahead = 0;
beforeAll(async () => {
  api = await startApi({ override: () => ({ clock: () => new Date(Date.now() + ahead) }) });
  calls = new DocumentApiTestClient(api, await api.key('operator'));
});
afterAll(() => api.stop());
beforeEach(async () => {
  ahead = 0;
  shipment = await calls.createShipment();
  before = await calls.countStoredObjects();
});

const codeOf = ({ body }: ApiResponse) => (body['error'] as JsonObject | undefined)?.['code'];

it('accepts bytes without a key, and creates the document on completion', async () => {
  const { id, path, body } = await calls.requestUpload(shipment);
  expect(body).toMatchObject({
    status: 'pending_upload',
    download_url: null,
    size_bytes: SMALL_PDF.length,
    warnings: [],
  });
  expect(body['upload']).toMatchObject({ method: 'PUT', headers: { 'Content-Type': 'application/pdf' } });
  expect(codeOf(await calls.callDocumentApiOperation(id, 'complete'))).toBe('upload_missing');
  const put = await calls.putFileToUploadUrl(path);
  expect([put.status, put.text]).toEqual([204, '']);
  expect(codeOf(await calls.sendApiGetRequest(`/v1/documents/${id}/download`))).toBe('document_not_uploaded');
  const complete = await calls.callDocumentApiOperation(id, 'complete');
  expect([complete.status, complete.body['status']]).toEqual([200, 'uploaded']);
  expect((await calls.callDocumentApiOperation(id, 'complete')).status).toBe(200);
  expect((await calls.sendApiGetRequest(`/v1/documents/${id}/download`)).text).toBe(SMALL_PDF.toString());
  const late = await calls.putFileToUploadUrl(path);
  expect([late.status, codeOf(late), await calls.countStoredObjects()]).toEqual([
    409,
    'document_not_pending',
    before + 1,
  ]);
});

it.each(['application/json', 'multipart/form-data; boundary=b', 'nonsense', undefined])(
  'takes bytes that are called %s',
  async (type) => {
    const { path } = await calls.requestUpload(shipment);
    const { statusCode } = await api.inject({
      method: 'PUT',
      url: path,
      payload: SMALL_PDF,
      ...(type !== undefined && { headers: { 'content-type': type } }),
    });
    expect(statusCode).toBe(204);
  },
);

it('keeps only the last bytes', async () => {
  const { id, path } = await calls.requestUpload(shipment);
  await calls.putFileToUploadUrl(path, SMALL_PDF.subarray(0, 20));
  await calls.putFileToUploadUrl(path);
  expect(await calls.countStoredObjects()).toBe(before + 1);
  expect((await calls.callDocumentApiOperation(id, 'complete')).body).toMatchObject({
    checksum_sha256: sha256(SMALL_PDF),
  });
});

it('keeps only the last bytes of parallel uploads', async () => {
  const { id, path } = await calls.requestUpload(shipment);
  const statuses = await Promise.all([1, 2, 3, 4].map(async () => (await calls.putFileToUploadUrl(path)).status));
  expect(statuses).toEqual([204, 204, 204, 204]);
  expect(await calls.countStoredObjects()).toBe(before + 1);
  expect((await calls.callDocumentApiOperation(id, 'complete')).status).toBe(200);
  expect((await calls.sendApiGetRequest(`/v1/documents/${id}/download`)).text).toBe(SMALL_PDF.toString());
});

it('stores and reports nothing again when the same bytes are sent', async () => {
  const { id, path } = await calls.requestUpload(shipment);
  await calls.putFileToUploadUrl(path);
  const [head, kept] = [await api.head(), await calls.listObjectFiles()];
  expect((await calls.putFileToUploadUrl(path)).status).toBe(204);
  expect([await api.head(), await calls.listObjectFiles()]).toEqual([head, kept]);
  expect((await calls.callDocumentApiOperation(id, 'complete')).status).toBe(200);
  expect((await calls.sendApiGetRequest(`/v1/documents/${id}/download`)).text).toBe(SMALL_PDF.toString());
});

/** Loses the objects that were stored since then. */
async function lose(since: readonly string[]): Promise<void> {
  const came = (await calls.listObjectFiles()).filter((name) => !since.includes(name));
  expect(came).toHaveLength(1);
  await Promise.all(came.map((name) => api.dependencies.objects.deleteObject(name)));
}

it('is not complete if its bytes are lost, and accepts them again', async () => {
  const { id, path } = await calls.requestUpload(shipment);
  const since = await calls.listObjectFiles();
  await calls.putFileToUploadUrl(path);
  await lose(since);
  const refused = await calls.callDocumentApiOperation(id, 'complete');
  expect([refused.status, codeOf(refused)]).toEqual([409, 'upload_missing']);
  expect((await calls.sendApiGetRequest(`/v1/documents/${id}`)).body['status']).toBe('pending_upload');
  expect((await calls.putFileToUploadUrl(path)).status).toBe(204);
  expect((await calls.callDocumentApiOperation(id, 'complete')).status).toBe(200);
  expect((await calls.sendApiGetRequest(`/v1/documents/${id}/download`)).text).toBe(SMALL_PDF.toString());
});

it('stays complete even if its bytes are lost later', async () => {
  const { id, path } = await calls.requestUpload(shipment);
  const since = await calls.listObjectFiles();
  await calls.putFileToUploadUrl(path);
  const complete = await calls.callDocumentApiOperation(id, 'complete');
  await lose(since);
  const again = await calls.callDocumentApiOperation(id, 'complete');
  expect([again.status, again.body]).toEqual([200, complete.body]);
});

it('accepts 20 attempts a minute for one document', async () => {
  const [one, two] = [await calls.requestUpload(shipment), await calls.requestUpload(shipment)];
  for (let time = 0; time < 21; time += 1) await calls.putFileToUploadUrl(`${one.path}x`);
  const statuses: number[] = [];
  for (let time = 0; time < 20; time += 1) {
    statuses.push((await calls.putFileToUploadUrl(one.path, time % 2 === 0 ? SMALL_PDF : Buffer.alloc(0))).status);
  }
  expect(new Set(statuses)).toEqual(new Set([204, 400]));
  const [head, kept] = [await api.head(), await calls.listObjectFiles()];
  const refused = await calls.putFileToUploadUrl(one.path, SMALL_PDF.subarray(0, 20));
  expect([refused.status, codeOf(refused)]).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect([await api.head(), await calls.listObjectFiles()]).toEqual([head, kept]);
  expect((await calls.putFileToUploadUrl(two.path)).status).toBe(204);
});

it('is complete only with the declared bytes', async () => {
  const short = await calls.requestUpload(shipment);
  await calls.putFileToUploadUrl(short.path, SMALL_PDF.subarray(0, 20));
  const other = await calls.requestUpload(shipment, SMALL_PDF, { checksum_sha256: 'A'.repeat(64) });
  await calls.putFileToUploadUrl(other.path);
  const refused = [
    await calls.callDocumentApiOperation(short.id, 'complete'),
    await calls.callDocumentApiOperation(other.id, 'complete'),
  ];
  expect(refused.map((each) => [each.status, codeOf(each)])).toEqual([
    [400, 'size_mismatch'],
    [400, 'checksum_mismatch'],
  ]);
  expect((await calls.sendApiGetRequest(`/v1/documents/${short.id}`)).body['status']).toBe('pending_upload');
  await calls.putFileToUploadUrl(short.path);
  expect((await calls.callDocumentApiOperation(short.id, 'complete')).status).toBe(200);
});

it('writes only its document, until it expires, and yields no other URL', async () => {
  const [one, two] = [await calls.requestUpload(shipment), await calls.requestUpload(shipment)];
  const [path = '', token = ''] = one.path.split('?token=');
  const grant = Buffer.from(token, 'base64url');
  const longer = Buffer.from(grant.toString('latin1').replace('2026', '2099').replace('2027', '2099'), 'latin1');
  const forged = [
    `${two.path.split('?', 1)[0] ?? ''}?token=${token}`,
    `${path}?token=${longer.toString('base64url')}`,
    `${path}?token=${token}x`,
    `${path}?token=`,
    `${path}?token=${'x'.repeat(5_000)}`,
    path,
  ];
  for (const each of forged) {
    const answer = await calls.putFileToUploadUrl(each);
    expect([each, answer.status, codeOf(answer)]).toEqual([each, 403, 'invalid_upload_url']);
    expect(answer.text).not.toContain(token);
  }
  ahead = 15 * 60_000 + 1_000;
  const expired = await calls.putFileToUploadUrl(one.path);
  expect([expired.status, codeOf(expired), await calls.countStoredObjects()]).toEqual([
    403,
    'invalid_upload_url',
    before,
  ]);
});

it('is signed again when the request is repeated with its Idempotency-Key', async () => {
  const headers = { 'idempotency-key': randomUUID() };
  const first = await calls.requestUpload(shipment, SMALL_PDF, {}, headers);
  ahead = 20 * 60_000;
  const repeat = await calls.requestUpload(shipment, SMALL_PDF, {}, headers);
  expect(repeat.id).toBe(first.id);
  expect((await calls.putFileToUploadUrl(first.path)).status).toBe(403);
  expect((await calls.putFileToUploadUrl(repeat.path)).status).toBe(204);
  expect((await calls.callDocumentApiOperation(first.id, 'complete')).body['status']).toBe('uploaded');
});

it('allows nothing else, and does not complete other documents', async () => {
  const { id, path } = await calls.requestUpload(shipment);
  await calls.putFileToUploadUrl(path);
  const token = path.replace(/^.*token=/, '');
  expect((await api.call('GET', `/v1/documents/${id}`, { key: token })).status).toBe(401);
  for (const [environment, workspace] of [
    ['live', 'another'],
    ['test', 'default'],
  ] as const) {
    const stranger = new DocumentApiTestClient(api, await api.key('operator', environment, workspace));
    expect((await stranger.callDocumentApiOperation(id, 'complete')).status).toBe(404);
  }
  const viewer = new DocumentApiTestClient(api, await api.key('viewer'));
  expect((await viewer.callDocumentApiOperation(id, 'complete')).status).toBe(403);
});

it('accepts no bytes for a deleted document, and destroys received ones', async () => {
  const { id, path } = await calls.requestUpload(shipment);
  await calls.putFileToUploadUrl(path);
  expect(await calls.countStoredObjects()).toBe(before + 1);
  expect((await api.call('DELETE', `/v1/documents/${id}`, { key: calls.key })).status).toBe(200);
  expect([codeOf(await calls.putFileToUploadUrl(path)), await calls.countStoredObjects()]).toEqual([
    'document_not_pending',
    before,
  ]);
});

it.each<[string, Buffer, number, string]>([
  ['more than was told', Buffer.concat([SMALL_PDF, SMALL_PDF]), 413, 'body_too_large'],
  ['nothing', Buffer.alloc(0), 400, 'empty_file'],
  ['a page', Buffer.from('<html><p>x'), 400, 'unsupported_document_type'],
])('keeps nothing of %s', async (_, bytes, status, code) => {
  const { id, path } = await calls.requestUpload(shipment);
  const answer = await calls.putFileToUploadUrl(path, bytes);
  expect([answer.status, codeOf(answer), await calls.countStoredObjects()]).toEqual([status, code, before]);
  expect(codeOf(await calls.callDocumentApiOperation(id, 'complete'))).toBe('upload_missing');
});

const head = (path: string, more: string) => `PUT ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n\r\n`;

it('refuses files that are declared too large, or turn out to be too large', async () => {
  const { path } = await calls.requestUpload(shipment);
  expect(await sendRawRequest(api, head(path, 'Content-Length: 999999999'))).toMatch(/^HTTP\/1.1 413 /);
  const endless = `${head(path, 'Transfer-Encoding: chunked')}1000\r\n${'x'.repeat(4_096)}\r\n`;
  expect(await sendRawRequest(api, endless)).toMatch(/^HTTP\/1.1 413 /);
  expect(await calls.countStoredObjects()).toBe(before);
});

it('keeps nothing of an interrupted upload', async () => {
  const { path } = await calls.requestUpload(shipment);
  await sendRawRequest(api, `${head(path, `Content-Length: ${SMALL_PDF.length}`)}%PDF-1.7`, () =>
    eventually(async () => expect(await calls.countStoredObjects()).toBe(before + 1)),
  );
  await eventually(async () => expect(await calls.countStoredObjects()).toBe(before));
});

it.each<[string, object, number, string]>([
  ['too large', { size_bytes: 250 * 1_048_576 + 1 }, 413, 'body_too_large'],
  ['empty', { size_bytes: 0 }, 400, 'validation_failed'],
  ['of a type that is not taken', { content_type: 'text/html' }, 400, 'validation_failed'],
  ['with a checksum that is none', { checksum_sha256: 'x' }, 400, 'validation_failed'],
  ['without a name', { file_name: 'a/' }, 400, 'validation_failed'],
])('creates no URL for a file that is %s', async (_, differing, status, code) => {
  const head = await api.head();
  const json = {
    type: 'photo',
    file_name: 'a.pdf',
    content_type: 'application/pdf',
    size_bytes: 1,
    checksum_sha256: sha256(SMALL_PDF),
    ...differing,
  };
  const answer = await api.call('POST', `/v1/shipments/${shipment}/documents/uploads`, { key: calls.key, json });
  expect([answer.status, codeOf(answer), await api.head()]).toEqual([status, code, head]);
});

it('never logs its token', async () => {
  const { path } = await calls.requestUpload(shipment);
  const token = path.replace(/^.*token=/, '');
  await calls.putFileToUploadUrl(path);
  await calls.putFileToUploadUrl(`${path}&more=1`);
  await api.call('POST', path);
  expect(JSON.stringify(api.lines)).not.toContain(token.slice(0, 30));
});

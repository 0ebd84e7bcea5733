import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { JsonObject } from '@tracking/contracts';
import type { ObjectStore } from '@tracking/ports';
import { eventually } from '@tracking/testing';
import {
  DocumentApiTestClient,
  SMALL_PDF,
  SAMPLE_DOCUMENT_TYPE_PART,
  createFormFilePart,
  sha256,
} from './document-calls.ts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let calls: DocumentApiTestClient;
let path: string;
const ETAG = `"${sha256(SMALL_PDF)}"`;
beforeAll(async () => {
  api = await startApi();
  calls = new DocumentApiTestClient(api, await api.key('operator'));
  const file = { ...createFormFilePart(), fileName: 'filename="Rechnung Nº 5 – 請求書.pdf"' };
  const { id } = await calls.uploadDocument(await calls.createShipment(), [SAMPLE_DOCUMENT_TYPE_PART, file]);
  path = `/v1/documents/${String(id)}/download`;
});
afterAll(() => api.stop());

const codeOf = ({ body }: ApiResponse) => (body['error'] as JsonObject | undefined)?.['code'];
const textOf = (start: number, end = SMALL_PDF.length) => SMALL_PDF.toString('latin1', start, end);

it('is an attachment with its file name in any script', async () => {
  const { status, text, headers } = await calls.sendApiGetRequest(path);
  expect([status, text]).toEqual([200, textOf(0)]);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'application/pdf',
    'content-length': String(SMALL_PDF.length),
    'content-disposition': `attachment; filename="Rechnung N_ 5 _ ___.pdf"; filename*=UTF-8''Rechnung%20N%C2%BA%205%20%E2%80%93%20%E8%AB%8B%E6%B1%82%E6%9B%B8.pdf`,
    'x-content-type-options': 'nosniff',
    'accept-ranges': 'bytes',
    etag: ETAG,
  });
});

it.each([
  ['page.html', 'page.html.txt'],
  ['run.BAT. .', 'run.BAT.txt'],
  ...['vbs', 'js', 'url', 'lnk', 'ps1', 'reg', 'wsf'].map((ending) => [`run.${ending}`, `run.${ending}.txt`]),
  ['Notes.TXT', 'Notes.TXT'],
  ['notes', 'notes.txt'],
  ['.txt', '.txt.txt'],
  [`${'n'.repeat(251)}.exe`, `${'n'.repeat(251)}.txt`],
])('is named by its type: %s', async (fileName, saved) => {
  const parts = [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart(Buffer.from('a text'), fileName)];
  const { id, file_name } = await calls.uploadDocument(await calls.createShipment(), parts);
  expect(file_name).toBe(fileName);
  const { headers } = await calls.sendApiGetRequest(`/v1/documents/${String(id)}/download`);
  expect(headers.get('content-disposition')).toBe(`attachment; filename="${saved}"`);
});

it('returns every single range exactly', async () => {
  const last = SMALL_PDF.length - 1;
  const ranges: readonly (readonly [string, number, number])[] = [
    ['bytes=0-0', 0, 1],
    ['bytes=1-3', 1, 4],
    [`bytes=${last}-`, last, last + 1],
    [`bytes=5-${last + 100}`, 5, last + 1],
    ['bytes=-1', last, last + 1],
    ['bytes=-7', last - 6, last + 1],
    ['bytes=-9999', 0, last + 1],
  ];
  for (const [range, start, end] of ranges) {
    const { status, text, headers } = await calls.sendApiGetRequest(path, { range });
    expect([range, status, text]).toEqual([range, 206, textOf(start, end)]);
    expect(headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${SMALL_PDF.length}`);
    expect(headers.get('content-length')).toBe(String(end - start));
  }
});

it('returns all bytes for several ranges or an invalid one', async () => {
  for (const range of ['bytes=0-1,4-5', 'bytes=5-4', 'lines=1-2']) {
    expect((await calls.sendApiGetRequest(path, { range })).status).toBe(200);
  }
});

it('returns the size for a range after the end', async () => {
  const { status, headers, body } = await calls.sendApiGetRequest(path, { range: `bytes=${SMALL_PDF.length}-` });
  expect([status, codeOf({ body } as ApiResponse)]).toEqual([416, 'range_not_satisfiable']);
  expect(headers.get('content-range')).toBe(`bytes */${SMALL_PDF.length}`);
  expect(headers.get('content-disposition')).toBeNull();
});

it('returns a range if If-Range matches, else all bytes', async () => {
  const range = 'bytes=0-1';
  expect((await calls.sendApiGetRequest(path, { range, 'if-range': ETAG })).status).toBe(206);
  for (const other of ['"other"', `W/${ETAG}`, 'Mon, 23 Nov 2026 10:00:00 GMT']) {
    expect((await calls.sendApiGetRequest(path, { range, 'if-range': other })).status).toBe(200);
  }
});

it('returns 304 to a matching If-None-Match', async () => {
  for (const known of [ETAG, '*', `"x", W/${ETAG}`]) {
    const { status, text, headers } = await calls.sendApiGetRequest(path, {
      'if-none-match': known,
      range: 'bytes=0-1',
    });
    expect([status, text, headers.get('etag')]).toEqual([304, '', ETAG]);
  }
  expect((await calls.sendApiGetRequest(path, { 'if-none-match': '"x"' })).status).toBe(200);
});

it('answers HEAD like GET, without the bytes', async () => {
  const { status, text, headers } = await api.call('HEAD', path, { key: calls.key });
  expect([status, text, headers.get('content-length')]).toEqual([200, '', String(SMALL_PDF.length)]);
  expect(headers.get('etag')).toBe(ETAG);
});

it('requires documents:read in the workspace and environment', async () => {
  const others: readonly (readonly [string, number])[] = [
    [await api.key('viewer'), 200],
    [await api.key('feed'), 403],
    [await api.key('admin', 'test'), 404],
    [await api.key('admin', 'live', 'another'), 404],
  ];
  for (const [key, status] of others) expect((await api.call('GET', path, { key })).status).toBe(status);
  expect((await api.call('GET', path)).status).toBe(401);
});

it('is incomplete if the source fails, and closes the source if the client disconnects', async () => {
  let closed = 0;
  const getObject = (async () => ({
    sizeBytes: SMALL_PDF.length,
    bytes: (async function* () {
      try {
        yield SMALL_PDF.subarray(0, 5);
        yield SMALL_PDF.subarray(5, 10);
        await new Promise(setImmediate);
        if (isBroken) throw new Error('the disk is gone');
        await new Promise((resolve) => release.push(resolve as () => void));
      } finally {
        closed += 1;
      }
    })(),
  })) as unknown as ObjectStore['getObject'];
  let isBroken = true;
  const release: (() => void)[] = [];
  const unused = () => Promise.reject(new Error('not asked'));
  const call = await api.gateway({ objects: { putObject: unused, deleteObject: unused, getObject } });
  await expect(call('GET', path, { key: calls.key })).rejects.toThrow();
  expect(closed).toBe(1);
  isBroken = false;
  const leaving = new AbortController();
  const left = call('GET', path, { key: calls.key, signal: leaving.signal });
  while (release.length === 0) await new Promise(setImmediate);
  leaving.abort();
  await expect(left).rejects.toThrow();
  for (const letGo of release) letGo();
  while (closed < 2) await new Promise(setImmediate);
});

it('is refused and logged if the bytes are lost', async () => {
  const { id, object_id } = await lost();
  const answer = await calls.sendApiGetRequest(`/v1/documents/${id}/download`);
  expect([answer.status, codeOf(answer), answer.headers.get('etag')]).toEqual([409, 'document_not_uploaded', null]);
  expect(api.lines).toContainEqual(
    expect.objectContaining({ level: 'error', fields: expect.objectContaining({ object_id }) as object }),
  );
});

describe('a stored file that differs from its document', () => {
  const LARGE = Buffer.concat([SMALL_PDF, Buffer.alloc(300_000, 'x')]);
  const altered = Buffer.from(LARGE).fill('y', LARGE.length - 1);
  const flipped = Buffer.from(LARGE).fill('!', 100, 101);

  it.each<[string, Buffer, 'size' | 'checksum']>([
    ['shorter', LARGE.subarray(0, -1), 'size'],
    ['empty', Buffer.alloc(0), 'size'],
    ['longer', Buffer.concat([LARGE, Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled')]), 'size'],
    ['altered at its start', flipped, 'checksum'],
    ['altered at its end', altered, 'checksum'],
  ])('never ends a response as if it were complete: %s', async (_name, bytes, why) => {
    const { path, file, object_id } = await storedFile(LARGE);
    const original = await readFile(file);
    const count = damageCount(why);
    await writeFile(file, bytes);
    const answer = await downloadRaw(path);
    if (why === 'size') expect(answer.status).toBe(409);
    else expect([answer.status, answer.isClosed, answer.bytes < LARGE.length]).toEqual([200, true, true]);
    expect(answer.text).not.toContain('smuggled');
    const again = await calls.sendApiGetRequest(path);
    expect([again.status, codeOf(again), again.headers.get('etag')]).toEqual([409, 'document_damaged', null]);
    expect((await calls.sendApiGetRequest(path, { range: 'bytes=0-1' })).status).toBe(409);
    expect(damageCount(why)).toBe(count + 1);
    const logged = expect.objectContaining({ object_id, why }) as object;
    expect(api.lines.filter(({ fields }) => fields['object_id'] === object_id)).toEqual([
      expect.objectContaining({ level: 'error', fields: logged }),
    ]);
    await writeFile(file, original);
    expect((await calls.sendApiGetRequest(path)).text).toBe(LARGE.toString());
  });

  it('is refused before any byte if it is small', async () => {
    const { path, file } = await storedFile(SMALL_PDF);
    await writeFile(file, Buffer.from(SMALL_PDF).fill('y', 9));
    const { status, body, headers } = await calls.sendApiGetRequest(path);
    expect([status, codeOf({ body } as ApiResponse)]).toEqual([409, 'document_damaged']);
    for (const name of ['etag', 'content-disposition', 'accept-ranges']) expect(headers.get(name)).toBeNull();
  });

  it('is noticed if it changes while it is read', async () => {
    for (const surplus of [-1, 0, 1]) {
      const sent = Buffer.alloc(SMALL_PDF.length + surplus, 'x');
      const bytes = [sent.subarray(0, 9), sent.subarray(9, 20), sent.subarray(20), Buffer.alloc(0)];
      const get = (async () => ({ sizeBytes: SMALL_PDF.length, bytes })) as unknown;
      const unused = () => Promise.reject(new Error('not asked'));
      const call = await api.gateway({
        objects: { putObject: unused, deleteObject: unused, getObject: get as ObjectStore['getObject'] },
      });
      await expect(call('GET', path, { key: calls.key })).rejects.toThrow();
    }
  });

  const damageCount = (why: string) => api.counts.get(`documents_damaged_total{why="${why}"}`) ?? 0;

  /** Uploads a document, and returns the path of its download and its stored file. */
  async function storedFile(bytes: Buffer) {
    const { id } = await calls.uploadDocument(await calls.createShipment(), [
      SAMPLE_DOCUMENT_TYPE_PART,
      createFormFilePart(bytes),
    ]);
    const scope = { workspace_id: await api.workspace(), environment: 'live' as const };
    const found = await api.dependencies.shipments.getDocument({ ...scope, document_id: String(id) });
    const object_id = String(found?.object_id);
    return { path: `/v1/documents/${String(id)}/download`, object_id, file: join(api.dataDir, 'objects', object_id) };
  }

  /** Downloads on a connection that the client keeps open, and returns the received response. */
  async function downloadRaw(path: string) {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${calls.key}\r\n\r\n`);
    let text = '';
    let isClosed = false;
    socket.on('data', (data: Buffer) => (text += data.toString('latin1')));
    socket.on('error', () => undefined);
    socket.once('close', () => (isClosed = true));
    const end = () => text.indexOf('\r\n\r\n');
    const bodyBytes = () => text.length - end() - 4;
    const length = () => Number(/content-length: (\d+)/i.exec(text)?.[1] ?? Infinity);
    await eventually(() => expect(isClosed || (end() > 0 && bodyBytes() >= length())).toBe(true));
    const closed = isClosed;
    socket.destroy();
    return { status: Number(text.slice(9, 12)), bytes: bodyBytes(), isClosed: closed, text };
  }
});

async function lost() {
  const { id } = await calls.uploadDocument(await calls.createShipment());
  const scope = { workspace_id: await api.workspace(), environment: 'live' as const };
  const found = await api.dependencies.shipments.getDocument({ ...scope, document_id: String(id) });
  await api.dependencies.objects.deleteObject(String(found?.object_id));
  return { id: String(id), object_id: found?.object_id };
}

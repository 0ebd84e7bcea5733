import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TrackingClient, type Progress } from '../src/index.ts';
import { fileFrom } from '../src/node.ts';
import {
  HostileServer,
  resetConnection,
  createJsonResponder,
  createOkRequestHandler,
  createApiErrorResponder,
  type RequestHandler,
} from './hostile-server.ts';

const PDF = 'application/pdf';

describe('documents', () => {
  let server: HostileServer;
  beforeAll(async () => {
    server = await HostileServer.startHostileServer();
  });
  afterAll(() => server.closeHostileServer());

  const documents = () =>
    new TrackingClient({
      baseUrl: server.url,
      apiKey: 'sk_test_1',
      backoff: { first: 1, most: 2 },
      transport: { proxy: false },
    }).documents;
  const asked = () => server.requests.map(({ method, url }) => `${method} ${url}`);
  const text = 'bytes of 港.pdf'.repeat(1_000);
  const file = new File([text], '港.pdf', { type: PDF });
  const requested: RequestHandler = (response, request) =>
    createJsonResponder(201, {
      id: 'doc_1',
      upload: { method: 'PUT', url: `${server.url}/content?token=x`, headers: { 'content-type': PDF }, expires_at: '' },
    })(response, request);

  const stored: RequestHandler = (response) => void response.writeHead(204).end();

  it('are sent in one request, fields first, with progress, and again if it breaks', async () => {
    server.replaceRequestHandlers(resetConnection, createJsonResponder(201, { id: 'doc_1' }));
    const told: Progress[] = [];
    const upload = { type: 'bill_of_lading', file, replaces_document_id: 'doc_0' } as const;
    expect(await documents().upload('shp_1', upload, { onProgress: (progress) => told.push(progress) })).toEqual({
      id: 'doc_1',
    });
    expect(asked()).toEqual(Array(2).fill('POST /v1/shipments/shp_1/documents'));
    const [first, second] = server.requests;
    expect(first?.headers['idempotency-key']).toBe(second?.headers['idempotency-key']);
    expect(second?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    const names = [...String(second?.body).matchAll(/ name="([^"]+)"(?:; filename="([^"]+)")?/g)];
    expect(names.map(([, name, fileName]) => [name, fileName])).toEqual([
      ['type', undefined],
      ['replaces_document_id', undefined],
      ['file', '港.pdf'],
    ]);
    expect(second?.body).toContain(`Content-Type: ${PDF}\r\n\r\n${text}\r\n`);
    expect(told.at(-1)?.loaded).toBe(told.at(-1)?.total);
    expect(told.at(-1)?.loaded).toBeGreaterThan(file.size);
  });

  it('above the limit are uploaded by URL without credentials, and completed', async () => {
    server.replaceRequestHandlers(requested, resetConnection, stored, createOkRequestHandler({ id: 'doc_1' }));
    const told: Progress[] = [];
    const options = { presignedAbove: 10, onProgress: (progress: Progress) => told.push(progress) };
    expect(await documents().upload('shp_1', { type: 'photo', file }, options)).toEqual({ id: 'doc_1' });
    expect(asked()).toEqual([
      'POST /v1/shipments/shp_1/documents/uploads',
      'PUT /content?token=x',
      'PUT /content?token=x',
      'POST /v1/documents/doc_1/complete',
    ]);
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      type: 'photo',
      file_name: '港.pdf',
      content_type: PDF,
      size_bytes: file.size,
      checksum_sha256: createHash('sha256').update(text).digest('hex'),
    });
    const put = server.requests[2];
    expect(put?.body).toBe(text);
    expect(put?.headers).toMatchObject({ 'content-type': PDF, 'content-length': String(file.size) });
    for (const name of ['authorization', 'consistency-token', 'idempotency-key', 'cookie']) {
      expect(put?.headers).not.toHaveProperty(name);
    }
    expect(told.at(-1)).toEqual({ loaded: file.size, total: file.size });
  });

  it('above the limit get another URL if theirs expires, and are returned if they are already complete', async () => {
    const upload = () => documents().upload('shp_1', { type: 'photo', file }, { presignedAbove: 10 });
    server.replaceRequestHandlers(
      requested,
      createApiErrorResponder(403, 'permission', 'invalid_upload_url'),
      requested,
      stored,
      createOkRequestHandler({ id: 'doc_1' }),
    );
    expect(await upload()).toEqual({ id: 'doc_1' });
    expect(server.requests[2]?.headers['idempotency-key']).toBe(server.requests[0]?.headers['idempotency-key']);
    const notPending = createApiErrorResponder(409, 'conflict', 'document_not_pending');
    server.replaceRequestHandlers(requested, notPending, createOkRequestHandler({ id: 'doc_1' }));
    expect(await upload()).toEqual({ id: 'doc_1' });
    server.replaceRequestHandlers(requested, notPending, notPending);
    await expect(upload()).rejects.toMatchObject({ code: 'document_not_pending' });
  });

  it('come from local files', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'client-'));
    try {
      await writeFile(join(folder, 'a b.pdf'), text);
      const local = await fileFrom(join(folder, 'a b.pdf'));
      expect(local).toMatchObject({
        file_name: 'a b.pdf',
        checksum_sha256: createHash('sha256').update(text).digest('hex'),
      });
      server.replaceRequestHandlers(requested, stored, createOkRequestHandler({ id: 'doc_1' }));
      await documents().upload('shp_1', { type: 'photo', content_type: PDF, ...local }, { presignedAbove: 0 });
      expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ content_type: PDF, size_bytes: file.size });
      expect(server.requests[1]?.body).toBe(text);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('require a name', async () => {
    const nameless = { type: 'photo', file: new Uint8Array(3) } as const;
    await expect(documents().upload('shp_1', nameless)).rejects.toBeInstanceOf(TypeError);
  });

  it('are downloaded as a stream, all or a range, with their name', async () => {
    const answer: RequestHandler = (response, { headers }) => {
      const range = /bytes=(\d+)-(\d*)/.exec(headers.range ?? '');
      const [start, end] = [Number(range?.[1] ?? 0), Number(range?.[2] || text.length - 1)];
      const part = text.slice(start, end + 1);
      response.writeHead(range ? 206 : 200, {
        'content-type': PDF,
        'content-length': Buffer.byteLength(part),
        'content-disposition': `attachment; filename="_.pdf"; filename*=UTF-8''${encodeURIComponent('港 "1".pdf')}`,
        etag: '"x"',
        ...(range && { 'content-range': `bytes ${start}-${end}/${text.length}` }),
      });
      response.end(part);
    };
    server.replaceRequestHandlers(resetConnection, answer);
    const told: Progress[] = [];
    const whole = await documents().download('doc_1', { onProgress: (progress) => told.push(progress) });
    expect(whole).toMatchObject({ contentType: PDF, fileName: '港 "1".pdf', etag: '"x"', range: undefined });
    expect(Buffer.from(await whole.bytes()).toString()).toBe(text);
    expect(told.at(-1)).toEqual({ loaded: Buffer.byteLength(text), total: Buffer.byteLength(text) });
    const part = await documents().download('doc_1', { range: { start: 0, end: 4 }, ifRange: '"x"' });
    expect(part.range).toEqual({ start: 0, end: 4, total: text.length });
    expect(await (await part.blob()).text()).toBe('bytes');
    expect(server.requests.at(-1)?.headers).toMatchObject({ range: 'bytes=0-4', 'if-range': '"x"' });
    server.replaceRequestHandlers(createApiErrorResponder(416, 'invalid_request', 'range_not_satisfiable'));
    const beyond = documents().download('doc_1', { range: { start: 1_000_000 } });
    await expect(beyond).rejects.toMatchObject({ code: 'range_not_satisfiable', status: 416 });
  });
});

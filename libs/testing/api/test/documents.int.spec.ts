import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@tracking/contracts';
import { BusyError, UnavailableError } from '@tracking/ports';
import { eventually } from '@tracking/testing';
import {
  DocumentApiTestClient,
  SMALL_PDF,
  SAMPLE_DOCUMENT_TYPE_PART,
  createFormFilePart,
  createOutlookMessage,
  encodeMultipartForm,
  sendRawRequest,
  sha256,
} from './document-calls.ts';
import type { FormPart } from './document-calls.ts';
import { startApi, overrideOperations } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let calls: DocumentApiTestClient;
let shipment: string;
/** Number of stored objects before the tests. */
let before: number;
beforeAll(async () => {
  api = await startApi();
  calls = new DocumentApiTestClient(api, await api.key('operator'));
});
afterAll(() => api.stop());
beforeEach(async () => {
  shipment = await calls.createShipment();
  before = await calls.countStoredObjects();
});

const codeOf = ({ body }: ApiResponse) => (body['error'] as JsonObject | undefined)?.['code'];
const detailsOf = ({ body }: ApiResponse) =>
  ((body['error'] as JsonObject)['details'] as JsonObject[]).map(
    ({ param, code }) => `${String(param)} ${String(code)}`,
  );

describe('a document uploaded with its fields', () => {
  it('is stored, returned, listed and counted', async () => {
    const { status, headers, body } = await calls.sendUpload(shipment);
    expect({ status, body }).toEqual({
      status: 201,
      body: expect.objectContaining({
        shipment_id: shipment,
        type: 'commercial_invoice',
        status: 'uploaded',
        file_name: 'invoice.pdf',
        content_type: 'application/pdf',
        size_bytes: SMALL_PDF.length,
        checksum_sha256: sha256(SMALL_PDF),
        warnings: [],
      }) as JsonObject,
    });
    const id = String(body['id']);
    expect(headers.get('location')).toBe(`https://api.example/v1/documents/${id}`);
    expect(body['download_url']).toBe(`https://api.example/v1/documents/${id}/download`);
    const { warnings: _, ...document } = body;
    const shown = await calls.sendApiGetRequest(`/v1/documents/${id}`);
    expect(shown.body).toEqual(document);
    expect(shown.headers.get('etag')).toBe(headers.get('etag'));
    expect((await calls.sendApiGetRequest(`/v1/shipments/${shipment}`)).body['documents_count']).toBe(1);
    const second = await calls.uploadDocument(shipment);
    const { body: list } = await calls.sendApiGetRequest(`/v1/shipments/${shipment}/documents?limit=1`);
    expect(list['data']).toMatchObject([{ id: second['id'] }]);
    const next = await calls.sendApiGetRequest(
      `/v1/shipments/${shipment}/documents?limit=1&cursor=${String(list['next_cursor'])}`,
    );
    expect(next.body).toMatchObject({ data: [document], has_more: false });
  });

  it('accepts its parts in any order, and a name in any script', async () => {
    const names: readonly (readonly [string, string])[] = [
      ['filename="請求書.pdf"', '請求書.pdf'],
      ["filename*=UTF-8''%e2%82%ac%20rates.pdf", '€ rates.pdf'],
      [`filename="rates.pdf"; filename*=UTF-8''%e2%82%ac%20rates.pdf`, '€ rates.pdf'],
      [`filename*=UTF-8''%e2%82%ac%20rates.pdf; filename="rates.pdf"`, '€ rates.pdf'],
      [`filename="rates.pdf"; filename*=UTF-8''..%2F50%25%22.pdf`, '50%".pdf'],
      ['filename="C:\\\\docs\\\\a.pdf"', 'a.pdf'],
      ['filename="../../../etc/x.pdf"', 'x.pdf'],
    ];
    for (const [fileName, kept] of names) {
      const file: FormPart = { name: 'file', fileName, content: SMALL_PDF };
      expect([
        fileName,
        (await calls.uploadDocument(shipment, [file, SAMPLE_DOCUMENT_TYPE_PART]))['file_name'],
      ]).toEqual([fileName, kept]);
    }
  });

  it('accepts a name that a browser escapes, with the usual checks', async () => {
    const named = async (name: string) => {
      const form = new FormData();
      form.append('file', new Blob([SMALL_PDF]), name);
      form.append('type', 'commercial_invoice');
      const sent = new Response(form);
      const type = { 'content-type': String(sent.headers.get('content-type')) };
      return calls.sendUpload(shipment, Buffer.from(await sent.arrayBuffer()), type);
    };
    expect((await named('say "a" 100%.pdf')).body['file_name']).toBe('say "a" 100%.pdf');
    for (const name of ['a\rb.pdf', 'a\nb.pdf']) {
      const { status, body } = await named(name);
      expect([status, body]).toMatchObject([400, { error: { param: 'file', code: 'validation_failed' } }]);
    }
    const field: FormPart = { name: 'a%22%0D%0A', content: 'x' };
    const { body } = await calls.sendUpload(shipment, [SAMPLE_DOCUMENT_TYPE_PART, field, createFormFilePart()]);
    expect(body['warnings']).toMatchObject([{ code: 'unknown_field', param: 'a"\r\n' }]);
  });

  it('is decoded from base64, or refused with another transfer encoding', async () => {
    const lines = SMALL_PDF.toString('base64').replaceAll(/.{1,20}/g, '$&\r\n');
    const encoded = (content: string, encoding: string): readonly FormPart[] => [
      { name: 'type', content: Buffer.from('commercial_invoice').toString('base64'), encoding: 'base64' },
      { ...createFormFilePart(), content, encoding },
    ];
    const stored = await calls.uploadDocument(shipment, encoded(lines, 'Base64'));
    expect(stored).toMatchObject({
      type: 'commercial_invoice',
      size_bytes: SMALL_PDF.length,
      checksum_sha256: sha256(SMALL_PDF),
    });
    for (const [content, encoding] of [
      ['%PDF-1.7 is not base64', 'base64'],
      ['=25PDF-1.7', 'quoted-printable'],
    ] as const) {
      const refused = await calls.sendUpload(shipment, encoded(content, encoding));
      expect([refused.status, codeOf(refused)]).toEqual([400, 'malformed_multipart']);
      expect((refused.body['error'] as JsonObject)['message']).toContain('Content-Transfer-Encoding');
    }
    expect(await calls.countStoredObjects()).toBe(before + 1);
  });

  it('is downloaded as an attachment of its type, with its extension', async () => {
    const mail = Buffer.from('From: ann@example.com\r\n\r\n<html><script>alert(1)</script>');
    const files: readonly (readonly [string, Buffer, string, string])[] = [
      ['photo', Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1'), 'image/heic', 'photo.heic'],
      ['scan.webp', Buffer.from('RIFF\x1a\0\0\0WEBPVP8L', 'latin1'), 'image/webp', 'scan.webp'],
      ['booking.eml', mail, 'message/rfc822', 'booking.eml'],
      ['list.csv', Buffer.from('\ufeffa;b\r\nKöln;2\r\n', 'utf16le'), 'text/csv', 'list.csv'],
      ['Booking', createOutlookMessage(), 'application/vnd.ms-outlook', 'Booking.msg'],
    ];
    for (const [name, content, contentType, savedName] of files) {
      const { id, content_type, checksum_sha256 } = await calls.uploadDocument(shipment, [
        SAMPLE_DOCUMENT_TYPE_PART,
        createFormFilePart(content, name),
      ]);
      const { headers } = await calls.sendApiGetRequest(`/v1/documents/${String(id)}/download`);
      expect([content_type, headers.get('content-type')]).toEqual([contentType, contentType]);
      expect(headers.get('content-disposition')).toBe(`attachment; filename="${savedName}"`);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(checksum_sha256).toBe(sha256(content));
    }
  });

  it('replaces another document once', async () => {
    const first = String((await calls.uploadDocument(shipment))['id']);
    const replaces: FormPart = { name: 'replaces_document_id', content: first };
    const second = await calls.uploadDocument(shipment, [replaces, SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart()]);
    expect(second['replaces_document_id']).toBe(first);
    expect((await calls.sendApiGetRequest(`/v1/documents/${first}`)).body['replaced_by_document_id']).toBe(
      second['id'],
    );
    const third = await calls.sendUpload(shipment, [replaces, SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart()]);
    expect([third.status, codeOf(third), await calls.countStoredObjects()]).toEqual([
      409,
      'document_replaced',
      before + 2,
    ]);
  });

  it('warns about unknown parts, and refuses them under strict handling', async () => {
    const parts = [
      SAMPLE_DOCUMENT_TYPE_PART,
      createFormFilePart(),
      { name: 'colour', content: 'red' },
      { name: 'status', content: 'approved' },
    ];
    const lenient = await calls.sendUpload(shipment, parts);
    expect(lenient.body).toMatchObject({
      warnings: [
        { code: 'unknown_field', param: 'colour' },
        { code: 'read_only_field', param: 'status' },
      ],
    });
    const strict = await calls.sendUpload(shipment, parts, { prefer: 'handling=strict' });
    expect([strict.status, detailsOf(strict)]).toEqual([400, ['colour unknown_field', 'status read_only_field']]);
    expect(await calls.countStoredObjects()).toBe(before + 1);
  });

  it.each<[string, readonly FormPart[], string, readonly string[]]>([
    ['without a file', [SAMPLE_DOCUMENT_TYPE_PART], 'validation_failed', ['file required']],
    ['without a type', [createFormFilePart()], 'validation_failed', ['type required']],
    [
      'of an unknown type',
      [createFormFilePart(), { name: 'type', content: 'x' }],
      'validation_failed',
      ['type invalid_value'],
    ],
    [
      'with a file that is a text',
      [SAMPLE_DOCUMENT_TYPE_PART, { name: 'file', content: 'x' }],
      'validation_failed',
      ['file invalid_type'],
    ],
    [
      'with two files',
      [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart(), createFormFilePart()],
      'validation_failed',
      ['file invalid_value'],
    ],
    [
      'with a field twice',
      [SAMPLE_DOCUMENT_TYPE_PART, SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart()],
      'validation_failed',
      ['type invalid_value'],
    ],
    [
      'with a long field',
      [{ ...SAMPLE_DOCUMENT_TYPE_PART, content: 'x'.repeat(9_000) }, createFormFilePart()],
      'validation_failed',
      ['type too_long'],
    ],
    [
      'with a long name',
      [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart(SMALL_PDF, 'x'.repeat(300))],
      'validation_failed',
      ['file too_long'],
    ],
    [
      'with a NUL in its name',
      [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart(SMALL_PDF, 'a\0.pdf')],
      'validation_failed',
      ['file invalid_value'],
    ],
    [
      'of an unknown document',
      [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart(), { name: 'replaces_document_id', content: 'doc_x' }],
      'validation_failed',
      ['replaces_document_id unknown_document'],
    ],
    ['that is empty', [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart(Buffer.alloc(0))], 'empty_file', []],
    [
      'that is a page',
      [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart(Buffer.from('<!doctype html><p>x'))],
      'unsupported_document_type',
      [],
    ],
    [
      'that is a picture with code',
      [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))],
      'unsupported_document_type',
      [],
    ],
    [
      'that is a program',
      [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart(Buffer.from('MZ\0\0'))],
      'unsupported_document_type',
      [],
    ],
    [
      'of very many parts',
      [
        SAMPLE_DOCUMENT_TYPE_PART,
        createFormFilePart(),
        ...Array.from({ length: 3_000 }, (_, n) => ({ name: `n${n}`, content: '' })),
      ],
      'limit_exceeded',
      [],
    ],
  ])('is refused %s, and nothing is kept', async (_, parts, code, details) => {
    const head = await api.head();
    const answer = await calls.sendUpload(shipment, parts);
    expect([answer.status, codeOf(answer), detailsOf(answer)]).toEqual([400, code, details]);
    expect([await calls.countStoredObjects(), await api.head()]).toEqual([before, head]);
  });

  const whole = encodeMultipartForm([SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart()]);
  it.each<[string, Buffer, string]>([
    ['no boundary', whole, 'multipart/form-data'],
    ['another boundary', whole, 'multipart/form-data; boundary=other'],
    ['its end cut off', whole.subarray(0, -6), 'multipart/form-data; boundary=b'],
    ['its file cut off', whole.subarray(0, -30), 'multipart/form-data; boundary=b'],
    ['no form in it', Buffer.from('nothing'), 'multipart/form-data; boundary=b'],
  ])('is refused with %s', async (_, body, type) => {
    const answer = await calls.sendUpload(shipment, body, { 'content-type': type });
    expect([answer.status, codeOf(answer), await calls.countStoredObjects()]).toEqual([
      400,
      'malformed_multipart',
      before,
    ]);
  });

  it('is not changed by header syntax in its name', async () => {
    const injected = await calls.uploadDocument(shipment, [
      SAMPLE_DOCUMENT_TYPE_PART,
      createFormFilePart(SMALL_PDF, 'a\r\nSet-Cookie: x=1\r\n\r\n.pdf'),
    ]);
    expect(injected['file_name']).toBe('a');
    const quoted = await calls.uploadDocument(shipment, [
      SAMPLE_DOCUMENT_TYPE_PART,
      { ...createFormFilePart(), fileName: 'filename="a\\";b=c.pdf"' },
    ]);
    const { headers } = await calls.sendApiGetRequest(`/v1/documents/${String(quoted['id'])}/download`);
    expect(headers.get('content-disposition')).toBe('attachment; filename="a\\";b=c.pdf"');
    const long = await calls.sendUpload(shipment, [
      SAMPLE_DOCUMENT_TYPE_PART,
      { ...createFormFilePart(), type: 'x'.repeat(100_000) },
    ]);
    expect(long.status).toBe(201);
  });

  it('is refused above 25 MiB, whether declared or found while it is received', async () => {
    const large = Buffer.concat([SMALL_PDF, Buffer.alloc(25 * 1_048_576)]);
    const found = await calls.sendUpload(shipment, [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart(large)]);
    expect([found.status, codeOf(found), await calls.countStoredObjects()]).toEqual([413, 'body_too_large', before]);
  });

  it('is refused with another media type or compressed', async () => {
    const other = await calls.sendUpload(shipment, whole, { 'content-type': 'application/pdf' });
    const packed = await calls.sendUpload(shipment, whole, { 'content-encoding': 'gzip' });
    expect([other, packed].map(codeOf)).toEqual(['unsupported_media_type', 'unsupported_media_type']);
  });

  it('stores nothing if the client disconnects in the middle', async () => {
    const headers = `Host: x\r\nAuthorization: Bearer ${calls.key}\r\nContent-Type: multipart/form-data; boundary=b`;
    const start = `POST /v1/shipments/${shipment}/documents HTTP/1.1\r\n${headers}\r\nContent-Length: 100000\r\n\r\n`;
    await sendRawRequest(api, Buffer.concat([Buffer.from(start), whole.subarray(0, -30)]), () =>
      eventually(async () => expect(await calls.countStoredObjects()).toBe(before + 1)),
    );
    await eventually(async () => expect(await calls.countStoredObjects()).toBe(before));
    expect((await calls.sendApiGetRequest(`/v1/shipments/${shipment}/documents`)).body['data']).toEqual([]);
  });

  it('is not found in another workspace or environment, or without permission', async () => {
    const strangers: readonly (readonly [string, number])[] = [
      [await api.key('operator', 'live', 'another'), 404],
      [await api.key('operator', 'test'), 404],
      [await api.key('viewer'), 403],
    ];
    for (const [key, status] of strangers) {
      const answer = await new DocumentApiTestClient(api, key).sendUpload(shipment);
      expect([answer.status, await calls.countStoredObjects()]).toEqual([status, before]);
    }
  });

  it('is one document per Idempotency-Key, whatever the order of its parts', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await calls.sendUpload(shipment, [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart()], headers);
    const again = await calls.sendUpload(shipment, [createFormFilePart(), SAMPLE_DOCUMENT_TYPE_PART], headers);
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([201, first.text, 'true']);
    const other = await calls.sendUpload(
      shipment,
      [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart(Buffer.from('another file'))],
      headers,
    );
    expect([other.status, codeOf(other)]).toEqual([409, 'idempotency_key_reused']);
    expect(await calls.countStoredObjects()).toBe(before + 1);
  });

  it('keeps its bytes if the outcome of the command is unknown, and is returned when the request is repeated', async () => {
    const { shipments } = api.dependencies;
    const written = Promise.withResolvers<void>();
    const elsewhere = await api.gateway({
      shipments: overrideOperations(shipments, {
        addDocument: async (command) => {
          await shipments.addDocument(command);
          written.resolve();
          throw new UnavailableError('event store', 'the answer is lost');
        },
      }),
    });
    const headers = { 'idempotency-key': randomUUID(), 'content-type': 'multipart/form-data; boundary=b' };
    const raw = new Uint8Array(encodeMultipartForm([SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart()]));
    const lost = await elsewhere('POST', `/v1/shipments/${shipment}/documents`, { key: calls.key, headers, raw });
    expect([lost.status, codeOf(lost)]).toEqual([503, 'unavailable']);
    await written.promise;
    const again = await calls.sendUpload(shipment, undefined, headers);
    expect(again.status).toBe(201);
    const { status, text } = await calls.sendApiGetRequest(`/v1/documents/${String(again.body['id'])}/download`);
    expect([status, text]).toEqual([200, SMALL_PDF.toString()]);
  });

  it('is removed if the command was refused because a queue is full', async () => {
    const addDocument = () => Promise.reject(new BusyError('shipments', 'too many commands are queued'));
    const elsewhere = await api.gateway({ shipments: overrideOperations(api.dependencies.shipments, { addDocument }) });
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const raw = new Uint8Array(encodeMultipartForm([SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart()]));
    const busy = await elsewhere('POST', `/v1/shipments/${shipment}/documents`, { key: calls.key, headers, raw });
    expect([busy.status, codeOf(busy)]).toEqual([503, 'busy']);
    await eventually(async () => expect(await calls.countStoredObjects()).toBe(before));
  });

  it('checks If-Match against the shipment', async () => {
    const stale = await calls.sendUpload(shipment, [SAMPLE_DOCUMENT_TYPE_PART, createFormFilePart()], {
      'if-match': '"999"',
    });
    expect([stale.status, await calls.countStoredObjects()]).toEqual([412, before]);
  });
});

describe('a review', () => {
  it('is final and announced', async () => {
    const [one, two] = [await calls.uploadDocument(shipment), await calls.uploadDocument(shipment)].map(({ id }) =>
      String(id),
    ) as [string, string];
    expect((await calls.callDocumentApiOperation(one, 'approve')).body).toMatchObject({
      status: 'approved',
      rejection_reason: null,
    });
    expect((await calls.callDocumentApiOperation(one, 'approve')).status).toBe(200);
    expect(codeOf(await calls.callDocumentApiOperation(one, 'reject', { reason: 'x' }))).toBe('document_reviewed');
    expect(detailsOf(await calls.callDocumentApiOperation(two, 'reject', {}))).toEqual(['reason required']);
    const rejected = await calls.callDocumentApiOperation(two, 'reject', { reason: 'Page 2 is missing.' });
    expect(rejected.body).toMatchObject({ status: 'rejected', rejection_reason: 'Page 2 is missing.' });
    const pending = await calls.requestUpload(shipment);
    expect(codeOf(await calls.callDocumentApiOperation(pending.id, 'approve'))).toBe('document_not_uploaded');
  });
});

describe('a deleted document', () => {
  it('keeps its fields, not its bytes, and is in the audit log once', async () => {
    const { id } = await calls.uploadDocument(shipment);
    const remove = () => api.call('DELETE', `/v1/documents/${String(id)}`, { key: calls.key });
    const deleted = await remove();
    expect([deleted.status, deleted.body]).toMatchObject([200, { id, status: 'deleted', download_url: null }]);
    expect(await calls.countStoredObjects()).toBe(before);
    expect((await remove()).status).toBe(200);
    expect((await calls.sendApiGetRequest(`/v1/documents/${String(id)}`)).body['status']).toBe('deleted');
    expect(codeOf(await calls.sendApiGetRequest(`/v1/documents/${String(id)}/download`))).toBe('document_not_uploaded');
    const log = await api.call('GET', '/v1/audit_log?type=document.deleted', { key: await api.key('admin') });
    const entries = (log.body['data'] as JsonObject[]).filter(({ target }) => (target as JsonObject)['id'] === id);
    expect(entries).toMatchObject([{ changes: { status: { from: 'uploaded', to: 'deleted' } }, outcome: 'done' }]);
  });
});

import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { ShipmentDocument } from '@tracking/contracts';
import { eventually, expectAssertionStaysTrue, generatePdf } from '@tracking/testing';
import type { AxiosInstance } from 'axios';
import {
  createTestApiClient,
  createKey,
  startStandaloneProcess,
  withTemporaryFolder,
  type StandaloneProcess,
} from './standalone-process.ts';
import {
  MULTIPART_BOUNDARY,
  MULTIPART_FORM_START,
  startUploadRequest,
  expectStoredDocumentBytes,
  createShipment,
  putFileToUploadUrl,
  requestUpload,
  postDocumentAsMultipartForm,
  listObjectFileNames,
  replaceUploadUrlOrigin,
} from './uploads.ts';

const LATIN1 = 'latin1';
const SOON = { deadlineMs: 30_000 };

/** Builds an archive of one entry that declares a larger size than it has. */
function archive(entries: readonly { readonly name: string; readonly inflated: number }[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, inflated } of entries) {
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(100, 14);
    fields.writeUInt32LE(inflated, 18);
    fields.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), Buffer.alloc(100)]);
    const more = Buffer.alloc(14);
    more.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0', LATIN1), fields, more, Buffer.from(name)]));
    locals.push(local);
    at += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...locals, listed, Buffer.from('PK\x05\x06'), end]);
}

const PARTS = ['[Content_Types].xml', 'xl/workbook.xml'].map((name) => ({ name, inflated: 1_000 }));
const MALICIOUS: Readonly<Record<string, Buffer>> = {
  'a page': Buffer.from('<!DOCTYPE html><html><script>alert(1)</script></html>'),
  'a page behind a text': Buffer.from(`${'a text '.repeat(30_000)}<script>alert(1)</script>`),
  'a picture that runs': Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
  'a program': Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01', LATIN1), Buffer.alloc(2_000)]),
  'a PDF that is an archive as well': Buffer.concat([generatePdf('both', 5_000), archive(PARTS)]),
  'an archive': archive([{ name: 'a.txt', inflated: 100 }]),
  'a bomb': archive([...PARTS, { name: 'xl/worksheets/sheet1.xml', inflated: 4_000_000_000 }]),
  'text with NUL': Buffer.from('a\0b'),
};

describe('invalid uploads over real connections', () => {
  let dataDir: string;
  let key: string;
  let shipmentId: string;
  let server: StandaloneProcess;
  let api: AxiosInstance;

  const inFolder = (test: () => Promise<void>) => () =>
    withTemporaryFolder(async (folder) => {
      dataDir = folder;
      key = await createKey(dataDir);
      server = await startStandaloneProcess(dataDir, { RATE_LIMIT_PER_MINUTE: '1000000' });
      api = createTestApiClient(server.url, key);
      shipmentId = (await createShipment(api)).id;
      try {
        await test();
      } finally {
        await server.stop();
      }
    });
  const beginForm = (bytes: Buffer): ClientRequest => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': `multipart/form-data; boundary=${MULTIPART_BOUNDARY}`,
    };
    const url = `${server.url}/v1/shipments/${shipmentId}/documents`;
    const outgoing = startUploadRequest('POST', url, headers, 2 * bytes.length);
    outgoing.write(MULTIPART_FORM_START);
    outgoing.write(bytes);
    return outgoing;
  };
  const statusOf = async (outgoing: ClientRequest): Promise<number | undefined> => {
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
  const codeOf = ({ status, data }: { readonly status: number; readonly data: unknown }) => [
    status,
    (data as { error?: { code: string } } | null)?.error?.code,
  ];

  it(
    'that break off: nothing is stored, and they can be sent again',
    inFolder(async () => {
      const bytes = generatePdf('broken off', 1_000_000);
      const document = await requestUpload(api, shipmentId, bytes);
      const { headers } = document.upload;
      const cut = startUploadRequest('PUT', replaceUploadUrlOrigin(document, server.url), headers, bytes.length);
      cut.write(bytes.subarray(0, 500_000));
      const form = beginForm(bytes);
      await eventually(async () => expect(await listObjectFileNames(dataDir)).toHaveLength(2), SOON);
      cut.destroy();
      form.destroy();
      await eventually(async () => expect(await listObjectFileNames(dataDir)).toEqual([]), SOON);
      expect([...(await expectStoredDocumentBytes(api, shipmentId))]).toEqual([[document.id, 'pending_upload']]);
      expect((await putFileToUploadUrl(document, bytes, server.url)).status).toBe(204);
      expect((await api.post(`/v1/documents/${document.id}/complete`)).status).toBe(200);
      expect([...(await expectStoredDocumentBytes(api, shipmentId)).values()]).toEqual(['uploaded']);
    }),
    60_000,
  );

  it(
    'that stall: 408 after half a minute, nothing is stored, and other requests are served',
    inFolder(async () => {
      const bytes = generatePdf('slow', 1_000_000);
      const document = await requestUpload(api, shipmentId, bytes);
      const slow = startUploadRequest(
        'PUT',
        replaceUploadUrlOrigin(document, server.url),
        document.upload.headers,
        bytes.length,
      );
      slow.write(bytes.subarray(0, 500_000));
      const statuses: (number | undefined)[] = [];
      const answers = [slow, beginForm(bytes)].map(async (stalled) => statuses.push(await statusOf(stalled)));
      const unanswered = expectAssertionStaysTrue(() => expect(statuses).toEqual([]), 20_000);
      await eventually(async () => expect(await listObjectFileNames(dataDir)).toHaveLength(2), SOON);
      expect((await postDocumentAsMultipartForm(api, shipmentId, generatePdf('quick', 100_000))).status).toBe(201);
      await Promise.all([unanswered, ...answers]);
      expect(statuses).toEqual([408, 408]);
      await eventually(async () => expect(await listObjectFileNames(dataDir)).toHaveLength(1), SOON);
      expect([...(await expectStoredDocumentBytes(api, shipmentId)).values()].sort()).toEqual([
        'pending_upload',
        'uploaded',
      ]);
    }),
    120_000,
  );

  it(
    'with a false length, hash or type',
    inFolder(async () => {
      const bytes = generatePdf('told', 200_000);
      const document = await requestUpload(api, shipmentId, bytes);
      const complete = () => api.post(`/v1/documents/${document.id}/complete`);
      const longer = Buffer.concat([bytes, Buffer.alloc(1)]);
      expect(codeOf(await putFileToUploadUrl(document, longer, server.url))).toEqual([413, 'body_too_large']);
      expect(codeOf(await complete())).toEqual([409, 'upload_missing']);
      expect((await putFileToUploadUrl(document, bytes.subarray(0, -1), server.url)).status).toBe(204);
      expect(codeOf(await complete())).toEqual([400, 'size_mismatch']);
      expect((await putFileToUploadUrl(document, generatePdf('other', bytes.length), server.url)).status).toBe(204);
      expect(codeOf(await complete())).toEqual([400, 'checksum_mismatch']);
      expect([...(await expectStoredDocumentBytes(api, shipmentId)).values()]).toEqual(['pending_upload']);
      const program = MALICIOUS['a program'] ?? Buffer.alloc(0);
      expect(codeOf(await putFileToUploadUrl(document, program, server.url))).toEqual([
        400,
        'unsupported_document_type',
      ]);
      expect(codeOf(await putFileToUploadUrl(document, Buffer.alloc(0), server.url))).toEqual([400, 'empty_file']);
      expect((await putFileToUploadUrl(document, bytes, server.url)).status).toBe(204);
      expect((await complete()).status).toBe(200);
      expect([...(await expectStoredDocumentBytes(api, shipmentId)).values()]).toEqual(['uploaded']);
      expect(await listObjectFileNames(dataDir)).toHaveLength(1);
    }),
    60_000,
  );

  it(
    'with malicious content: rejected by content under any name, and nothing is stored',
    inFolder(async () => {
      for (const [name, bytes] of Object.entries(MALICIOUS)) {
        expect([name, codeOf(await postDocumentAsMultipartForm(api, shipmentId, bytes))]).toEqual([
          name,
          [400, 'unsupported_document_type'],
        ]);
        const document = await requestUpload(api, shipmentId, bytes);
        const answer = codeOf(await putFileToUploadUrl(document, bytes, server.url));
        expect([name, answer]).toEqual([name, [400, 'unsupported_document_type']]);
      }
      expect(await listObjectFileNames(dataDir)).toEqual([]);
    }),
    60_000,
  );

  it(
    'with paths or headers as file names: neither has an effect',
    inFolder(async () => {
      const bytes = generatePdf('named', 1_000);
      for (const [file_name, kept] of [
        ['../../../etc/passwd', 'passwd'],
        ['C:\\Windows\\evil.pdf', 'evil.pdf'],
        ['a";x="\u202f – 🚢.pdf', 'a";x="\u202f – 🚢.pdf'],
      ]) {
        const document = await requestUpload(api, shipmentId, bytes, { file_name });
        expect((await putFileToUploadUrl(document, bytes, server.url)).status).toBe(204);
        const { data } = await api.post<ShipmentDocument>(`/v1/documents/${document.id}/complete`);
        expect(data.file_name).toBe(kept);
        const { status, headers } = await api.get(`/v1/documents/${document.id}/download`);
        const disposition = String(headers['content-disposition']);
        expect([status, disposition]).toEqual([200, expect.stringMatching(/^attachment; filename="(?:[^"\\]|\\.)*"/)]);
      }
      for (const file_name of ['..', 'a\r\nX-Evil: 1.pdf', 'gpj.\u202eexe', ' ']) {
        const fields = { type: 'photo', file_name, content_type: 'application/pdf', size_bytes: 1 };
        const path = `/v1/shipments/${shipmentId}/documents/uploads`;
        const refused = await api.post(path, { ...fields, checksum_sha256: '0'.repeat(64) });
        expect([refused.status, refused.data.error.param]).toEqual([400, 'file_name']);
      }
      for (const name of await listObjectFileNames(dataDir)) expect(name).toMatch(/^[a-z2-7]{26}-[a-z2-7]{26}$/);
    }),
    60_000,
  );
});

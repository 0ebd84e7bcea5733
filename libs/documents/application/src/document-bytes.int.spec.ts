import { createHash } from 'node:crypto';
import { UnavailableError } from '@tracking/ports';
import { RecordedMetrics, createTempFolder } from '@tracking/testing';
import { createDocxBytes, splitIntoByteChunks, createPdfBytes, createSamplePng, createTiff } from '../test/files.ts';
import { createShipmentId, TestObjectStore, createRepeatedLetterShipmentToken } from '../test/objects.ts';
import { createZip } from '../test/zip.ts';
import {
  type BytesToStore,
  DocumentBytesStore,
  DocumentTooLargeError,
  EmptyDocumentError,
  UnsupportedDocumentTypeError,
} from './index.ts';

const MIB = 2 ** 20;
let folder: Awaited<ReturnType<typeof createTempFolder>>;
let objects: TestObjectStore;
let metrics: RecordedMetrics;
let documents: DocumentBytesStore;
beforeEach(async () => {
  folder = await createTempFolder();
  objects = await TestObjectStore.openTestObjectStore(folder.path);
  metrics = new RecordedMetrics();
  documents = new DocumentBytesStore({ objects: objects.store, metrics });
});
afterEach(() => folder.remove());

const store = (source: AsyncIterable<Uint8Array>, more: Partial<BytesToStore> = {}) =>
  documents.storeAndCheckDocumentBytes({ shipmentId: createShipmentId('s'), source, limitBytes: MIB, ...more });

/** A source that records whether it was read and cancelled. */
function watched(bytes: Buffer) {
  const seen = { isRead: false, isClosed: false };
  const source = (async function* () {
    seen.isRead = true;
    try {
      yield* splitIntoByteChunks(bytes, 1_000);
    } finally {
      seen.isClosed = true;
    }
  })();
  return { source, seen };
}

async function read(id: string): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const bytes of (await objects.store.getObject(id))?.bytes ?? []) parts.push(bytes);
  return Buffer.concat(parts);
}

describe('the bytes of a document', () => {
  it.each([
    ['application/pdf', createPdfBytes()],
    ['image/tiff', createTiff({ pixels: 300_000 })],
    ['text/plain', Buffer.from('x'.repeat(300_000))],
  ])('are stored unchanged, with their type: %s', async (content_type, bytes) => {
    const stored = await store(splitIntoByteChunks(bytes));
    expect(stored).toEqual({
      id: expect.stringMatching(new RegExp(`^${createRepeatedLetterShipmentToken('s')}-[a-z2-7]{26}$`)),
      size_bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      content_type,
    });
    expect((await read(stored.id)).equals(bytes)).toBe(true);
    expect(metrics.getMetricValue('document_bytes_stored_total')).toBe(bytes.length);
  });

  it('get a new id each time', async () => {
    const ids = await Promise.all([1, 2, 3].map(async () => (await store(splitIntoByteChunks(createPdfBytes()))).id));
    expect(new Set(ids).size).toBe(3);
  });

  it('get an id from the given random bits', async () => {
    const random = (size: number) => Buffer.from(Array.from({ length: size }, (_, n) => n + 224));
    documents = new DocumentBytesStore({ objects: objects.store, metrics, random });
    expect((await store(splitIntoByteChunks(createPdfBytes()))).id).toBe(
      `${createRepeatedLetterShipmentToken('s')}-abcdefghijklmnopqrstuvwxyz`,
    );
  });

  it('may reach the limit, but not exceed it', async () => {
    const bytes = Buffer.alloc(5_000, 'x');
    expect(await store(splitIntoByteChunks(bytes), { limitBytes: 5_000 })).toMatchObject({ size_bytes: 5_000 });
    await expect(store(splitIntoByteChunks(bytes), { limitBytes: 4_999 })).rejects.toThrow(
      new DocumentTooLargeError(4_999),
    );
    expect((await objects.listObjectFileNames()).length).toBe(1);
  });

  it('are refused unread if the declared size is zero or too large', async () => {
    const { source, seen } = watched(createPdfBytes());
    await expect(store(source, { declaredBytes: MIB + 1 })).rejects.toBeInstanceOf(DocumentTooLargeError);
    await expect(store(source, { declaredBytes: 0 })).rejects.toBeInstanceOf(EmptyDocumentError);
    expect(seen.isRead).toBe(false);
  });

  it.each<[string, Buffer, new (...args: never[]) => Error]>([
    ['none', Buffer.alloc(0), EmptyDocumentError],
    ['too many', Buffer.alloc(2 * MIB, 'x'), DocumentTooLargeError],
    ['a page', Buffer.from(`<html>${'x'.repeat(100_000)}`), UnsupportedDocumentTypeError],
    ['an archive, as is told at its end', createZip([{ name: 'a', content: 'a' }]), UnsupportedDocumentTypeError],
    ['a picture and an archive', Buffer.concat([createSamplePng(), createDocxBytes()]), UnsupportedDocumentTypeError],
    ['a text with NUL at its end', Buffer.from(`${'x'.repeat(500_000)}\0`), UnsupportedDocumentTypeError],
  ])('leave nothing behind if they are refused: %s', async (_name, bytes, refusal) => {
    const { source, seen } = watched(bytes);
    await expect(store(source)).rejects.toBeInstanceOf(refusal);
    expect(seen.isClosed).toBe(true);
    expect(await objects.listObjectFileNames()).toEqual([]);
    expect(metrics.getMetricValue(`documents_refused_total{why="${refusal.name.replace(/Error$/, '')}"}`)).toBe(1);
    expect(metrics.getMetricValue('document_bytes_stored_total')).toBe(0);
  });

  it.each([
    ['attachedTemplate', 'http://host.example/a.dotm', false],
    ['attachedTemplate', '&#x68;ttps://host.example/a.dotm', false],
    ['attachedTemplate', 'ht&#9;tp://host.example/a.dotm', false],
    ['attachedTemplate', '&#10;/ /host/a.dotm', false],
    ['attachedTemplate', '\\\\host\\a.dotm', false],
    ['attachedTemplate', 'file://host/a.dotm', false],
    ['attachedTemplate', 'file:///\\\\host\\a.dotm', false],
    ['oleObject', 'https://host.example/a.xlsx', false],
    ['externalLinkPath', '//host/a.xlsx', false],
    ['attachedTemplate', 'file:///C:\\Templates\\a.dotx', true],
    ['attachedTemplate', 'file:///Users/ann/a.dotx', true],
    ['externalLinkPath', 'rates 2026.xlsx', true],
    ['hyperlink', 'https://example.com/', true],
    ['hyperlink', 'mailto:ann@example.com', true],
    ['image', '../media/image1.png', true],
  ])('are refused if an archive loads content from another host: %s %s', async (kind, target, isAccepted) => {
    const type = `http://schemas.openxmlformats.org/officeDocument/2006/relationships/${kind}`;
    for (const isStored of [true, false]) {
      const content = `<?xml version="1.0"?><r:Relationships><r:Relationship Target='${target}' TargetMode="External" Type="${type}"/></r:Relationships>`;
      const stored = store(
        splitIntoByteChunks(createDocxBytes({ name: 'word/_rels/settings.xml.rels', content, isStored })),
      );
      if (isAccepted) expect(await stored).toMatchObject({ content_type: expect.stringContaining('word') as string });
      else await expect(stored).rejects.toThrow('the document loads a template or other content from another host');
    }
    expect(await objects.listObjectFileNames()).toHaveLength(isAccepted ? 2 : 0);
  });

  it.each([
    [
      'is larger than its directory says',
      { content: Buffer.alloc(2 ** 20), claimedBytes: 1_000 },
      'the archive inflates too much',
    ],
    ['is smaller than its directory says', { content: 'x', claimedBytes: 2 }, 'the archive is damaged'],
    ['is not compressed and larger', { content: 'xx', claimedBytes: 1, isStored: true }, 'the archive is damaged'],
  ])('are refused if a part of an archive %s', async (_name, part, why) => {
    await expect(store(splitIntoByteChunks(createDocxBytes({ name: 'word/a.xml', ...part })))).rejects.toThrow(why);
    expect(await objects.listObjectFileNames()).toHaveLength(0);
  });

  it('are refused if the relationships of an archive have a document type', async () => {
    const content = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "x">]><a/>';
    const stored = store(splitIntoByteChunks(createDocxBytes({ name: 'word/_rels/settings.xml.rels', content })));
    await expect(stored).rejects.toThrow('the relationships have a document type declaration');
  });

  it('leave nothing behind if their sender disconnects', async () => {
    async function* brokenOff() {
      yield* splitIntoByteChunks(createPdfBytes());
      throw new Error('the connection is gone');
    }
    await expect(store(brokenOff())).rejects.toThrow('the connection is gone');
    expect(await objects.listObjectFileNames()).toEqual([]);
  });

  it('are not refused if the engine does not respond', async () => {
    const unavailable = new UnavailableError('object store', 'away');
    const fail = () => Promise.reject(unavailable);
    const failing = new DocumentBytesStore({
      objects: { putObject: fail, getObject: fail, deleteObject: fail },
      metrics,
    });
    const bytes = { shipmentId: createShipmentId('s'), source: splitIntoByteChunks(createPdfBytes()), limitBytes: MIB };
    await expect(failing.storeAndCheckDocumentBytes(bytes)).rejects.toBe(unavailable);
  });
});

import type { ShipmentDocument } from '@tracking/client';
import { formatFileSize } from '../../values/files.ts';
import { decodeTextFile, listStatesOfRequiredDocuments, groupDocumentVersions } from './documents.ts';
import {
  MAX_UPLOAD_BYTES,
  type FileUploadOptions,
  type QueuedUpload,
  UploadQueue,
  getContentTypeOfFileName,
  findFileError,
  guessDocumentType,
} from './upload-queue.ts';

const document = (id: string, fields: Partial<ShipmentDocument> = {}) =>
  ({
    id,
    type: 'bill_of_lading',
    status: 'uploaded',
    replaces_document_id: null,
    replaced_by_document_id: null,
    ...fields,
  }) as ShipmentDocument;

describe('versions', () => {
  it('lists earlier versions after the newest one', () => {
    const all = [
      document('c', { replaces_document_id: 'b' }),
      document('other'),
      document('b', { replaces_document_id: 'a', replaced_by_document_id: 'c' }),
      document('a', { replaced_by_document_id: 'b' }),
    ];
    const ids = groupDocumentVersions(all).map(({ current, earlier }) => [current.id, ...earlier.map(({ id }) => id)]);
    expect(ids).toEqual([['c', 'b', 'a'], ['other']]);
  });

  it('does not group a document with a previous version that another document has replaced', () => {
    const all = [
      document('late', { replaces_document_id: 'a' }),
      document('first', { replaces_document_id: 'a' }),
      document('a', { replaced_by_document_id: 'first' }),
    ];
    expect(groupDocumentVersions(all).map(({ current, earlier }) => [current.id, earlier.length])).toEqual([
      ['late', 0],
      ['first', 1],
    ]);
  });
});

it('fulfils a requirement with the best document, and ignores replaced, deleted and missing documents', () => {
  const all = [
    document('rejected', { status: 'rejected' }),
    document('approved', { status: 'approved' }),
    document('replaced', { type: 'packing_list', replaced_by_document_id: 'x' }),
    document('deleted', { type: 'packing_list', status: 'deleted' }),
    document('pending', { type: 'packing_list', status: 'pending_upload' }),
    document('wrong', { type: 'photo', status: 'rejected' }),
  ];
  const items = listStatesOfRequiredDocuments(['bill_of_lading', 'packing_list', 'photo'], all);
  expect(items.map(({ type, state, document: one }) => [type, state, one?.id])).toEqual([
    ['bill_of_lading', 'approved', 'approved'],
    ['packing_list', 'missing', undefined],
    ['photo', 'rejected', 'wrong'],
  ]);
});

it('decodes text files in UTF-8 and UTF-16', () => {
  const bytesOf = (text: string, bigEndian: boolean) => {
    const bytes = new DataView(new ArrayBuffer(2 * text.length));
    for (let n = 0; n < text.length; n += 1) bytes.setUint16(2 * n, text.charCodeAt(n), !bigEndian);
    return bytes.buffer;
  };
  expect(decodeTextFile(new TextEncoder().encode('Köln').buffer)).toBe('Köln');
  expect(decodeTextFile(bytesOf('\ufeffKöln', false))).toBe('Köln');
  expect(decodeTextFile(bytesOf('\ufeffKöln', true))).toBe('Köln');
  expect(decodeTextFile(new ArrayBuffer(0))).toBe('');
});

describe('a chosen file', () => {
  it.each([
    ['MAEU_BL_77.pdf', 'bill_of_lading'],
    ['House Bill 12.pdf', 'house_bill'],
    ['freight invoice.xlsx', 'freight_invoice'],
    ['INV-2026-1.pdf', 'commercial_invoice'],
    ['blue car.jpg', 'photo'],
    ['notes.txt', 'other'],
    ['pod signed.png', 'proof_of_delivery'],
  ])('guesses that %s is of type %s', (name, type) => {
    expect(guessDocumentType(name)).toBe(type);
  });

  it('determines the content type from the file extension', () => {
    expect(['a.heic', 'a.WEBP', 'a.eml', 'a.msg'].map(getContentTypeOfFileName)).toEqual([
      'image/heic',
      'image/webp',
      'message/rfc822',
      'application/vnd.ms-outlook',
    ]);
    expect([
      getContentTypeOfFileName('a.PDF'),
      getContentTypeOfFileName('a.jpeg'),
      getContentTypeOfFileName('a.exe'),
      getContentTypeOfFileName('pdf'),
    ]).toEqual(['application/pdf', 'image/jpeg', undefined, undefined]);
  });

  it('rejects files that the service would reject', () => {
    expect(findFileError({ name: 'a.pdf', size: 1 })).toBeUndefined();
    const faults = [
      { name: 'a.zip', size: 1 },
      { name: 'a.pdf', size: 0 },
      { name: 'a.pdf', size: MAX_UPLOAD_BYTES + 1 },
    ].map(findFileError);
    expect(faults).toEqual([
      expect.stringContaining('File type not supported'),
      expect.stringContaining('empty'),
      expect.stringContaining('250'),
    ]);
  });
});

describe('an upload queue', () => {
  const file = (name: string) => ({ name, size: 10 }) as File;
  /** A queue of three chosen files; `during` runs while the file of that name is being sent. */
  const queueOf = () => {
    const sent: string[] = [];
    const during: Record<string, (options: FileUploadOptions) => unknown> = {};
    const transfer = async ({ file: { name }, type }: QueuedUpload, options: FileUploadOptions) => {
      sent.push(`${name} as ${type}`);
      await during[name]?.(options);
      options.signal.throwIfAborted();
    };
    const queue = new UploadQueue({ transfer, describe: (error) => (error as Error).message });
    queue.addFilesToUploadQueue(
      ['a.pdf', 'b.pdf', 'c.pdf'].map((name) => ({ file: file(name), type: 'other' as const })),
    );
    const keys = queue.state().map(({ key }) => key) as [number, number, number];
    const states = () => queue.state().map((upload) => [upload.file.name, upload.state, upload.loaded, upload.error]);
    return { queue, keys, sent, during, states };
  };

  it('keeps a file that cannot be uploaded as failed', () => {
    const { queue, states } = queueOf();
    queue.addFilesToUploadQueue([{ file: file('d.exe'), type: 'other', error: 'No.' }]);
    expect(states().at(-1)).toEqual(['d.exe', 'failed', 0, 'No.']);
  });

  it('uploads each file with its type at that time, and skips removed files', async () => {
    const { queue, keys, sent, during } = queueOf();
    during['a.pdf'] = () => {
      queue.removeUpload(keys[1]);
      queue.setUploadDocumentType(keys[2], 'photo');
    };
    await queue.uploadFiles(keys);
    expect(sent).toEqual(['a.pdf as other', 'c.pdf as photo']);
    expect(queue.state()).toEqual([]);
  });

  it('shows progress, continues after a failure, and retries the failed file', async () => {
    const { queue, keys, sent, during, states } = queueOf();
    const seen: unknown[] = [];
    during['a.pdf'] = ({ onProgress }) => {
      onProgress(5);
      seen.push(states()[0]);
      if (sent.length === 1) throw new Error('Broke.');
    };
    await queue.uploadFiles(keys.slice(0, 2));
    expect(states()).toEqual([
      ['a.pdf', 'failed', 5, 'Broke.'],
      ['c.pdf', 'chosen', 0, undefined],
    ]);
    await queue.uploadFiles([keys[0]]);
    expect(states()).toEqual([['c.pdf', 'chosen', 0, undefined]]);
    expect(seen).toEqual(Array(2).fill(['a.pdf', 'sending', 5, undefined]));
  });

  it('stops the transfer of a removed file and continues with the next', async () => {
    const { queue, keys, sent, during, states } = queueOf();
    during['a.pdf'] = () => queue.removeUpload(keys[0]);
    await queue.uploadFiles(keys.slice(0, 2));
    expect(sent).toEqual(['a.pdf as other', 'b.pdf as other']);
    expect(states()).toEqual([['c.pdf', 'chosen', 0, undefined]]);
  });

  it('uploads no further files after it was stopped', async () => {
    const { queue, keys, sent, during, states } = queueOf();
    during['a.pdf'] = () => queue.stopUploads();
    await queue.uploadFiles(keys);
    expect(sent).toEqual(['a.pdf as other']);
    expect(states().map(([, state]) => state)).toEqual(['chosen', 'chosen', 'chosen']);
  });
});

it.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1_500, '1.5 kB'],
  [26_214_400, '26.2 MB'],
])('formats %d bytes as %s', (bytes, words) => {
  expect(formatFileSize(bytes).replace(',', '.')).toBe(words);
});

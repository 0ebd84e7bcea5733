import type { ShipmentDocument } from '@tracking/client';
import { fileSize } from '../../values/file-size.ts';
import { contentTypeOf, faultOf, MOST_BYTES, supposedType } from './chosen-file.ts';
import { checklist, versionsOf } from './document-versions.ts';
import { type Upload, reduceUploads } from './uploads.ts';

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
  it('stand behind the newest', () => {
    const all = [
      document('c', { replaces_document_id: 'b' }),
      document('other'),
      document('b', { replaces_document_id: 'a', replaced_by_document_id: 'c' }),
      document('a', { replaced_by_document_id: 'b' }),
    ];
    const ids = versionsOf(all).map(({ current, earlier }) => [current.id, ...earlier.map(({ id }) => id)]);
    expect(ids).toEqual([['c', 'b', 'a'], ['other']]);
  });

  it('one whose place another took while it was pending stands for itself', () => {
    const all = [
      document('late', { replaces_document_id: 'a' }),
      document('first', { replaces_document_id: 'a' }),
      document('a', { replaced_by_document_id: 'first' }),
    ];
    expect(versionsOf(all).map(({ current, earlier }) => [current.id, earlier.length])).toEqual([
      ['late', 0],
      ['first', 1],
    ]);
  });
});

it('what is required is fulfilled by the best that is there; what was replaced, deleted or not sent counts for nothing', () => {
  const all = [
    document('rejected', { status: 'rejected' }),
    document('approved', { status: 'approved' }),
    document('replaced', { type: 'packing_list', replaced_by_document_id: 'x' }),
    document('deleted', { type: 'packing_list', status: 'deleted' }),
    document('pending', { type: 'packing_list', status: 'pending_upload' }),
    document('wrong', { type: 'photo', status: 'rejected' }),
  ];
  const items = checklist(['bill_of_lading', 'packing_list', 'photo'], all);
  expect(items.map(({ type, state, document: one }) => [type, state, one?.id])).toEqual([
    ['bill_of_lading', 'approved', 'approved'],
    ['packing_list', 'missing', undefined],
    ['photo', 'rejected', 'wrong'],
  ]);
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
  ])('%s is supposed to be %s', (name, type) => {
    expect(supposedType(name)).toBe(type);
  });

  it('is known by its ending', () => {
    expect([contentTypeOf('a.PDF'), contentTypeOf('a.jpeg'), contentTypeOf('a.exe'), contentTypeOf('pdf')]).toEqual([
      'application/pdf',
      'image/jpeg',
      undefined,
      undefined,
    ]);
  });

  it('that the service would refuse is not sent', () => {
    expect(faultOf({ name: 'a.pdf', size: 1 })).toBeUndefined();
    const faults = [
      { name: 'a.zip', size: 1 },
      { name: 'a.pdf', size: 0 },
      { name: 'a.pdf', size: MOST_BYTES + 1 },
    ].map(faultOf);
    expect(faults).toEqual([
      expect.stringContaining('Only'),
      expect.stringContaining('empty'),
      expect.stringContaining('250'),
    ]);
  });
});

describe('uploads', () => {
  const file = { name: 'a.pdf', size: 10 } as File;
  const chosen = reduceUploads([], {
    kind: 'choose',
    uploads: [
      { key: 1, file, type: 'photo' },
      { key: 2, file, type: 'other', fault: 'No.' },
    ],
  });
  const states = (uploads: readonly Upload[]) =>
    uploads.map(({ key, state, loaded, fault }) => [key, state, loaded, fault]);

  it('begin as chosen, or as failed where they cannot be sent', () => {
    expect(states(chosen)).toEqual([
      [1, 'chosen', 0, undefined],
      [2, 'failed', 0, 'No.'],
    ]);
  });

  it('go on, fail, and begin anew without the fault of before', () => {
    const sent = reduceUploads(reduceUploads(chosen, { kind: 'send', key: 1 }), {
      kind: 'progress',
      key: 1,
      loaded: 5,
    });
    expect(states(sent)[0]).toEqual([1, 'sending', 5, undefined]);
    const failed = reduceUploads(sent, { kind: 'fail', key: 1, fault: 'Broke.' });
    expect(states(failed)[0]).toEqual([1, 'failed', 5, 'Broke.']);
    expect(states(reduceUploads(failed, { kind: 'send', key: 1 }))[0]).toEqual([1, 'sending', 0, undefined]);
    expect(reduceUploads(failed, { kind: 'end', key: 1 }).map(({ key }) => key)).toEqual([2]);
  });

  it('what comes of one that was removed changes nothing', () => {
    const removed = reduceUploads(chosen, { kind: 'end', key: 1 });
    expect(reduceUploads(removed, { kind: 'progress', key: 1, loaded: 9 })).toEqual(removed);
  });
});

it.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1_500, '1.5 kB'],
  [26_214_400, '26.2 MB'],
])('%d bytes are %s', (bytes, words) => {
  expect(fileSize(bytes).replace(',', '.')).toBe(words);
});

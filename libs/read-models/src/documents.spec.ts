import type { DocumentRecord } from '@tracking/contracts';
import { upcastStoredShipmentEvent } from '@tracking/shipments-domain';
import {
  ACME_LIVE_SCOPE,
  createSampleDocumentRecord,
  createSampleMilestone,
  createShipmentEventForTest,
  createNthTestShipmentToken,
} from '../test/shipment-events.ts';
import { type DocumentReadModelRow, documentsReadModel } from './documents.ts';
import type { ProjectedEvent } from './read-model.ts';

const stream = `shipment-${createNthTestShipmentToken(1)}`;
const DELETED_AT = '2026-03-05T10:00:00.000Z';

function event(revision: number, type: string, data: object, imported = false): ProjectedEvent {
  const made = createShipmentEventForTest({ type, data }, null, new Date(DELETED_AT));
  const metadata = imported ? { ...made.metadata, imported } : made.metadata;
  const stored = { ...made, metadata, stream, revision, position: `${revision}` };
  return {
    id: stored.id,
    stream,
    position: stored.position,
    scope: ACME_LIVE_SCOPE,
    event: upcastStoredShipmentEvent(stored),
  };
}

function fold(...events: readonly ProjectedEvent[]): readonly DocumentReadModelRow[] {
  const rows = new Map<string, DocumentReadModelRow>();
  for (const each of events)
    for (const row of documentsReadModel.applyEventToRows(each, (id) => rows.get(id))) rows.set(row.id, row);
  return [...rows.values()];
}

const pending = createSampleDocumentRecord(1, 'a', { status: 'pending_upload', uploaded_at: null });
const whole = createSampleDocumentRecord(1, 'a');
const deleted: DocumentRecord = { ...whole, status: 'deleted' };
const requested = event(1, 'document.requested.v1', { stored: { document: pending, object_id: null } });
const uploaded = event(2, 'document.uploaded.v1', {
  stored: { document: whole, object_id: 'obj-a' },
  replaced: null,
  documents_count: 1,
});

describe('rows of documents', () => {
  it('a requested document has a row with its shipment and scope, without bytes', () => {
    expect(fold(requested)).toEqual([
      {
        ...ACME_LIVE_SCOPE,
        id: pending.id,
        shipment_id: pending.shipment_id,
        document: pending,
        object_id: null,
        revision: 1,
        status: 'pending_upload',
        type: 'packing_list',
        created_at: pending.created_at,
        storage_bytes: 1_000,
      },
    ]);
  });

  it('an uploaded document records the location of its bytes', () => {
    const row = { document: whole, object_id: 'obj-a', status: 'uploaded', revision: 2 };
    expect(fold(requested, uploaded)).toEqual([expect.objectContaining(row)]);
  });

  it.each(['approved', 'rejected'] as const)('the row shows that the document is %s', (status) => {
    const document = { ...whole, status };
    const changed = { stored: { document, object_id: 'obj-a' }, previous: whole };
    const [row] = fold(requested, uploaded, event(3, `document.${status}.v1`, changed));
    expect(row).toMatchObject({ document, status, revision: 3 });
    expect(row).not.toHaveProperty('deleted_at');
  });

  it('a replacement changes both documents', () => {
    const other = createSampleDocumentRecord(1, 'b', { replaces_document_id: whole.id });
    const replaced = { ...whole, replaced_by_document_id: other.id };
    const data = {
      stored: { document: other, object_id: 'obj-b' },
      replaced: { document: replaced, object_id: 'obj-a' },
      documents_count: 2,
    };
    expect(fold(uploaded, event(3, 'document.uploaded.v1', data))).toEqual([
      expect.objectContaining({ document: replaced, object_id: 'obj-a', revision: 3 }),
      expect.objectContaining({ document: other, object_id: 'obj-b', revision: 3 }),
    ]);
  });

  it('a deletion records its time and the bytes to destroy', () => {
    const data = { stored: { document: deleted, object_id: 'obj-a' }, previous: whole, documents_count: 0 };
    expect(fold(uploaded, event(3, 'document.deleted.v1', data))).toEqual([
      expect.objectContaining({ status: 'deleted', object_id: 'obj-a', deleted_at: DELETED_AT, revision: 3 }),
    ]);
  });

  it('deleting a replacement restores the replaced document', () => {
    const former = createSampleDocumentRecord(1, 'b');
    const stored = { document: deleted, object_id: 'obj-a' };
    const restored = { document: former, object_id: 'obj-b' };
    const data = { stored, restored, previous: whole, documents_count: 1 };
    const rows = fold(uploaded, event(3, 'document.deleted.v1', data));
    expect(rows).toEqual([
      expect.objectContaining({ status: 'deleted', deleted_at: DELETED_AT, revision: 3 }),
      expect.objectContaining({ document: former, object_id: 'obj-b', revision: 3 }),
    ]);
    expect(rows[1]).not.toHaveProperty('deleted_at');
  });

  it.each([['obj-a'], [null]])('an expiry records whether bytes exist: %s', (object_id) => {
    const data = { stored: { document: { ...pending, status: 'expired' }, object_id }, previous: pending };
    const [row] = fold(requested, event(2, 'document.expired.v1', data));
    expect(row).toMatchObject({ status: 'expired', object_id });
    expect(row?.deleted_at).toBe(object_id === null ? undefined : DELETED_AT);
  });

  it('deleting a document before its upload leaves no bytes to destroy', () => {
    const document = { ...pending, status: 'deleted' };
    const data = { stored: { document, object_id: null }, previous: pending, documents_count: 0 };
    const [row] = fold(requested, event(2, 'document.deleted.v1', data));
    expect(row).toMatchObject({ status: 'deleted', object_id: null });
    expect(row).not.toHaveProperty('deleted_at');
  });

  it('an event that changes no document writes nothing', () => {
    const recorded = { milestone: createSampleMilestone(1, 'a'), supersedes: [], last: { containers: [] } };
    expect(fold(event(1, 'milestone.recorded.v1', recorded))).toEqual([]);
    const object = { id: 'obj-a', size_bytes: 1, sha256: 'ab'.repeat(32), content_type: 'text/plain' };
    expect(fold(event(2, 'document.received.v1', { document_id: pending.id, object }))).toEqual([]);
  });

  it('a stream that does not begin with a shipment is refused', () => {
    expect(() => fold({ ...requested, scope: undefined })).toThrow('does not begin with a shipment');
  });
});

describe('storage bytes of a document', () => {
  const bytesAfter = (...events: readonly ProjectedEvent[]) =>
    fold(...events).map(({ storage_bytes }) => storage_bytes);
  const approved = (revision: number) => {
    const stored = { document: { ...whole, status: 'approved' }, object_id: 'obj-a' };
    return event(revision, 'document.approved.v1', { stored, previous: whole });
  };

  it('are its size from the request until it expires or is deleted', () => {
    expect(bytesAfter(requested)).toEqual([1_000]);
    expect(bytesAfter(requested, uploaded, approved(3))).toEqual([1_000]);
    const expired = { stored: { document: { ...pending, status: 'expired' }, object_id: null }, previous: pending };
    expect(bytesAfter(requested, event(2, 'document.expired.v1', expired))).toEqual([undefined]);
    const gone = { stored: { document: deleted, object_id: 'obj-a' }, previous: whole, documents_count: 0 };
    expect(bytesAfter(requested, uploaded, event(3, 'document.deleted.v1', gone))).toEqual([undefined]);
  });

  it('are none if the upload was imported, also after later reviews', () => {
    const upload = { stored: { document: whole, object_id: 'obj-a' }, replaced: null, documents_count: 1 };
    const importedUpload = event(2, 'document.uploaded.v1', upload, true);
    expect(bytesAfter(importedUpload, approved(3))).toEqual([undefined]);
    const importedRequest = event(1, 'document.requested.v1', { stored: { document: pending, object_id: null } }, true);
    expect(bytesAfter(importedRequest)).toEqual([undefined]);
    expect(bytesAfter(importedRequest, uploaded)).toEqual([1_000]);
  });

  it('ignore an event that the row already reflects', () => {
    expect(bytesAfter(uploaded, requested)).toEqual([1_000]);
    expect(documentsReadModel.applyEventToRows(requested, () => fold(uploaded)[0])).toEqual([]);
  });
});

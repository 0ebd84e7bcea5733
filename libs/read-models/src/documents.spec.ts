import type { DocumentRecord } from '@tracking/contracts';
import { toShipmentEvent } from '@tracking/shipments-domain';
import { ACME, documentRecord, milestone, newEvent, token } from '../test/shipment-events.ts';
import { type DocumentRow, documentsModel } from './documents.ts';
import type { ProjectedEvent } from './read-model.ts';

const stream = `shipment-${token(1)}`;
const DELETED_AT = '2026-03-05T10:00:00.000Z';

function event(revision: number, type: string, data: object): ProjectedEvent {
  const stored = { ...newEvent({ type, data }, null, new Date(DELETED_AT)), stream, revision, position: `${revision}` };
  return { id: stored.id, stream, position: stored.position, scope: ACME, event: toShipmentEvent(stored) };
}

function fold(...events: readonly ProjectedEvent[]): readonly DocumentRow[] {
  const rows = new Map<string, DocumentRow>();
  for (const each of events) for (const row of documentsModel.apply(each, (id) => rows.get(id))) rows.set(row.id, row);
  return [...rows.values()];
}

const pending = documentRecord(1, 'a', { status: 'pending_upload', uploaded_at: null });
const whole = documentRecord(1, 'a');
const deleted: DocumentRecord = { ...whole, status: 'deleted' };
const requested = event(1, 'document.requested.v1', { stored: { document: pending, object_id: null } });
const uploaded = event(2, 'document.uploaded.v1', {
  stored: { document: whole, object_id: 'obj-a' },
  replaced: null,
  documents_count: 1,
});

describe('rows of documents', () => {
  it('given one that is to come, then a row of its shipment and scope, without bytes', () => {
    expect(fold(requested)).toEqual([
      {
        ...ACME,
        id: pending.id,
        shipment_id: pending.shipment_id,
        document: pending,
        object_id: null,
        revision: 1,
        status: 'pending_upload',
        type: 'packing_list',
        created_at: pending.created_at,
      },
    ]);
  });

  it('given its bytes, then where they are', () => {
    const row = { document: whole, object_id: 'obj-a', status: 'uploaded', revision: 2 };
    expect(fold(requested, uploaded)).toEqual([expect.objectContaining(row)]);
  });

  it.each(['approved', 'rejected'] as const)('given that it is %s, then its row says that', (status) => {
    const document = { ...whole, status };
    const changed = { stored: { document, object_id: 'obj-a' }, previous: whole };
    const [row] = fold(requested, uploaded, event(3, `document.${status}.v1`, changed));
    expect(row).toMatchObject({ document, status, revision: 3 });
    expect(row).not.toHaveProperty('deleted_at');
  });

  it('given one that takes its place, then both', () => {
    const other = documentRecord(1, 'b', { replaces_document_id: whole.id });
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

  it('given that it is deleted, then when, and what is to be destroyed', () => {
    const data = { stored: { document: deleted, object_id: 'obj-a' }, previous: whole, documents_count: 0 };
    expect(fold(uploaded, event(3, 'document.deleted.v1', data))).toEqual([
      expect.objectContaining({ status: 'deleted', object_id: 'obj-a', deleted_at: DELETED_AT, revision: 3 }),
    ]);
  });

  it('given that it is deleted and another one is replaced no longer, then both', () => {
    const former = documentRecord(1, 'b');
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

  it.each([['obj-a'], [null]])('given that it expired, then what had come of its bytes: %s', (object_id) => {
    const data = { stored: { document: { ...pending, status: 'expired' }, object_id }, previous: pending };
    const [row] = fold(requested, event(2, 'document.expired.v1', data));
    expect(row).toMatchObject({ status: 'expired', object_id });
    expect(row?.deleted_at).toBe(object_id === null ? undefined : DELETED_AT);
  });

  it('given that it is deleted before it had bytes, then nothing is to be destroyed', () => {
    const document = { ...pending, status: 'deleted' };
    const data = { stored: { document, object_id: null }, previous: pending, documents_count: 0 };
    const [row] = fold(requested, event(2, 'document.deleted.v1', data));
    expect(row).toMatchObject({ status: 'deleted', object_id: null });
    expect(row).not.toHaveProperty('deleted_at');
  });

  it('given an event that changes none, then nothing', () => {
    const recorded = { milestone: milestone(1, 'a'), supersedes: [], last: { containers: [] } };
    expect(fold(event(1, 'milestone.recorded.v1', recorded))).toEqual([]);
    const object = { id: 'obj-a', size_bytes: 1, sha256: 'ab'.repeat(32), content_type: 'text/plain' };
    expect(fold(event(2, 'document.received.v1', { document_id: pending.id, object }))).toEqual([]);
  });

  it('given a stream that does not begin with a shipment, then it refuses', () => {
    expect(() => fold({ ...requested, scope: undefined })).toThrow('does not begin with a shipment');
  });
});

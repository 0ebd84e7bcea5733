import type { DocumentRecord, DocumentStatus, DocumentType, Scope, Timestamp } from '@tracking/contracts';
import { documentsOf } from '@tracking/shipments-domain';
import type { ReadModel, ReadModelRow } from '../read-model.ts';
import { SCOPE_FIELDS, scopeOf } from '../scope.ts';

/** One document; what lists filter and sort by stands beside it. */
export interface DocumentRow extends ReadModelRow, Scope {
  readonly document: DocumentRecord;
  /** Where its bytes are, or are to be destroyed; null where there are none. No client is told. */
  readonly object_id: string | null;
  readonly shipment_id: string;
  readonly status: DocumentStatus;
  readonly type: DocumentType;
  readonly created_at: Timestamp;
  /** Since when its bytes are to be destroyed: only of one that was deleted, or expired, and had any. */
  readonly deleted_at?: Timestamp;
}

export const CREATED = ['created_at', 'id'] as const;
export const DELETED = ['deleted_at', 'id'] as const;

/** Documents as they are answered, one row each. */
export const documentsModel: ReadModel<DocumentRow, 'documents'> = {
  name: 'documents',
  version: 1,
  indexes: [
    // Behind the id: what else may be asked for, so that rows that are left out are not looked at.
    { name: 'by_shipment', fields: [...SCOPE_FIELDS, 'shipment_id', ...CREATED, 'status', 'type'] },
    { name: 'by_deleted_at', fields: [...DELETED] },
  ],
  scoped: true,

  apply({ event, scope }) {
    const documents = documentsOf(event);
    if (documents.length === 0) return [];
    if (!scope) throw new Error('a stream that does not begin with a shipment');
    return documents.map(({ document, object_id }) => {
      const { id, shipment_id, status, type, created_at } = document;
      // The event is the one that made it so: no other changes a document that is.
      const hasBytesToDestroy = (status === 'deleted' || status === 'expired') && object_id !== null;
      return {
        id,
        ...scopeOf(scope),
        document,
        object_id,
        revision: event.revision,
        shipment_id,
        status,
        type,
        created_at,
        ...(hasBytesToDestroy && { deleted_at: event.metadata.recorded_at }),
      };
    });
  },
};

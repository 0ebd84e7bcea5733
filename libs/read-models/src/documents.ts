import {
  type DocumentRecord,
  type DocumentStatus,
  type DocumentType,
  isInScope,
  type Scope,
  type Timestamp,
} from '@tracking/contracts';
import { documentsOf, type StoredDocument } from '@tracking/shipments-domain';
import type { ActiveRows } from './active-rows.ts';
import {
  scopeFilter,
  type QueryPage,
  type ReadModel,
  type ReadModelRow,
  SCOPE_FIELDS,
  pickScope,
  type SortValues,
} from './read-model.ts';

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

const CREATED = ['created_at', 'id'] as const;
const DELETED = ['deleted_at', 'id'] as const;

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
        ...pickScope(scope),
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

export interface DocumentListQuery {
  /** Any of these; all where absent. */
  readonly statuses?: readonly DocumentStatus[] | undefined;
  readonly types?: readonly DocumentType[] | undefined;
  /** At least 1. */
  readonly limit: number;
  /** `next` of the page before, under the same filters. */
  readonly after?: SortValues | undefined;
}

export interface FoundDocument extends StoredDocument {
  /** Of the shipment right after the last event that changed this document; it may have gone on since. */
  readonly shipment_version: number;
}

/** A document whose bytes are to be destroyed. */
export interface DeletedDocument {
  readonly id: string;
  readonly object_id: string;
  readonly deleted_at: Timestamp;
}

/** Documents as the read model has them; read-your-writes is waited for with `ReadModelProgress`. */
export class DocumentQueries {
  constructor(private readonly active: Pick<ActiveRows<DocumentRow>, 'rows'>) {}

  /** Undefined also for one of another scope. @throws Unavailable, Busy */
  async get(scope: Scope, id: string): Promise<FoundDocument | undefined> {
    const row = await (await this.active.rows()).get(id);
    if (!row || !isInScope(row, scope)) return undefined;
    const { document, object_id, revision } = row;
    return { document, object_id, shipment_version: revision + 1 };
  }

  /**
   * Newest first, by `created_at`, id. Empty for a shipment that is not of the scope, as for one that does not exist.
   * @throws Unavailable, Busy
   */
  async list(scope: Scope, shipmentId: string, query: DocumentListQuery): Promise<QueryPage<DocumentRecord>> {
    const { statuses, types, limit, after } = query;
    const rows = await this.active.rows();
    const found = await rows.find({
      filter: {
        ...scopeFilter(scope),
        shipment_id: shipmentId,
        ...(statuses && { status: { in: statuses } }),
        ...(types && { type: { in: types } }),
      },
      sort: { fields: CREATED, descending: true },
      index: 'by_shipment',
      limit: limit + 1,
      ...(after && { after }),
    });
    const items = found.slice(0, limit);
    const last = items[items.length - 1];
    return {
      items: items.map(({ document }) => document),
      next: last && found.length > limit ? CREATED.map((field) => last[field]) : undefined,
    };
  }

  /**
   * Documents of all scopes that were deleted, or expired, and had bytes, in the order in which that happened by the clocks
   * of those who did it. One may come later than others that were deleted after it: whoever goes on from a place begins a while
   * before it.
   * @param place the last of the page before; all there are without it
   * @throws Unavailable
   */
  async deletedSince(
    place: Pick<DeletedDocument, 'deleted_at' | 'id'> | undefined,
    limit: number,
  ): Promise<readonly DeletedDocument[]> {
    const rows = await this.active.rows();
    const found = await rows.find({
      filter: { deleted_at: { gte: place?.deleted_at ?? '' } },
      sort: { fields: DELETED },
      limit,
      ...(place && { after: [place.deleted_at, place.id] }),
    });
    return found.flatMap(({ id, object_id, deleted_at }) =>
      object_id === null || deleted_at === undefined ? [] : [{ id, object_id, deleted_at }],
    );
  }
}

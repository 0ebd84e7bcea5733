import { isInScope } from '@tracking/contracts';
import type { DocumentRecord, DocumentStatus, DocumentType, Scope, Timestamp } from '@tracking/contracts';
import type { StoredDocument } from '@tracking/shipments-domain';
import type { ActiveRows } from '../active-rows.ts';
import type { QueryPage, SortValues } from '../read-model.ts';
import { inScope } from '../scope.ts';
import { CREATED, DELETED, type DocumentRow } from './document-rows.ts';

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
        ...inScope(scope),
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

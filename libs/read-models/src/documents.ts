import {
  type DocumentRecord,
  type DocumentStatus,
  type DocumentType,
  isDocumentPresent,
  isResourceInScope,
  type WorkspaceScope,
  type Timestamp,
} from '@tracking/contracts';
import type { Collection, IndexSpec } from '@tracking/ports';
import { listDocumentsChangedByEvent, type EventMetadata, type DocumentWithFileId } from '@tracking/shipments-domain';
import type { ActiveGenerationSelector } from './active-rows.ts';
import {
  createScopeFilter,
  type QueryPage,
  type ReadModel,
  type ReadModelRow,
  SCOPE_FIELDS,
  pickScopeFields,
  type SortValues,
  toShardKeyValuesOfScope,
} from './read-model.ts';

/** Row of one document, with separate fields for filters and sorting. */
export interface DocumentReadModelRow extends ReadModelRow, WorkspaceScope {
  readonly document: DocumentRecord;
  /** Id of the stored bytes; null if there are none. Not sent to clients. */
  readonly object_id: string | null;
  readonly shipment_id: string;
  readonly status: DocumentStatus;
  readonly type: DocumentType;
  readonly created_at: Timestamp;
  /**
   * Bytes that the document takes from the storage of its workspace: its size, also while the upload is pending. Absent
   * if it is deleted or expired, or if its upload was imported, because imports do not contain files.
   */
  readonly storage_bytes?: number;
  /** Time from which the document's bytes must be destroyed. Set for deleted and expired documents that have bytes. */
  readonly deleted_at?: Timestamp;
}

const CREATION_ORDER = ['created_at', 'id'] as const;
const DELETED_DOCUMENT_SORT_FIELDS = ['deleted_at', 'id'] as const;
const DOCUMENT_INDEXES: readonly IndexSpec[] = [
  // Filter fields follow the id in the index, so that a scan skips non-matching rows without reading them.
  { name: 'by_shipment', fields: [...SCOPE_FIELDS, 'shipment_id', ...CREATION_ORDER, 'status', 'type'] },
  { name: 'by_deleted_at', fields: [...DELETED_DOCUMENT_SORT_FIELDS] },
];
/** First version of the rows with `storage_bytes`. */
const FIRST_DOCUMENT_ROW_VERSION_WITH_STORAGE_BYTES = 2;
/** Maximum number of documents per read of rows without `storage_bytes`. */
const DOCUMENTS_PER_READ = 1_000;

/** Read model of documents in API format, one row per document. */
export const documentsReadModel: ReadModel<DocumentReadModelRow, 'documents'> = {
  name: 'documents',
  version: FIRST_DOCUMENT_ROW_VERSION_WITH_STORAGE_BYTES,
  indexes: [
    ...DOCUMENT_INDEXES,
    { name: 'by_storage', fields: ['workspace_id', 'storage_bytes'], only: 'storage_bytes' },
  ],
  formerIndexes: { 1: DOCUMENT_INDEXES },
  scoped: true,

  listRowIdsNeededToProjectEvent: ({ event }) => listDocumentsChangedByEvent(event).map(({ document }) => document.id),

  applyEventToRows({ event, scope }, row) {
    const documents = listDocumentsChangedByEvent(event);
    if (documents.length === 0) return [];
    if (!scope) throw new Error('the stream does not begin with a shipment event');
    return documents.flatMap(({ document, object_id }) => {
      const { id, shipment_id, status, type, created_at } = document;
      const before = row(id);
      if (before !== undefined && before.revision >= event.revision) return [];
      const storage_bytes = computeStorageBytesOfDocument(event.metadata, document, before);
      // Only the event that deletes the document sets `deleted_at`. Later events do not change a deleted document.
      const hasBytesToDestroy = (status === 'deleted' || status === 'expired') && object_id !== null;
      return {
        id,
        ...pickScopeFields(scope),
        document,
        object_id,
        revision: event.revision,
        shipment_id,
        status,
        type,
        created_at,
        ...(storage_bytes !== undefined && { storage_bytes }),
        ...(hasBytesToDestroy && { deleted_at: event.metadata.recorded_at }),
      };
    });
  },
};

/** Returns the bytes that a document takes from its workspace's storage after an event; undefined if it takes none. */
function computeStorageBytesOfDocument(
  { imported }: EventMetadata,
  document: DocumentRecord,
  before: DocumentReadModelRow | undefined,
): number | undefined {
  const isPresent = isDocumentPresent(document);
  if (!isPresent && document.status !== 'pending_upload') return undefined;
  const isUpload = before === undefined || (isPresent && before.status === 'pending_upload');
  const isStored = isUpload ? imported !== true : before.storage_bytes !== undefined;
  return isStored ? document.size_bytes : undefined;
}

export interface DocumentListQuery {
  /** Accepted values by field; a field that is absent accepts all values. */
  readonly statuses?: readonly DocumentStatus[] | undefined;
  readonly types?: readonly DocumentType[] | undefined;
  /** Maximum number of items in the page, at least 1. */
  readonly limit: number;
  /** Value of `next` from the previous page with the same filters. */
  readonly after?: SortValues | undefined;
}

export interface DocumentWithShipmentVersion extends DocumentWithFileId {
  /** Version of the shipment after the last event that changed this document. The shipment can have a newer version. */
  readonly shipment_version: number;
}

/** A document whose bytes must be destroyed. */
export interface DeletedDocument {
  readonly id: string;
  readonly object_id: string;
  readonly deleted_at: Timestamp;
}

/** Queries of documents. For read-your-writes, wait with `ReadModelProgress`. */
export class DocumentQueries {
  constructor(
    private readonly active: Pick<
      ActiveGenerationSelector<DocumentReadModelRow>,
      'openActiveGenerationRows' | 'openRowsOfQueriedGeneration'
    >,
  ) {}

  /** Returns the document; undefined if it does not exist in the scope. @throws UnavailableError, BusyError */
  async getDocument(scope: WorkspaceScope, id: string): Promise<DocumentWithShipmentVersion | undefined> {
    const row = await (await this.active.openActiveGenerationRows()).get(id, toShardKeyValuesOfScope(scope));
    if (!row || !isResourceInScope(row, scope)) return undefined;
    const { document, object_id, revision } = row;
    return { document, object_id, shipment_version: revision + 1 };
  }

  /**
   * Lists documents newest first, by `created_at`, then id. Returns an empty page if the scope has no such shipment.
   * @throws UnavailableError, BusyError
   */
  async listDocuments(
    scope: WorkspaceScope,
    shipmentId: string,
    query: DocumentListQuery,
  ): Promise<QueryPage<DocumentRecord>> {
    const { statuses, types, limit, after } = query;
    const rows = await this.active.openActiveGenerationRows();
    const found = await rows.find({
      filter: {
        ...createScopeFilter(scope),
        shipment_id: shipmentId,
        ...(statuses && { status: { in: statuses } }),
        ...(types && { type: { in: types } }),
      },
      sort: { fields: CREATION_ORDER, descending: true },
      index: 'by_shipment',
      limit: limit + 1,
      ...(after && { after }),
    });
    const items = found.slice(0, limit);
    const last = items[items.length - 1];
    return {
      items: items.map(({ document }) => document),
      next: last && found.length > limit ? CREATION_ORDER.map((field) => last[field]) : undefined,
    };
  }

  /**
   * Returns the bytes that all documents of a workspace take, in both environments, including pending uploads.
   * @throws UnavailableError
   */
  async sumDocumentBytesOfWorkspace(workspace_id: string): Promise<number> {
    const { rows, version } = await this.active.openRowsOfQueriedGeneration();
    if (version < FIRST_DOCUMENT_ROW_VERSION_WITH_STORAGE_BYTES) return sumDocumentSizes(rows, workspace_id);
    return rows.sum('storage_bytes', { workspace_id, storage_bytes: { gt: 0 } }, 'by_storage');
  }

  /**
   * Lists deleted and expired documents that have bytes, of all scopes, in deletion order. Deletion times are from the
   * clocks of several processes, so a document can appear late, before the cursor: sometimes start again at an earlier
   * time.
   * @param place last document of the previous page; if absent, the list starts at the beginning
   * @throws UnavailableError
   */
  async listDocumentsDeletedSince(
    place: Pick<DeletedDocument, 'deleted_at' | 'id'> | undefined,
    limit: number,
  ): Promise<readonly DeletedDocument[]> {
    const rows = await this.active.openActiveGenerationRows();
    const found = await rows.find({
      filter: { deleted_at: { gte: place?.deleted_at ?? '' } },
      sort: { fields: DELETED_DOCUMENT_SORT_FIELDS },
      limit,
      ...(place && { after: [place.deleted_at, place.id] }),
    });
    return found.flatMap(({ id, object_id, deleted_at }) =>
      object_id === null || deleted_at === undefined ? [] : [{ id, object_id, deleted_at }],
    );
  }
}

/** Adds up the sizes of a workspace's documents in rows without `storage_bytes`, until these rows are rebuilt. */
async function sumDocumentSizes(rows: Collection<DocumentReadModelRow>, workspace_id: string): Promise<number> {
  const fields = ['environment', 'shipment_id', 'created_at', 'id'] as const;
  const query = { filter: { workspace_id }, sort: { fields }, limit: DOCUMENTS_PER_READ, index: 'by_shipment' };
  let sum = 0;
  let after: readonly string[] | undefined;
  for (;;) {
    const page = await rows.find(after === undefined ? query : { ...query, after });
    for (const { document, status } of page) {
      if (isDocumentPresent(document) || status === 'pending_upload') sum += document.size_bytes;
    }
    const last = page[DOCUMENTS_PER_READ - 1];
    if (last === undefined) return sum;
    after = fields.map((field) => last[field]);
  }
}

import { type DocumentRecord, toDocumentResource } from '@tracking/contracts';
import type { StoredEventDescriptor } from './descriptor.ts';
import type { DocumentChangeData, ReceivedDocumentFile, DocumentWithFileId } from './event-data.ts';

/** A client requested an upload URL for a document. */
export interface DocumentUploadRequestedEvent {
  readonly type: 'document.requested.v1';
  readonly data: { readonly stored: DocumentWithFileId };
}

export const documentRequestedEventDescriptor: StoredEventDescriptor<DocumentUploadRequestedEvent> = {
  type: 'document.requested.v1',
  documents: ({ stored }) => [stored],
  createHistoryNote: ({ stored }) => ({
    type: 'document.requested',
    changes: { document: { from: null, to: stored.document } },
  }),
};

/** Bytes arrived for a pending document. They replace bytes that arrived before. */
export interface DocumentReceivedEvent {
  readonly type: 'document.received.v1';
  readonly data: { readonly document_id: string; readonly object: ReceivedDocumentFile };
}

export const documentReceivedEventDescriptor: StoredEventDescriptor<DocumentReceivedEvent> = {
  type: 'document.received.v1',
  applyToState(draft, { document_id, object }) {
    draft.documents = draft.documents.map((each) =>
      each.document.id === document_id ? { ...each, received: object } : each,
    );
  },
};

/** A document became complete. It replaced another document if its sender requested this. */
export interface DocumentUploadedEvent {
  readonly type: 'document.uploaded.v1';
  readonly data: {
    readonly stored: DocumentWithFileId;
    /** The replaced document, with `replaced_by_document_id`. */
    readonly replaced: DocumentWithFileId | null;
    readonly documents_count: number;
  };
}

export const documentUploadedEventDescriptor: StoredEventDescriptor<DocumentUploadedEvent> = {
  type: 'document.uploaded.v1',
  applyToRecord: (record, { documents_count }) => ({ ...record, documents_count }),
  documents: ({ stored, replaced }) => (replaced === null ? [stored] : [stored, replaced]),
  createHistoryNote: ({ stored }) => ({
    type: 'document.uploaded',
    changes: { document: { from: null, to: stored.document } },
  }),
  announce: ({ stored }) => ({
    type: 'document.uploaded',
    data: (_shipment, addresses) => ({ document: toDocumentResource(stored.document, addresses) }),
  }),
};

/** A person approved a document. */
export interface DocumentApprovedEvent {
  readonly type: 'document.approved.v1';
  readonly data: DocumentChangeData;
}

export const documentApprovedEventDescriptor: StoredEventDescriptor<DocumentApprovedEvent> = {
  type: 'document.approved.v1',
  documents: ({ stored }) => [stored],
  createHistoryNote: (data) => ({ type: 'document.approved', changes: toDocumentChange(data) }),
  announce: ({ stored }) => ({
    type: 'document.approved',
    data: (_shipment, addresses) => ({ document: toDocumentResource(stored.document, addresses) }),
  }),
};

/** A person rejected a document, with a reason. */
export interface DocumentRejectedEvent {
  readonly type: 'document.rejected.v1';
  readonly data: DocumentChangeData;
}

export const documentRejectedEventDescriptor: StoredEventDescriptor<DocumentRejectedEvent> = {
  type: 'document.rejected.v1',
  documents: ({ stored }) => [stored],
  createHistoryNote: (data) => ({ type: 'document.rejected', changes: toDocumentChange(data) }),
  announce: ({ stored }) => ({
    type: 'document.rejected',
    data: (_shipment, addresses) => ({ document: toDocumentResource(stored.document, addresses) }),
  }),
};

/** The bytes of a document did not arrive in time. */
export interface DocumentExpiredEvent {
  readonly type: 'document.expired.v1';
  readonly data: DocumentChangeData;
}

export const documentExpiredEventDescriptor: StoredEventDescriptor<DocumentExpiredEvent> = {
  type: 'document.expired.v1',
  documents: ({ stored }) => [stored],
  createHistoryNote: (data) => ({ type: 'document.expired', changes: toDocumentChange(data) }),
};

/** A person deleted a document. Its bytes must be destroyed; its record is kept. */
export interface DocumentDeletedEvent {
  readonly type: 'document.deleted.v1';
  readonly data: DocumentChangeData & {
    readonly documents_count: number;
    /** The document that the deleted document had replaced and that is current again; absent if there is none. */
    readonly restored?: DocumentWithFileId;
  };
}

export const documentDeletedEventDescriptor: StoredEventDescriptor<DocumentDeletedEvent> = {
  type: 'document.deleted.v1',
  applyToRecord: (record, { documents_count }) => ({ ...record, documents_count }),
  documents: ({ stored, restored }) => (restored === undefined ? [stored] : [stored, restored]),
  createHistoryNote: (data) => ({ type: 'document.deleted', changes: toDocumentChange(data) }),
};

function toDocumentChange({ stored, previous }: DocumentChangeData): {
  readonly document: { readonly from: DocumentRecord; readonly to: DocumentRecord };
} {
  return { document: { from: previous, to: stored.document } };
}

import { type DocumentRecord, toDocumentResource } from '@tracking/contracts';
import type { StoredEventDescriptor } from './descriptor.ts';
import type { DocumentChanged, ReceivedObject, StoredDocument } from './event-data.ts';

/** A client requested an upload URL for a document. */
export interface DocumentRequested {
  readonly type: 'document.requested.v1';
  readonly data: { readonly stored: StoredDocument };
}

export const documentRequested: StoredEventDescriptor<DocumentRequested> = {
  type: 'document.requested.v1',
  documents: ({ stored }) => [stored],
  historyNote: ({ stored }) => ({
    type: 'document.requested',
    changes: { document: { from: null, to: stored.document } },
  }),
};

/** Bytes arrived for a pending document. They replace bytes that arrived before. */
export interface DocumentReceived {
  readonly type: 'document.received.v1';
  readonly data: { readonly document_id: string; readonly object: ReceivedObject };
}

export const documentReceived: StoredEventDescriptor<DocumentReceived> = {
  type: 'document.received.v1',
  applyToState(draft, { document_id, object }) {
    draft.documents = draft.documents.map((each) =>
      each.document.id === document_id ? { ...each, received: object } : each,
    );
  },
};

/** A document became complete. It replaced another document if its sender requested this. */
export interface DocumentUploaded {
  readonly type: 'document.uploaded.v1';
  readonly data: {
    readonly stored: StoredDocument;
    /** The replaced document, with `replaced_by_document_id`. */
    readonly replaced: StoredDocument | null;
    readonly documents_count: number;
  };
}

export const documentUploaded: StoredEventDescriptor<DocumentUploaded> = {
  type: 'document.uploaded.v1',
  applyToRecord: (record, { documents_count }) => ({ ...record, documents_count }),
  documents: ({ stored, replaced }) => (replaced === null ? [stored] : [stored, replaced]),
  historyNote: ({ stored }) => ({
    type: 'document.uploaded',
    changes: { document: { from: null, to: stored.document } },
  }),
  announce: ({ stored }) => ({
    type: 'document.uploaded',
    data: (_shipment, addresses) => ({ document: toDocumentResource(stored.document, addresses) }),
  }),
};

/** A person approved a document. */
export interface DocumentApproved {
  readonly type: 'document.approved.v1';
  readonly data: DocumentChanged;
}

export const documentApproved: StoredEventDescriptor<DocumentApproved> = {
  type: 'document.approved.v1',
  documents: ({ stored }) => [stored],
  historyNote: (data) => ({ type: 'document.approved', changes: toDocumentChange(data) }),
  announce: ({ stored }) => ({
    type: 'document.approved',
    data: (_shipment, addresses) => ({ document: toDocumentResource(stored.document, addresses) }),
  }),
};

/** A person rejected a document, with a reason. */
export interface DocumentRejected {
  readonly type: 'document.rejected.v1';
  readonly data: DocumentChanged;
}

export const documentRejected: StoredEventDescriptor<DocumentRejected> = {
  type: 'document.rejected.v1',
  documents: ({ stored }) => [stored],
  historyNote: (data) => ({ type: 'document.rejected', changes: toDocumentChange(data) }),
  announce: ({ stored }) => ({
    type: 'document.rejected',
    data: (_shipment, addresses) => ({ document: toDocumentResource(stored.document, addresses) }),
  }),
};

/** The bytes of a document did not arrive in time. */
export interface DocumentExpired {
  readonly type: 'document.expired.v1';
  readonly data: DocumentChanged;
}

export const documentExpired: StoredEventDescriptor<DocumentExpired> = {
  type: 'document.expired.v1',
  documents: ({ stored }) => [stored],
  historyNote: (data) => ({ type: 'document.expired', changes: toDocumentChange(data) }),
};

/** A person deleted a document. Its bytes must be destroyed; its record is kept. */
export interface DocumentDeleted {
  readonly type: 'document.deleted.v1';
  readonly data: DocumentChanged & {
    readonly documents_count: number;
    /** The document that the deleted document had replaced and that is current again; absent if there is none. */
    readonly restored?: StoredDocument;
  };
}

export const documentDeleted: StoredEventDescriptor<DocumentDeleted> = {
  type: 'document.deleted.v1',
  applyToRecord: (record, { documents_count }) => ({ ...record, documents_count }),
  documents: ({ stored, restored }) => (restored === undefined ? [stored] : [stored, restored]),
  historyNote: (data) => ({ type: 'document.deleted', changes: toDocumentChange(data) }),
};

function toDocumentChange({ stored, previous }: DocumentChanged): {
  readonly document: { readonly from: DocumentRecord; readonly to: DocumentRecord };
} {
  return { document: { from: previous, to: stored.document } };
}

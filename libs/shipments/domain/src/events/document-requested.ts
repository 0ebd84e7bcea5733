import type { StoredEventDescriptor } from './descriptor.ts';
import type { StoredDocument } from './stored-document.ts';

/** A client asked for an address to send a document's bytes to. */
export interface DocumentRequested {
  readonly type: 'document.requested.v1';
  readonly data: { readonly stored: StoredDocument };
}

export const documentRequested: StoredEventDescriptor<DocumentRequested> = {
  type: 'document.requested.v1',
  documents: ({ stored }) => [stored],
  tell: ({ stored }) => ({ type: 'document.requested', changes: { document: { from: null, to: stored.document } } }),
};

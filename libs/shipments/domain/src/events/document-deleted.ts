import type { StoredEventDescriptor } from './descriptor.ts';
import { type DocumentChanged, type StoredDocument, toldOf } from './stored-document.ts';

/** Its bytes are to be destroyed; what is known of it stays. */
export interface DocumentDeleted {
  readonly type: 'document.deleted.v1';
  readonly data: DocumentChanged & {
    readonly documents_count: number;
    /** The document that it had replaced, which is replaced no longer; absent where there is none. */
    readonly restored?: StoredDocument;
  };
}

export const documentDeleted: StoredEventDescriptor<DocumentDeleted> = {
  type: 'document.deleted.v1',
  applyToRecord: (record, { documents_count }) => ({ ...record, documents_count }),
  documents: ({ stored, restored }) => (restored === undefined ? [stored] : [stored, restored]),
  tell: (data) => ({ type: 'document.deleted', changes: toldOf(data) }),
};

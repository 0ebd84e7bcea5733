import type { StoredEventDescriptor } from './descriptor.ts';
import { type DocumentChanged, putDocuments, toldOf } from './stored-document.ts';

/** The bytes of a document never came. */
export interface DocumentExpired {
  readonly type: 'document.expired.v1';
  readonly data: DocumentChanged;
}

export const documentExpired: StoredEventDescriptor<DocumentExpired> = {
  type: 'document.expired.v1',
  applyToState: (draft, { stored }) => putDocuments(draft, stored),
  documents: ({ stored }) => [stored],
  tell: (data) => ({ type: 'document.expired', changes: toldOf(data) }),
};

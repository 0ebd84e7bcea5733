import type { StoredEventDescriptor } from './descriptor.ts';
import { type DocumentChanged, toldOf } from './stored-document.ts';

/** The bytes of a document never came. */
export interface DocumentExpired {
  readonly type: 'document.expired.v1';
  readonly data: DocumentChanged;
}

export const documentExpired: StoredEventDescriptor<DocumentExpired> = {
  type: 'document.expired.v1',
  documents: ({ stored }) => [stored],
  tell: (data) => ({ type: 'document.expired', changes: toldOf(data) }),
};

import { documentResource } from '@tracking/contracts';
import type { StoredEventDescriptor } from './descriptor.ts';
import { type DocumentChanged, toldOf } from './stored-document.ts';

/** A person rejected a document, and said why. */
export interface DocumentRejected {
  readonly type: 'document.rejected.v1';
  readonly data: DocumentChanged;
}

export const documentRejected: StoredEventDescriptor<DocumentRejected> = {
  type: 'document.rejected.v1',
  documents: ({ stored }) => [stored],
  tell: (data) => ({ type: 'document.rejected', changes: toldOf(data) }),
  announce: ({ stored }) => ({
    type: 'document.rejected',
    data: (_shipment, addresses) => ({ document: documentResource(stored.document, addresses) }),
  }),
};

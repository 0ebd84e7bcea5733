import { documentResource } from '@tracking/contracts';
import type { StoredEventDescriptor } from './descriptor.ts';
import { type DocumentChanged, toldOf } from './stored-document.ts';

/** A person approved a document. */
export interface DocumentApproved {
  readonly type: 'document.approved.v1';
  readonly data: DocumentChanged;
}

export const documentApproved: StoredEventDescriptor<DocumentApproved> = {
  type: 'document.approved.v1',
  documents: ({ stored }) => [stored],
  tell: (data) => ({ type: 'document.approved', changes: toldOf(data) }),
  announce: ({ stored }) => ({
    type: 'document.approved',
    data: (_shipment, addresses) => ({ document: documentResource(stored.document, addresses) }),
  }),
};

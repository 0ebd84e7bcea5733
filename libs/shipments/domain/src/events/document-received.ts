import type { StoredEventDescriptor } from './descriptor.ts';
import type { ReceivedObject } from './stored-document.ts';

/** Bytes came for a document that is pending; those that came before are forgotten. */
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

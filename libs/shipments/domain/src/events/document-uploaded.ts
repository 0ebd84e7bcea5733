import { documentResource } from '@tracking/contracts';
import type { StoredEventDescriptor } from './descriptor.ts';
import type { StoredDocument } from './stored-document.ts';

/** A document is whole, and takes the place of another where it was sent to replace that. */
export interface DocumentUploaded {
  readonly type: 'document.uploaded.v1';
  readonly data: {
    readonly stored: StoredDocument;
    /** With `replaced_by_document_id`. */
    readonly replaced: StoredDocument | null;
    readonly documents_count: number;
  };
}

export const documentUploaded: StoredEventDescriptor<DocumentUploaded> = {
  type: 'document.uploaded.v1',
  applyToRecord: (record, { documents_count }) => ({ ...record, documents_count }),
  documents: changed,
  tell: ({ stored }) => ({ type: 'document.uploaded', changes: { document: { from: null, to: stored.document } } }),
  announce: ({ stored }) => ({
    type: 'document.uploaded',
    data: (_shipment, addresses) => ({ document: documentResource(stored.document, addresses) }),
  }),
};

function changed({ stored, replaced }: DocumentUploaded['data']): readonly StoredDocument[] {
  return replaced === null ? [stored] : [stored, replaced];
}

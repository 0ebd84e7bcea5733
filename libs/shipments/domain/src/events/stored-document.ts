import type { DocumentContentType, DocumentRecord } from '@tracking/contracts';
import type { DocumentInHand, ShipmentDraft } from '../state.ts';

/** A document, and where its bytes are. */
export interface StoredDocument {
  readonly document: DocumentRecord;
  /** In the object store; null before they are complete. Those of a deleted or expired document are to be destroyed. */
  readonly object_id: string | null;
}

/** Bytes in the object store, and what was found of them. */
export interface ReceivedObject {
  readonly id: string;
  readonly size_bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly content_type: DocumentContentType;
}

/** What a review or time makes of a document. */
export interface DocumentChanged {
  readonly stored: StoredDocument;
  readonly previous: DocumentRecord;
}

/** Puts documents in the place of those of their ids; what was received for them is dealt with. */
export function putDocuments(draft: Pick<ShipmentDraft, 'documents'>, ...changed: readonly StoredDocument[]): void {
  for (const stored of changed) {
    const place = draft.documents.findIndex(({ document }) => document.id === stored.document.id);
    const verdict = verdictOf(stored, draft.documents[place], draft.documents);
    draft.documents[place < 0 ? draft.documents.length : place] = { ...stored, received: null, verdict };
  }
}

function verdictOf(
  { document: { status } }: StoredDocument,
  before: DocumentInHand | undefined,
  all: readonly DocumentInHand[],
): number {
  const isJudged = status === 'approved' || status === 'rejected';
  if (!isJudged || status === before?.document.status) return before?.verdict ?? 0;
  return 1 + Math.max(0, ...all.map(({ verdict }) => verdict));
}

export function toldOf({ stored, previous }: DocumentChanged): {
  readonly document: { readonly from: DocumentRecord; readonly to: DocumentRecord };
} {
  return { document: { from: previous, to: stored.document } };
}

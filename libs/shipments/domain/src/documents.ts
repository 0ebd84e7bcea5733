import { DOCUMENT_LIMITS, type DocumentRecord, isDocumentPresent, type Timestamp } from '@tracking/contracts';
import type { DocumentWithFileId } from './events/event-data.ts';
import type { ShipmentEventBody } from './events/stored-events.ts';
import type { DocumentState, ShipmentDraft } from './state.ts';

type Replaced = Pick<DocumentRecord, 'replaced_by_document_id'>;

/**
 * Returns a function that finds the replacement of a document: the last document in its chain of replacements that was
 * not deleted. A deleted document in the middle of the chain is skipped.
 */
export function createDocumentReplacementFinder<Document extends DocumentWithFileId>(
  documents: readonly Document[],
): (document: Replaced) => Document | undefined {
  const byId = new Map(documents.map((each) => [each.document.id, each]));
  const next = ({ replaced_by_document_id: id }: Replaced) => (id === null ? undefined : byId.get(id));
  return (document) => {
    let replacement: Document | undefined;
    for (let each = next(document); each !== undefined; each = next(each.document)) {
      if (isDocumentPresent(each.document)) replacement = each;
    }
    return replacement;
  };
}

/**
 * Returns the document that becomes current again when the given document is deleted, in its new state. Undefined if
 * there is none.
 */
export function findDocumentRestoredByDeletion(
  { id, ...deleted }: DocumentRecord,
  documents: readonly DocumentWithFileId[],
): DocumentWithFileId | undefined {
  if (createDocumentReplacementFinder(documents)(deleted) !== undefined) return undefined;
  const replacedBy = (by: string) => documents.find(({ document }) => document.replaced_by_document_id === by);
  let former = replacedBy(id);
  while (former !== undefined && !isDocumentPresent(former.document)) former = replacedBy(former.document.id);
  return former && { object_id: former.object_id, document: { ...former.document, replaced_by_document_id: null } };
}

/** Returns the time when a pending document expires; undefined for a document that does not wait for bytes. */
export function computePendingDocumentExpiryTime({ status, created_at }: DocumentRecord): Timestamp | undefined {
  if (status !== 'pending_upload') return undefined;
  return new Date(Date.parse(created_at) + DOCUMENT_LIMITS.pendingMs).toISOString();
}

/**
 * Returns events for the documents that have expired, and the time of the next expiry; undefined if no document is
 * pending.
 */
export function createDocumentExpiryEvents(
  documents: readonly DocumentState[],
  now: Timestamp,
): { readonly expired: readonly ShipmentEventBody[]; readonly next: Timestamp | undefined } {
  const expired: ShipmentEventBody[] = [];
  let next: Timestamp | undefined;
  for (const { document: previous, received } of documents) {
    const at = computePendingDocumentExpiryTime(previous);
    if (at === undefined) continue;
    if (at > now) next = next === undefined || at < next ? at : next;
    else {
      const stored = { document: { ...previous, status: 'expired' as const }, object_id: received?.id ?? null };
      expired.push({ type: 'document.expired.v1', data: { stored, previous } });
    }
  }
  return { expired, next };
}

/** Replaces documents in the draft or adds them. Clears their received bytes. */
export function putDocumentsIntoShipmentDraft(
  draft: Pick<ShipmentDraft, 'documents'>,
  ...changed: readonly DocumentWithFileId[]
): void {
  for (const stored of changed) {
    const place = draft.documents.findIndex(({ document }) => document.id === stored.document.id);
    const verdict = computeDocumentReviewSequenceNumber(stored, draft.documents[place], draft.documents);
    draft.documents[place < 0 ? draft.documents.length : place] = { ...stored, received: null, verdict };
  }
}

function computeDocumentReviewSequenceNumber(
  { document: { status } }: DocumentWithFileId,
  before: DocumentState | undefined,
  all: readonly DocumentState[],
): number {
  const isJudged = status === 'approved' || status === 'rejected';
  if (!isJudged || status === before?.document.status) return before?.verdict ?? 0;
  return 1 + Math.max(0, ...all.map(({ verdict }) => verdict));
}

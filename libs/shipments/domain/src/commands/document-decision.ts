import {
  type DocumentContentType,
  type DocumentRecord,
  type DocumentType,
  DomainError,
  type FieldError,
  type ShipmentRecord,
  type Warning,
  isDocumentPresent,
} from '@tracking/contracts';
import { SHIPMENT_LIMITS } from '../check-shipment.ts';
import {
  type CommandContext,
  type CommandResult,
  type DecideContext,
  type Decision,
  throwIfInvalidFields,
  warnOfCancelledShipment,
} from './command.ts';
import { addEventsOfDerivedChanges } from '../exceptions/reconcile.ts';
import { type DocumentUploadedEvent, documentUploadedEventDescriptor } from '../events/document-events.ts';
import type { ReceivedDocumentFile, DocumentWithFileId } from '../events/event-data.ts';
import type { ShipmentEvent, ShipmentEventBody } from '../events/stored-events.ts';
import { applyDocumentChanges } from '../evolve.ts';
import { computePendingDocumentExpiryTime, createDocumentReplacementFinder } from '../documents.ts';
import { type DocumentState, type ShipmentState, findDocumentOrThrow } from '../state.ts';

/** A document as a client describes it in a request. */
export interface DocumentInput {
  readonly type: DocumentType;
  /** File name of the document, without a path. */
  readonly file_name: string;
  readonly replaces_document_id: string | null;
}

/** Size and checksum of the bytes that a client announces to upload. */
export interface AnnouncedFileProperties {
  readonly content_type: DocumentContentType;
  readonly size_bytes: number;
  /** SHA-256 of the bytes, in lower-case hex. */
  readonly checksum_sha256: string;
}

/** `unchanged`: the command changed nothing. */
type DocumentOutcome =
  'added' | 'requested' | 'received' | 'completed' | 'approved' | 'rejected' | 'deleted' | 'unchanged';

export interface DocumentResult extends CommandResult {
  readonly outcome: DocumentOutcome;
  readonly documentId: string;
  /** Id of the received object that another one replaced. Not known after the result was rebuilt from events. */
  readonly replacedObjectId?: string;
}

/** The answer to every command about one document. */
export interface DocumentAnswer {
  readonly outcome: DocumentOutcome;
  readonly document: DocumentRecord;
  /** Id of the object with the document's bytes, even if they must be destroyed; null until the bytes are complete. */
  readonly object_id: string | null;
  /** Id of the object that an upload replaced, so that it is not needed; absent if there is none or it is not known. */
  readonly replaced_object_id?: string;
  /** Version of the shipment right after the command. */
  readonly shipment_version: number;
  readonly warnings: readonly Warning[];
}

export function createAnswerWithDocument(
  { outcome, documentId, replacedObjectId }: DocumentResult,
  after: ShipmentState,
): Omit<DocumentAnswer, 'warnings'> {
  const { document, object_id } = findDocumentOrThrow(after, documentId);
  const replaced = replacedObjectId === undefined ? {} : { replaced_object_id: replacedObjectId };
  return { outcome, document, object_id, ...replaced, shipment_version: after.record.version };
}

/** Creates a pending document. @throws DomainError `limit_exceeded`, `document_replaced`, `validation_failed` */
export function createPendingDocument(
  { shipment_id, at, actor }: CommandContext & { readonly shipment_id: string },
  { type, file_name, replaces_document_id, ...expected }: DocumentInput & AnnouncedFileProperties,
  state: ShipmentState,
  { newId }: DecideContext,
): DocumentRecord {
  throwIfInvalidFields([...listDocumentLimitErrors(state), ...checkReplacedDocument(replaces_document_id, state)]);
  return {
    id: newId('doc', 0),
    shipment_id,
    type,
    status: 'pending_upload',
    file_name,
    ...expected,
    uploaded_by: actor,
    created_at: at,
    uploaded_at: null,
    reviewed_by: null,
    reviewed_at: null,
    rejection_reason: null,
    replaces_document_id,
    replaced_by_document_id: null,
  };
}

function listDocumentLimitErrors({ documents }: ShipmentState): readonly FieldError[] {
  if (documents.length < SHIPMENT_LIMITS.documents) return [];
  const message = `A shipment can have at most ${SHIPMENT_LIMITS.documents} documents, including deleted ones.`;
  return [{ param: 'type', code: 'limit_exceeded', message }];
}

function checkReplacedDocument(id: string | null, { documents }: ShipmentState): readonly FieldError[] {
  if (id === null) return [];
  const found = documents.find(({ document }) => document.id === id)?.document;
  if (found === undefined || !isDocumentPresent(found)) {
    const message = `The shipment has no document ${id} that can be replaced.`;
    return [{ param: 'replaces_document_id', code: 'unknown_document', message }];
  }
  const replacement = createDocumentReplacementFinder(documents)(found);
  if (replacement !== undefined) {
    throw new DomainError('document_replaced', `The document was already replaced by ${replacement.document.id}.`);
  }
  return [];
}

/**
 * Returns the event that completes a document with these bytes. The document also replaces its predecessor, unless the
 * predecessor was replaced or deleted in the meantime.
 */
export function createUploadedEvent(
  pending: DocumentRecord,
  { id, size_bytes, sha256, content_type }: ReceivedDocumentFile,
  at: string,
  { documents, record }: ShipmentState,
): DocumentUploadedEvent {
  const bytes = { size_bytes, checksum_sha256: sha256, content_type };
  const document = { ...pending, ...bytes, status: 'uploaded', uploaded_at: at } as const;
  const former = documents.find((each) => each.document.id === pending.replaces_document_id);
  const canBeReplaced =
    former !== undefined &&
    isDocumentPresent(former.document) &&
    createDocumentReplacementFinder(documents)(former.document) === undefined;
  const replaced: DocumentWithFileId | null = canBeReplaced
    ? { object_id: former.object_id, document: { ...former.document, replaced_by_document_id: pending.id } }
    : null;
  const documents_count = record.documents_count + 1;
  return {
    type: documentUploadedEventDescriptor.type,
    data: { stored: { document, object_id: id }, replaced, documents_count },
  };
}

/** Returns the decision on a command about a document. The command has at most one event. */
export function decideDocumentCommand(
  { at, ...result }: DocumentResult & { readonly at: string },
  event: ShipmentEventBody | undefined,
  state: ShipmentState,
  context: DecideContext,
): Decision<DocumentResult> {
  const { record, nextCheckAt } = state;
  const common = { ...result, warnings: warnOfCancelledShipment(record, record) };
  if (event === undefined) return { ...common, events: [], nextCheckAt };
  const after = {
    ...state,
    documents: applyDocumentChanges(state.documents, [event]),
    record: copyDocumentsCountFromEvent(record, event),
  };
  return { ...common, ...addEventsOfDerivedChanges(at, after, [event], context) };
}

function copyDocumentsCountFromEvent(record: ShipmentRecord, { data }: ShipmentEventBody): ShipmentRecord {
  return 'documents_count' in data ? { ...record, documents_count: data.documents_count } : record;
}

/** Returns a document that can still receive bytes. @throws DomainError `document_not_pending` */
export function requirePendingDocument(state: ShipmentState, id: string, at: string): DocumentState {
  const found = findDocumentOrThrow(state, id);
  const until = computePendingDocumentExpiryTime(found.document);
  if (until !== undefined && at < until) return found;
  const status = until === undefined ? found.document.status : 'expired';
  throw new DomainError('document_not_pending', `The document is ${status} and does not accept uploads.`);
}

/** Returns the result of a command about an existing document, which its event identifies. */
export function findDocumentCommandResult(
  events: readonly ShipmentEvent[],
  type: ShipmentEventBody['type'],
  outcome: DocumentOutcome,
  documentId: string,
): DocumentResult | undefined {
  return events.some((event) => event.type === type) ? { outcome, documentId } : undefined;
}

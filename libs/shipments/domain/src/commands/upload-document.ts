import { type DocumentRecord, DomainError, isDocumentPresent } from '@tracking/contracts';
import type { ReceivedDocumentFile } from '../events/event-data.ts';
import { findDocumentOrThrow } from '../state.ts';
import type { CommandContext, CommandHandler } from './command.ts';
import {
  decideDocumentCommand,
  createAnswerWithDocument,
  type DocumentAnswer,
  type DocumentInput,
  type DocumentResult,
  type AnnouncedFileProperties,
  requirePendingDocument,
  createPendingDocument,
  findDocumentCommandResult,
  createUploadedEvent,
} from './document-decision.ts';

/** Creates a document whose bytes arrive later. */
export interface RequestUploadCommand extends CommandContext {
  readonly type: 'RequestUpload';
  readonly shipment_id: string;
  readonly document: DocumentInput & AnnouncedFileProperties;
}

/** @throws DomainError `limit_exceeded`, `document_replaced`, `validation_failed` */
export const requestUploadCommandHandler: CommandHandler<
  RequestUploadCommand,
  DocumentResult,
  Omit<DocumentAnswer, 'warnings'>
> = {
  decideCommandOnExistingShipment(command, state, context) {
    const document = createPendingDocument(command, command.document, state, context);
    const event = { type: 'document.requested.v1', data: { stored: { document, object_id: null } } } as const;
    return decideDocumentCommand(
      { at: command.at, outcome: 'requested', documentId: document.id },
      event,
      state,
      context,
    );
  },
  rebuildResultFromEvents(events) {
    const [documentId] = events.flatMap(({ type, data }) =>
      type === 'document.requested.v1' ? [data.stored.document.id] : [],
    );
    return documentId === undefined ? undefined : { outcome: 'requested', documentId };
  },
  buildAnswerFromResult: createAnswerWithDocument,
};

/** Records that bytes arrived for a pending document. They replace bytes that arrived before. */
export interface ReceiveUploadCommand extends CommandContext {
  readonly type: 'ReceiveUpload';
  readonly shipment_id: string;
  readonly document_id: string;
  readonly object: ReceivedDocumentFile;
  /**
   * Id of the previously received object if it still exists, otherwise null. If the same bytes arrive again, that
   * object is kept.
   */
  readonly kept_object_id: string | null;
}

/**
 * Returns `unchanged` if the previous object is kept, so that the new object is not needed.
 * @throws DomainError `document_not_pending`
 */
export const receiveUploadCommandHandler: CommandHandler<
  ReceiveUploadCommand,
  DocumentResult,
  Omit<DocumentAnswer, 'warnings'>
> = {
  decideCommandOnExistingShipment({ at, document_id, object, kept_object_id }, state, context) {
    const { received } = requirePendingDocument(state, document_id, at);
    if (received !== null && received.id === kept_object_id && isSameFileContent(received, object)) {
      return decideDocumentCommand({ at, outcome: 'unchanged', documentId: document_id }, undefined, state, context);
    }
    const event = { type: 'document.received.v1', data: { document_id, object } } as const;
    const replaced = received === null ? {} : { replacedObjectId: received.id };
    const result = { at, outcome: 'received', documentId: document_id, ...replaced } as const;
    return decideDocumentCommand(result, event, state, context);
  },
  rebuildResultFromEvents: (events, { document_id }) =>
    findDocumentCommandResult(events, 'document.received.v1', 'received', document_id),
  buildAnswerFromResult: createAnswerWithDocument,
};

function isSameFileContent(one: ReceivedDocumentFile, other: ReceivedDocumentFile): boolean {
  const found = ['sha256', 'size_bytes', 'content_type'] as const;
  return found.every((each) => one[each] === other[each]);
}

/** The sender declares that the bytes of a document are complete. */
export interface CompleteUploadCommand extends CommandContext {
  readonly type: 'CompleteUpload';
  readonly shipment_id: string;
  readonly document_id: string;
  /** Id of the last received object if it no longer exists in the object store, otherwise null. */
  readonly lost_object_id: string | null;
}

/**
 * @throws DomainError `document_not_pending`, `upload_missing`, `size_mismatch`, `checksum_mismatch`; the document
 *   stays pending
 */
export const completeUploadCommandHandler: CommandHandler<
  CompleteUploadCommand,
  DocumentResult,
  Omit<DocumentAnswer, 'warnings'>
> = {
  decideCommandOnExistingShipment({ at, document_id, lost_object_id }, state, context) {
    const found = findDocumentOrThrow(state, document_id);
    // Completing a document again changes nothing.
    if (isDocumentPresent(found.document)) {
      return decideDocumentCommand({ at, outcome: 'unchanged', documentId: document_id }, undefined, state, context);
    }
    const { document, received } = requirePendingDocument(state, document_id, at);
    if (received === null) throw new DomainError('upload_missing', 'No file was uploaded for the document.');
    if (received.id === lost_object_id)
      throw new DomainError('upload_missing', 'The uploaded file was lost. Upload it again.');
    requireFileAsAnnounced(document, received);
    const event = createUploadedEvent(document, received, at, state);
    return decideDocumentCommand({ at, outcome: 'completed', documentId: document_id }, event, state, context);
  },
  rebuildResultFromEvents: (events, { document_id }) =>
    findDocumentCommandResult(events, 'document.uploaded.v1', 'completed', document_id),
  buildAnswerFromResult: createAnswerWithDocument,
};

function requireFileAsAnnounced({ size_bytes, checksum_sha256 }: DocumentRecord, received: ReceivedDocumentFile): void {
  if (received.size_bytes !== size_bytes) {
    throw new DomainError(
      'size_mismatch',
      `The file has ${received.size_bytes} bytes instead of ${size_bytes}. Upload the file again.`,
    );
  }
  if (received.sha256 !== checksum_sha256) {
    throw new DomainError(
      'checksum_mismatch',
      `The SHA-256 of the file is ${received.sha256}, which differs from checksum_sha256. Upload the file again.`,
    );
  }
}

/** Adds a document whose bytes are already in the object store. */
export interface AddDocumentCommand extends CommandContext {
  readonly type: 'AddDocument';
  readonly shipment_id: string;
  readonly document: DocumentInput;
  readonly object: ReceivedDocumentFile;
}

/** @throws DomainError `limit_exceeded`, `document_replaced`, `validation_failed` */
export const addDocumentCommandHandler: CommandHandler<
  AddDocumentCommand,
  DocumentResult,
  Omit<DocumentAnswer, 'warnings'>
> = {
  decideCommandOnExistingShipment(command, state, context) {
    const { at, document: input, object } = command;
    const { content_type, size_bytes, sha256: checksum_sha256 } = object;
    const pending = createPendingDocument(
      command,
      { ...input, content_type, size_bytes, checksum_sha256 },
      state,
      context,
    );
    const event = createUploadedEvent(pending, object, at, state);
    return decideDocumentCommand({ at, outcome: 'added', documentId: pending.id }, event, state, context);
  },
  rebuildResultFromEvents(events) {
    const [documentId] = events.flatMap(({ type, data }) =>
      type === 'document.uploaded.v1' ? [data.stored.document.id] : [],
    );
    return documentId === undefined ? undefined : { outcome: 'added', documentId };
  },
  buildAnswerFromResult: createAnswerWithDocument,
};

import { DomainError, isDocumentPresent } from '@tracking/contracts';
import { findDocumentRestoredByDeletion } from '../documents.ts';
import { findDocumentOrThrow, type ShipmentState } from '../state.ts';
import type { CommandContext, CommandHandler, DecideContext } from './command.ts';
import {
  decideDocumentCommand,
  createAnswerWithDocument,
  type DocumentAnswer,
  type DocumentResult,
  findDocumentCommandResult,
} from './document-decision.ts';

/** A person approves a document. */
export interface ApproveDocumentCommand extends CommandContext {
  readonly type: 'ApproveDocument';
  readonly shipment_id: string;
  readonly document_id: string;
}
/** A person rejects a document. */
export interface RejectDocumentCommand extends CommandContext {
  readonly type: 'RejectDocument';
  readonly shipment_id: string;
  readonly document_id: string;
  readonly reason: string;
}

type Answer = Omit<DocumentAnswer, 'warnings'>;

/** @throws DomainError `document_not_uploaded`; `document_reviewed` if the document was rejected */
export const approveDocumentCommandHandler: CommandHandler<ApproveDocumentCommand, DocumentResult, Answer> = {
  decideCommandOnExistingShipment: (command, state, context) =>
    decideDocumentReview(command, { status: 'approved', reason: null }, state, context),
  rebuildResultFromEvents: (events, { document_id }) =>
    findDocumentCommandResult(events, 'document.approved.v1', 'approved', document_id),
  buildAnswerFromResult: createAnswerWithDocument,
};

/** @throws DomainError `document_not_uploaded`; `document_reviewed` if the document was approved */
export const rejectDocumentHandler: CommandHandler<RejectDocumentCommand, DocumentResult, Answer> = {
  decideCommandOnExistingShipment: (command, state, context) =>
    decideDocumentReview(command, { status: 'rejected', reason: command.reason }, state, context),
  rebuildResultFromEvents: (events, { document_id }) =>
    findDocumentCommandResult(events, 'document.rejected.v1', 'rejected', document_id),
  buildAnswerFromResult: createAnswerWithDocument,
};

interface DocumentReviewOutcome {
  readonly status: 'approved' | 'rejected';
  readonly reason: string | null;
}

function decideDocumentReview(
  { at, actor, document_id }: ApproveDocumentCommand | RejectDocumentCommand,
  { status, reason }: DocumentReviewOutcome,
  state: ShipmentState,
  context: DecideContext,
) {
  const { document: previous, object_id } = findDocumentOrThrow(state, document_id);
  const about = { at, outcome: status, documentId: document_id } as const;
  // A repeated review changes nothing: the first review counts, with its reason.
  if (previous.status === status) {
    return decideDocumentCommand({ ...about, outcome: 'unchanged' }, undefined, state, context);
  }
  if (previous.status === 'approved' || previous.status === 'rejected') {
    throw new DomainError(
      'document_reviewed',
      `The document is ${previous.status}. To replace it, upload another one.`,
    );
  }
  if (previous.status !== 'uploaded') {
    throw new DomainError('document_not_uploaded', `The document is ${previous.status}, so it cannot be reviewed.`);
  }
  const reviewed = { status, reviewed_by: actor, reviewed_at: at, rejection_reason: reason };
  const data = { stored: { document: { ...previous, ...reviewed }, object_id }, previous };
  return decideDocumentCommand(about, { type: `document.${status}.v1`, data }, state, context);
}

/** A person deletes a document. Its bytes are destroyed; its record is kept. */
export interface DeleteDocumentCommand extends CommandContext {
  readonly type: 'DeleteDocument';
  readonly shipment_id: string;
  readonly document_id: string;
}

export const deleteDocumentHandler: CommandHandler<
  DeleteDocumentCommand,
  DocumentResult,
  Omit<DocumentAnswer, 'warnings'>
> = {
  decideCommandOnExistingShipment({ at, document_id }, state, context) {
    const { document: previous, object_id, received } = findDocumentOrThrow(state, document_id);
    const about = { at, outcome: 'deleted', documentId: document_id } as const;
    if (previous.status === 'deleted') {
      return decideDocumentCommand({ ...about, outcome: 'unchanged' }, undefined, state, context);
    }
    const documents_count = state.record.documents_count - (isDocumentPresent(previous) ? 1 : 0);
    const bytes = object_id ?? received?.id ?? null;
    const stored = { document: { ...previous, status: 'deleted' as const }, object_id: bytes };
    const restored = findDocumentRestoredByDeletion(previous, state.documents);
    const data = { stored, previous, documents_count, ...(restored && { restored }) };
    const event = { type: 'document.deleted.v1', data } as const;
    return decideDocumentCommand(about, event, state, context);
  },
  rebuildResultFromEvents: (events, { document_id }) =>
    findDocumentCommandResult(events, 'document.deleted.v1', 'deleted', document_id),
  buildAnswerFromResult: createAnswerWithDocument,
};

import { type DocumentRecord, DomainError, isPresent } from '@tracking/contracts';
import type { ReceivedObject } from '../events/stored-document.ts';
import { findDocument } from '../state.ts';
import type { CommandContext, CommandHandler } from './command.ts';
import {
  type DocumentAnswer,
  type DocumentResult,
  aboutDocument,
  answerDocument,
  findPending,
  resultIn,
  uploaded,
} from './document-decision.ts';

/** The bytes of a document are all there, its sender says. */
export interface CompleteUpload extends CommandContext {
  readonly type: 'CompleteUpload';
  readonly shipment_id: string;
  readonly document_id: string;
  /** What came for it and is not there any more; null where nothing is lost. */
  readonly lost_object_id: string | null;
}

/** @throws DomainError `document_not_pending`, `upload_missing`, `size_mismatch`, `checksum_mismatch`: it stays pending */
export const completeUpload: CommandHandler<CompleteUpload, DocumentResult, Omit<DocumentAnswer, 'warnings'>> = {
  decide({ at, document_id, lost_object_id }, state, context) {
    const found = findDocument(state, document_id);
    // Once it is complete, saying so again changes nothing.
    if (isPresent(found.document)) {
      return aboutDocument({ at, outcome: 'unchanged', documentId: document_id }, undefined, state, context);
    }
    const { document, received } = findPending(state, document_id, at);
    if (received === null) throw new DomainError('upload_missing', 'No bytes have come for it yet.');
    if (received.id === lost_object_id) throw new DomainError('upload_missing', 'What came is lost. Send it again.');
    requireExpected(document, received);
    const event = uploaded(document, received, at, state);
    return aboutDocument({ at, outcome: 'completed', documentId: document_id }, event, state, context);
  },
  resultOf: (events, { document_id }) => resultIn(events, 'document.uploaded.v1', 'completed', document_id),
  answer: answerDocument,
};

function requireExpected({ size_bytes, checksum_sha256 }: DocumentRecord, received: ReceivedObject): void {
  if (received.size_bytes !== size_bytes) {
    throw new DomainError(
      'size_mismatch',
      `${received.size_bytes} bytes came, ${size_bytes} were told. Send them again.`,
    );
  }
  if (received.sha256 !== checksum_sha256) {
    throw new DomainError('checksum_mismatch', `The SHA-256 of what came is ${received.sha256}. Send it again.`);
  }
}

import type { ReceivedObject } from '../events/stored-document.ts';
import type { CommandContext, CommandHandler } from './command.ts';
import {
  type DocumentAnswer,
  type DocumentInput,
  type DocumentResult,
  aboutDocument,
  answerDocument,
  newDocument,
  uploaded,
} from './document-decision.ts';

/** Adds a document whose bytes are in the object store already. */
export interface AddDocument extends CommandContext {
  readonly type: 'AddDocument';
  readonly shipment_id: string;
  readonly document: DocumentInput;
  readonly object: ReceivedObject;
}

/** @throws DomainError `limit_exceeded`, `document_replaced`, `validation_failed` */
export const addDocument: CommandHandler<AddDocument, DocumentResult, Omit<DocumentAnswer, 'warnings'>> = {
  decide(command, state, context) {
    const { at, document: input, object } = command;
    const { content_type, size_bytes, sha256: checksum_sha256 } = object;
    const pending = newDocument(command, { ...input, content_type, size_bytes, checksum_sha256 }, state, context);
    const event = uploaded(pending, object, at, state);
    return aboutDocument({ at, outcome: 'added', documentId: pending.id }, event, state, context);
  },
  resultOf(events) {
    const [documentId] = events.flatMap(({ type, data }) =>
      type === 'document.uploaded.v1' ? [data.stored.document.id] : [],
    );
    return documentId === undefined ? undefined : { outcome: 'added', documentId };
  },
  answer: answerDocument,
};

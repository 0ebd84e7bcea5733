import type { CommandContext, CommandHandler } from './command.ts';
import {
  type DocumentAnswer,
  type DocumentInput,
  type DocumentResult,
  type ExpectedBytes,
  aboutDocument,
  answerDocument,
  newDocument,
} from './document-decision.ts';

/** Makes a document whose bytes are to come. */
export interface RequestUpload extends CommandContext {
  readonly type: 'RequestUpload';
  readonly shipment_id: string;
  readonly document: DocumentInput & ExpectedBytes;
}

/** @throws DomainError `limit_exceeded`, `document_replaced`, `validation_failed` */
export const requestUpload: CommandHandler<RequestUpload, DocumentResult, Omit<DocumentAnswer, 'warnings'>> = {
  decide(command, state, context) {
    const document = newDocument(command, command.document, state, context);
    const event = { type: 'document.requested.v1', data: { stored: { document, object_id: null } } } as const;
    return aboutDocument({ at: command.at, outcome: 'requested', documentId: document.id }, event, state, context);
  },
  resultOf(events) {
    const [documentId] = events.flatMap(({ type, data }) =>
      type === 'document.requested.v1' ? [data.stored.document.id] : [],
    );
    return documentId === undefined ? undefined : { outcome: 'requested', documentId };
  },
  answer: answerDocument,
};

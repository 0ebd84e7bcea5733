import type { ReceivedObject } from '../events/stored-document.ts';
import type { CommandContext, CommandHandler } from './command.ts';
import {
  type DocumentAnswer,
  type DocumentResult,
  aboutDocument,
  answerDocument,
  findPending,
  resultIn,
} from './document-decision.ts';

/** Bytes came for a document that is pending; the last ones that came are those that it is made of. */
export interface ReceiveUpload extends CommandContext {
  readonly type: 'ReceiveUpload';
  readonly shipment_id: string;
  readonly document_id: string;
  readonly object: ReceivedObject;
}

/** @throws DomainError `document_not_pending` */
export const receiveUpload: CommandHandler<ReceiveUpload, DocumentResult, Omit<DocumentAnswer, 'warnings'>> = {
  decide({ at, document_id, object }, state, context) {
    findPending(state, document_id, at);
    const event = { type: 'document.received.v1', data: { document_id, object } } as const;
    return aboutDocument({ at, outcome: 'received', documentId: document_id }, event, state, context);
  },
  resultOf: (events, { document_id }) => resultIn(events, 'document.received.v1', 'received', document_id),
  answer: answerDocument,
};

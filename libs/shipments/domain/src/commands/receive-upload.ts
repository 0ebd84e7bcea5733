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
  /** What came before and is there; null where nothing is. It stays where the same bytes come again. */
  readonly kept_object_id: string | null;
}

/** `unchanged`: the object that came before stays, and the one that came now is not needed. @throws DomainError `document_not_pending` */
export const receiveUpload: CommandHandler<ReceiveUpload, DocumentResult, Omit<DocumentAnswer, 'warnings'>> = {
  decide({ at, document_id, object, kept_object_id }, state, context) {
    const { received } = findPending(state, document_id, at);
    if (received !== null && received.id === kept_object_id && isSame(received, object)) {
      return aboutDocument({ at, outcome: 'unchanged', documentId: document_id }, undefined, state, context);
    }
    const event = { type: 'document.received.v1', data: { document_id, object } } as const;
    return aboutDocument({ at, outcome: 'received', documentId: document_id }, event, state, context);
  },
  resultOf: (events, { document_id }) => resultIn(events, 'document.received.v1', 'received', document_id),
  answer: answerDocument,
};

function isSame(one: ReceivedObject, other: ReceivedObject): boolean {
  const found = ['sha256', 'size_bytes', 'content_type'] as const;
  return found.every((each) => one[each] === other[each]);
}

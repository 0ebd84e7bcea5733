import { isPresent } from '@tracking/contracts';
import { restoredWithout } from '../replacements.ts';
import { findDocument } from '../state.ts';
import type { CommandContext, CommandHandler } from './command.ts';
import {
  type DocumentAnswer,
  type DocumentResult,
  aboutDocument,
  answerDocument,
  resultIn,
} from './document-decision.ts';

/** A document is wanted no more: its bytes are destroyed, what is known of it stays. */
export interface DeleteDocument extends CommandContext {
  readonly type: 'DeleteDocument';
  readonly shipment_id: string;
  readonly document_id: string;
}

export const deleteDocument: CommandHandler<DeleteDocument, DocumentResult, Omit<DocumentAnswer, 'warnings'>> = {
  decide({ at, document_id }, state, context) {
    const { document: previous, object_id, received } = findDocument(state, document_id);
    const about = { at, outcome: 'deleted', documentId: document_id } as const;
    if (previous.status === 'deleted') {
      return aboutDocument({ ...about, outcome: 'unchanged' }, undefined, state, context);
    }
    const documents_count = state.record.documents_count - (isPresent(previous) ? 1 : 0);
    const bytes = object_id ?? received?.id ?? null;
    const stored = { document: { ...previous, status: 'deleted' as const }, object_id: bytes };
    const restored = restoredWithout(previous, state.documents);
    const data = { stored, previous, documents_count, ...(restored && { restored }) };
    const event = { type: 'document.deleted.v1', data } as const;
    return aboutDocument(about, event, state, context);
  },
  resultOf: (events, { document_id }) => resultIn(events, 'document.deleted.v1', 'deleted', document_id),
  answer: answerDocument,
};

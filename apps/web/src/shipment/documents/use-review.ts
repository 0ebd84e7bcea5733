import type { ShipmentDocument } from '@tracking/client';
import { useApi, useEnvironment } from '../../session/session.ts';
import { useGuardedWrite } from '../meanwhile/use-guarded-write.ts';
import { readDocument } from './document-queries.ts';

/** What can be decided about a document. */
export type Decision =
  { readonly kind: 'approve' } | { readonly kind: 'reject'; readonly reason: string } | { readonly kind: 'delete' };

const DONE = { approve: 'Approved.', reject: 'Rejected.', delete: 'The file is deleted.' } as const;
/** What somebody decides by: when one of these is another, they would look again. */
export const DECIDED_BY = ['status', 'rejection_reason', 'replaced_by_document_id'] as const;

/** Approves, rejects and deletes documents, as they were seen. */
export function useReview(onEnd: () => void) {
  const [client, environment] = [useApi(), useEnvironment()];
  return useGuardedWrite<ShipmentDocument, Decision, Decision>({
    kind: 'document',
    write: async ({ id }, decision, ifMatch) => {
      if (decision.kind === 'approve') await client.documents.approve(id, { ifMatch });
      else if (decision.kind === 'reject') await client.documents.reject(id, decision.reason, { ifMatch });
      else await client.documents.delete(id, { ifMatch });
      return decision;
    },
    read: ({ id }) => readDocument(environment, id),
    isSame: (seen, now) => DECIDED_BY.every((field) => seen[field] === now[field]),
    canStill: ({ status }, { kind }) => (kind === 'delete' ? status !== 'deleted' : status === 'uploaded'),
    done: ({ kind }) => DONE[kind],
    onDone: onEnd,
    onLeft: onEnd,
  });
}

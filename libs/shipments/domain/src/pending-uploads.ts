import { DOCUMENT_LIMITS, type DocumentRecord, type Timestamp } from '@tracking/contracts';
import type { ShipmentEventBody } from './events/stored-events.ts';
import type { DocumentInHand } from './state.ts';

/** When a document expires unless it is complete by then; undefined for one that does not wait for bytes. */
export function expiresAt({ status, created_at }: DocumentRecord): Timestamp | undefined {
  if (status !== 'pending_upload') return undefined;
  return new Date(Date.parse(created_at) + DOCUMENT_LIMITS.pendingMs).toISOString();
}

/** Which documents have expired by now, and when the next of the others will; undefined if none is pending. */
export function expiries(
  documents: readonly DocumentInHand[],
  now: Timestamp,
): { readonly expired: readonly ShipmentEventBody[]; readonly next: Timestamp | undefined } {
  const expired: ShipmentEventBody[] = [];
  let next: Timestamp | undefined;
  for (const { document: previous, received } of documents) {
    const at = expiresAt(previous);
    if (at === undefined) continue;
    if (at > now) next = next === undefined || at < next ? at : next;
    else {
      const stored = { document: { ...previous, status: 'expired' as const }, object_id: received?.id ?? null };
      expired.push({ type: 'document.expired.v1', data: { stored, previous } });
    }
  }
  return { expired, next };
}

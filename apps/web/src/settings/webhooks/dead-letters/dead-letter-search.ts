import type { BodyOf, QueryOf } from '@tracking/client';
import { type DeliverySearch, readDeliverySearch } from '../deliveries/delivery-search.ts';

/** What of the page of dead letters stands in the address. */
export type DeadLetterSearch = Omit<DeliverySearch, 'status' | 'event_id'>;

export function readDeadLetterSearch(raw: Record<string, unknown>): DeadLetterSearch {
  const { status: _same, event_id: _one, ...search } = readDeliverySearch(raw);
  return search;
}

/** As the summary is asked for. */
export const summaryQuery = (search: DeadLetterSearch): QueryOf<'summarizeWebhookDeadLetters'> => search;

/** Those that a person chose, or all that fit. */
export function whichOf(search: DeadLetterSearch, chosen: ReadonlySet<string>): BodyOf<'replayWebhookDeadLetters'> {
  if (chosen.size > 0) return { delivery_ids: [...chosen] };
  const { event_type, reason, ...same } = search;
  return {
    ...same,
    ...(event_type !== undefined && { event_types: [event_type] }),
    ...(reason !== undefined && { reasons: [reason] }),
  };
}

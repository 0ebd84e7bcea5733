import type { TrackingEvent } from '@tracking/client';
import { SHIPMENT_EVENT_TYPES } from '../../values/event-types.ts';
import type { EventSearch } from './event-search.ts';

/** Kept of those that came while the page is open: it does not grow all day. */
export const MOST_LIVE = 500;

/**
 * In the order of publication, the newest first, none twice.
 * @param live those that came meanwhile, as they came
 * @param read those of the log, the newest first
 */
export function newestFirst(live: readonly TrackingEvent[], read: readonly TrackingEvent[]): readonly TrackingEvent[] {
  const byId = new Map([...live.toReversed(), ...read].map((event) => [event.id, event]));
  return [...byId.values()];
}

/** Those that there are, of a text with commas between them. */
export function typesOf(text: unknown) {
  const named = typeof text === 'string' ? text.split(',') : [];
  return SHIPMENT_EVENT_TYPES.filter((type) => named.includes(type));
}

export function isAskedFor({ type, data }: TrackingEvent, search: EventSearch): boolean {
  const types: readonly string[] = typesOf(search.type);
  return (
    (types.length === 0 || types.includes(type)) &&
    (search.shipment_id === undefined || data.shipment_id === search.shipment_id)
  );
}

/** What it is about, in a line. */
export function summaryOf({ data }: TrackingEvent): string {
  if ('exception' in data) return data.exception.title;
  if ('milestone' in data) return [data.milestone.label, data.milestone.location].filter(Boolean).join(' · ');
  if ('document' in data) return data.document.file_name;
  if ('changes' in data) return Object.keys(data.changes).join(', ');
  return '';
}

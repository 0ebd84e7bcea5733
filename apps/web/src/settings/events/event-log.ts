import { infiniteQueryOptions } from '@tanstack/react-query';
import type { TrackingEvent } from '@tracking/client';
import { type Environment, getApiClient } from '../../session/api.ts';
import { SHIPMENT_EVENT_TYPES } from '../../values/event-types.ts';

export interface EventLogUrlParameters {
  /** Event types, separated by commas. */
  readonly type?: string | undefined;
  readonly shipment_id?: string | undefined;
}

/** Parses the filters of the event log from the page URL. Invalid values are ignored. */
export function readEventUrlParameters(raw: Record<string, unknown>): EventLogUrlParameters {
  const { type, shipment_id: shipment } = raw;
  return {
    ...(typeof type === 'string' && /^[a-z_.]+(,[a-z_.]+)*$/.test(type) && { type }),
    ...(typeof shipment === 'string' && /^shp_\w+$/.test(shipment) && { shipment_id: shipment }),
  };
}

/** Query of the event log, page by page, newest event first. */
export function eventsQuery(environment: Environment, search: EventLogUrlParameters) {
  return infiniteQueryOptions({
    queryKey: ['event-log', environment, search],
    queryFn: ({ pageParam, signal }) => {
      const types = parseEventTypes(search.type);
      const query = {
        limit: 50,
        sort: '-published' as const,
        ...(types.length > 0 && { type: types }),
        ...(search.shipment_id !== undefined && { shipment_id: search.shipment_id }),
      };
      return getApiClient(environment).events.list(query, { signal }).page(pageParam);
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
}

/** Maximum number of live events that the page keeps in memory. */
export const MAX_LIVE_EVENTS = 500;

/**
 * Merges live events with the event log, newest first and without duplicates. Events are sorted by publication.
 * @param live events that arrived since the page was opened, in order of arrival
 * @param read events of the log, newest first
 */
export function mergeLiveAndLoggedEvents(
  live: readonly TrackingEvent[],
  read: readonly TrackingEvent[],
): readonly TrackingEvent[] {
  const byId = new Map([...live.toReversed(), ...read].map((event) => [event.id, event]));
  return [...byId.values()];
}

/** Returns the known event types of a comma-separated list. */
export function parseEventTypes(text: unknown) {
  const named = typeof text === 'string' ? text.split(',') : [];
  return SHIPMENT_EVENT_TYPES.filter((type) => named.includes(type));
}

export function matchesEventSearch({ type, data }: TrackingEvent, search: EventLogUrlParameters): boolean {
  const types: readonly string[] = parseEventTypes(search.type);
  return (
    (types.length === 0 || types.includes(type)) &&
    (search.shipment_id === undefined || data.shipment_id === search.shipment_id)
  );
}

/** Returns the name of the resource that an event concerns, as one line. */
export function formatEventSubject({ data }: TrackingEvent): string {
  if ('exception' in data) return data.exception.title;
  if ('milestone' in data) return [data.milestone.label, data.milestone.location].filter(Boolean).join(' · ');
  if ('document' in data) return data.document.file_name;
  if ('changes' in data) return Object.keys(data.changes).join(', ');
  return '';
}

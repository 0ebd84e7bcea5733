import { EVENT_TYPES, STANDARD_EVENT_TYPES } from '@tracking/contracts';
import { type EnabledPeriod, type LoggedEvent, includes } from './enabled-periods.ts';

/** Subscribes to the standard types: docs/reference/events.md#types. */
export const ALL_STANDARD_TYPES = '*';

const STANDARD: ReadonlySet<string> = new Set(STANDARD_EVENT_TYPES);
const KNOWN: ReadonlySet<string> = new Set(EVENT_TYPES);

export function isKnownEventType(type: string): boolean {
  return KNOWN.has(type);
}

export function isSubscribed(eventTypes: readonly string[], type: string): boolean {
  return eventTypes.includes(type) || (STANDARD.has(type) && eventTypes.includes(ALL_STANDARD_TYPES));
}

/** What of an endpoint decides which events it gets. */
export interface EndpointSubscription {
  readonly event_types: readonly string[];
  readonly enabled_periods: readonly EnabledPeriod[];
}

/** Whether the endpoint gets this event, whenever it is consumed: it is subscribed, and the event is live for it. */
export function wants(endpoint: EndpointSubscription, event: LoggedEvent & { readonly type: string }): boolean {
  return isSubscribed(endpoint.event_types, event.type) && includes(endpoint.enabled_periods, event);
}

import { EVENT_TYPES, STANDARD_EVENT_TYPES, type Timestamp } from '@tracking/contracts';
import type { DeliveryError } from './delivery.ts';

export const ENDPOINT_STATUSES = ['pending_verification', 'verified', 'enabled', 'disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/** `gone`: the endpoint answered 410. */
export type DisabledReason = 'manual' | 'gone';

export interface Verification {
  readonly at: Timestamp;
  readonly ok: boolean;
  readonly error: DeliveryError | null;
}

/** The fields of an endpoint that its lifecycle changes, as opposed to those that its owner sets. */
export interface EndpointState {
  readonly status: EndpointStatus;
  readonly disabled_reason: DisabledReason | null;
  /** Whether the present URL answered a challenge. */
  readonly verified: boolean;
  readonly last_verification: Verification | null;
  /** When events are recorded for it: from enabling to disabling, also while a changed URL awaits its verification. */
  readonly enabled_periods: readonly EnabledPeriod[];
  /**
   * When nothing was sent although deliveries may have waited. The retry windows of deliveries stand still meanwhile. The
   * times are by the clock of the process that was asked; a clock that differs makes a window longer or shorter by as much.
   */
  readonly pauses: readonly Period[];
  /** Revision of the endpoint at which its present URL was set; absent while it has its first one. */
  readonly url_revision?: number;
}

export const NEW_ENDPOINT: EndpointState = {
  status: 'pending_verification',
  disabled_reason: null,
  verified: false,
  last_verification: null,
  enabled_periods: [],
  pauses: [],
};

/** Returns true if scheduled deliveries go to the endpoint. */
export function isEnabled(endpoint: EndpointState): boolean {
  return endpoint.status === 'enabled';
}

/**
 * Names the present URL of an endpoint. Outcomes and health belong to the URL they were seen at, and a URL that is set again
 * is another one.
 */
export function urlRevision({ url_revision = 0 }: Pick<EndpointState, 'url_revision'>): number {
  return url_revision;
}

/**
 * The endpoint with a new URL, which receives nothing but challenges until it has answered one.
 * @param url_revision of the endpoint with its new URL
 */
export function resetForNewUrl<E extends EndpointState>(endpoint: E, at: Timestamp, url_revision: number): E {
  return {
    ...endpoint,
    url_revision,
    status: 'pending_verification',
    disabled_reason: null,
    verified: false,
    last_verification: null,
    pauses: startPause(endpoint, at),
  };
}

/** The endpoint after a challenge. A success verifies an endpoint that waited for it; a failure changes no status. */
export function recordVerification<E extends EndpointState>(endpoint: E, verification: Verification): E {
  if (!verification.ok) return { ...endpoint, last_verification: verification };
  const status = endpoint.status === 'pending_verification' ? 'verified' : endpoint.status;
  return { ...endpoint, status, verified: true, last_verification: verification };
}

/** Sends what waits, and records events after the log's head. Returns undefined if the URL is not verified. */
export function enableEndpoint<E extends EndpointState>(endpoint: E, moment: LogMoment): E | undefined {
  if (!endpoint.verified) return undefined;
  if (endpoint.status === 'enabled') return endpoint;
  return {
    ...endpoint,
    status: 'enabled',
    disabled_reason: null,
    enabled_periods: openEnabledPeriod(endpoint.enabled_periods, moment),
    pauses: closePeriod(endpoint.pauses, moment.at),
  };
}

/** Records no events after the log's head and holds what is pending. */
export function disableEndpoint<E extends EndpointState>(endpoint: E, reason: DisabledReason, moment: LogMoment): E {
  if (endpoint.status === 'disabled') return endpoint;
  return {
    ...endpoint,
    status: 'disabled',
    disabled_reason: reason,
    enabled_periods: closeEnabledPeriod(endpoint.enabled_periods, moment),
    pauses: startPause(endpoint, moment.at),
  };
}

/** The deleted endpoint: no event is recorded for it or sent to it, wherever the event is in the log. */
export function deleteEndpoint<E extends EndpointState>(endpoint: E, at: Timestamp): E {
  return {
    ...endpoint,
    status: 'disabled',
    disabled_reason: endpoint.disabled_reason ?? 'manual',
    verified: false,
    enabled_periods: [],
    pauses: startPause(endpoint, at),
  };
}

function startPause(endpoint: EndpointState, at: Timestamp): readonly Period[] {
  return endpoint.status === 'enabled' ? openPeriod(endpoint.pauses, { from: at, to: null }) : endpoint.pauses;
}

/** Subscribes to the standard types: docs/reference/events.md#types. */
export const ALL_STANDARD_TYPES = '*';

const STANDARD_TYPES: ReadonlySet<string> = new Set(STANDARD_EVENT_TYPES);
const KNOWN_TYPES: ReadonlySet<string> = new Set(EVENT_TYPES);

export function isKnownEventType(type: string): boolean {
  return KNOWN_TYPES.has(type);
}

export function isSubscribed(eventTypes: readonly string[], type: string): boolean {
  return eventTypes.includes(type) || (STANDARD_TYPES.has(type) && eventTypes.includes(ALL_STANDARD_TYPES));
}

/** The fields of an endpoint that decide which events it receives. */
export interface EndpointSubscription {
  readonly event_types: readonly string[];
  readonly enabled_periods: readonly EnabledPeriod[];
}

/** Returns true if the endpoint is subscribed to the event and the event is live for it, whenever it is consumed. */
export function receivesEvent(endpoint: EndpointSubscription, event: LoggedEvent & { readonly type: string }): boolean {
  return isSubscribed(endpoint.event_types, event.type) && isInPeriods(endpoint.enabled_periods, event);
}

/** A place in the one log of all events. Fixed in width, so that places sort as events do. */
export type LogPosition = string;

/** Before every event. */
export const LOG_START: LogPosition = '';

/** The time of a request, and how far the log had come by then: everything acknowledged before is at or before `head`. */
export interface LogMoment {
  readonly at: Timestamp;
  readonly head: LogPosition;
}

/**
 * From enabling an endpoint to disabling it. The places decide which events are live, since clocks step and differ. The
 * times are for people, and for events that are in no log.
 */
export interface EnabledPeriod extends Period {
  readonly places: {
    /** The log's head at enabling: events after it are live. */
    readonly after: LogPosition;
    /** The log's head at disabling: events after it are no longer live. Null while the period is open. */
    readonly up_to: LogPosition | null;
  };
}

/** A period as it is read: without places, a document is faulty, and must not stop the recording for other endpoints. */
type StoredPeriod = Period & Partial<Pick<EnabledPeriod, 'places'>>;

/** The fields of an event that decide whether it is live. */
export interface LoggedEvent {
  readonly created_at: Timestamp;
  /** Where it is in the log; undefined for an event about another endpoint, which is in no log. */
  readonly place: LogPosition | undefined;
}

/** Adds an open period; returns the same periods if the last one is still open. */
export function openEnabledPeriod(
  periods: readonly EnabledPeriod[],
  { at, head }: LogMoment,
): readonly EnabledPeriod[] {
  return openPeriod(periods, { from: at, to: null, places: { after: head, up_to: null } });
}

/** Closes the open period; returns the same periods if none is open. */
export function closeEnabledPeriod(
  periods: readonly EnabledPeriod[],
  { at, head }: LogMoment,
): readonly EnabledPeriod[] {
  const last: StoredPeriod | undefined = periods.at(-1);
  if (last?.to !== null) return periods;
  const { after } = last.places ?? { after: LOG_START };
  return closePeriod(periods.with(-1, { ...last, places: { after, up_to: head } }), at);
}

/**
 * Returns true if an event lies in one of the periods, whenever that is checked. An event that is in no log matches an open
 * period, and a closed one by its times. So does every event if a period has no places.
 */
export function isInPeriods(periods: readonly StoredPeriod[], { created_at, place }: LoggedEvent): boolean {
  return periods.some(({ from, to, places }) => {
    if (place === undefined || places === undefined) return to === null || (from <= created_at && created_at < to);
    return places.after < place && (places.up_to === null || place <= places.up_to);
  });
}

/** From `from` on, up to but not at `to`; still open while `to` is null. */
export interface Period {
  readonly from: Timestamp;
  readonly to: Timestamp | null;
}

/** The oldest periods beyond this are dropped, so that an endpoint that is switched on and off all day stays small. */
const MAX_PERIODS = 100;

/** Adds this open period; returns the same periods if the last one is still open. In the order in which they were opened. */
export function openPeriod<P extends Period>(periods: readonly P[], period: P): readonly P[] {
  return periods.at(-1)?.to === null ? periods : [...periods, period].slice(-MAX_PERIODS);
}

/** Closes the open period; returns the same periods if none is open. */
export function closePeriod<P extends Period>(periods: readonly P[], at: Timestamp): readonly P[] {
  const last = periods.at(-1);
  if (last?.to !== null) return periods;
  // A clock that was set back must not make a period end before it begins.
  return periods.with(-1, { ...last, to: at < last.from ? last.from : at });
}

/**
 * When a duration that begins at `start` ends if it stands still during the pauses. Epoch milliseconds; Infinity while a
 * pause that it meets is open.
 */
export function endAfterPauses(start: number, durationMs: number, pauses: readonly Period[]): number {
  let end = start + durationMs;
  for (const { from, to } of pauses) {
    const begins = Math.max(Date.parse(from), start);
    if (begins >= end) break;
    if (to === null) return Infinity;
    end += Math.max(0, Date.parse(to) - begins);
  }
  return end;
}

/** Endpoints fall into this many shards; each is attempted by one process at a time. Never changes: it names leases. */
export const SHARD_COUNT = 64;

/** The shard of an endpoint, from 0: FNV-1a (32 bit) of its id. */
export function shardOf(endpointId: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < endpointId.length; index += 1) {
    hash = Math.imul(hash ^ endpointId.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % SHARD_COUNT;
}

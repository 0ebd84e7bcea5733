import { EVENT_TYPES, STANDARD_EVENT_TYPES, type Timestamp } from '@tracking/contracts';
import type { DeliveryFailureReason } from './delivery.ts';

export const ENDPOINT_STATUSES = ['pending_verification', 'verified', 'enabled', 'disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/** `gone` means that the endpoint answered 410. */
export type DisabledReason = 'manual' | 'gone';

export interface EndpointVerificationResult {
  readonly at: Timestamp;
  readonly ok: boolean;
  readonly error: DeliveryFailureReason | null;
}

/** Fields of an endpoint that its lifecycle changes. Clients set the other fields (`EditableEndpointFields`). */
export interface EndpointState {
  readonly status: EndpointStatus;
  readonly disabled_reason: DisabledReason | null;
  /** True if the current URL answered a challenge. */
  readonly verified: boolean;
  readonly last_verification: EndpointVerificationResult | null;
  /**
   * Periods during which events are recorded for the endpoint: from enabling to disabling, including while a changed
   * URL awaits verification.
   */
  readonly enabled_periods: readonly EnabledPeriod[];
  /**
   * Periods during which nothing was sent although deliveries may have been pending. The retry windows of deliveries
   * are extended by these periods. A pause begins and ends at the time of the
   * process that received the API request to disable or enable the endpoint. If the clocks of two processes differ, a
   * window is too long or too short by the difference.
   */
  readonly pauses: readonly TimePeriod[];
  /** Revision of the endpoint at which the current URL was set; absent for the endpoint's first URL. */
  readonly url_revision?: number;
}

export const INITIAL_ENDPOINT_STATE: EndpointState = {
  status: 'pending_verification',
  disabled_reason: null,
  verified: false,
  last_verification: null,
  enabled_periods: [],
  pauses: [],
};

/** Returns true if scheduled deliveries are sent to the endpoint. */
export function isEndpointEnabled(endpoint: EndpointState): boolean {
  return endpoint.status === 'enabled';
}

/**
 * Identifies the current URL of an endpoint. Outcomes and health belong to the URL at which they were observed. Setting
 * a former URL again gives it a new revision.
 */
export function getEndpointUrlRevision({ url_revision = 0 }: Pick<EndpointState, 'url_revision'>): number {
  return url_revision;
}

/**
 * Resets the verification of an endpoint whose URL changed. It receives only challenges until it answers one.
 * @param url_revision revision of the endpoint with its new URL
 */
export function resetEndpointForNewUrl<E extends EndpointState>(endpoint: E, at: Timestamp, url_revision: number): E {
  return {
    ...endpoint,
    url_revision,
    status: 'pending_verification',
    disabled_reason: null,
    verified: false,
    last_verification: null,
    pauses: addOpenPausePeriodOfEndpoint(endpoint, at),
  };
}

/**
 * Records the result of a challenge. A success changes the status `pending_verification` to `verified`; a failure
 * changes no status.
 */
export function recordVerificationResult<E extends EndpointState>(
  endpoint: E,
  verification: EndpointVerificationResult,
): E {
  if (!verification.ok) return { ...endpoint, last_verification: verification };
  const status = endpoint.status === 'pending_verification' ? 'verified' : endpoint.status;
  return { ...endpoint, status, verified: true, last_verification: verification };
}

/**
 * Enables the endpoint: pending deliveries are sent, and events after the log's head are recorded. Returns undefined if
 * the URL is not verified.
 */
export function enableEndpoint<E extends EndpointState>(endpoint: E, moment: RequestTimeWithLogHead): E | undefined {
  if (!endpoint.verified) return undefined;
  if (endpoint.status === 'enabled') return endpoint;
  return {
    ...endpoint,
    status: 'enabled',
    disabled_reason: null,
    enabled_periods: addOpenEnabledPeriodOfEndpoint(endpoint.enabled_periods, moment),
    pauses: closeOpenTimePeriod(endpoint.pauses, moment.at),
  };
}

/** Disables the endpoint: events after the log's head are not recorded, and pending deliveries are held. */
export function disableEndpoint<E extends EndpointState>(
  endpoint: E,
  reason: DisabledReason,
  moment: RequestTimeWithLogHead,
): E {
  if (endpoint.status === 'disabled') return endpoint;
  return {
    ...endpoint,
    status: 'disabled',
    disabled_reason: reason,
    enabled_periods: closeEnabledPeriod(endpoint.enabled_periods, moment),
    pauses: addOpenPausePeriodOfEndpoint(endpoint, moment.at),
  };
}

/** Marks the endpoint as deleted: no event is recorded for it or sent to it, at any log position. */
export function markEndpointDeleted<E extends EndpointState>(endpoint: E, at: Timestamp): E {
  return {
    ...endpoint,
    status: 'disabled',
    disabled_reason: endpoint.disabled_reason ?? 'manual',
    verified: false,
    enabled_periods: [],
    pauses: addOpenPausePeriodOfEndpoint(endpoint, at),
  };
}

function addOpenPausePeriodOfEndpoint(endpoint: EndpointState, at: Timestamp): readonly TimePeriod[] {
  return endpoint.status === 'enabled'
    ? appendPeriodUnlessLastIsOpen(endpoint.pauses, { from: at, to: null })
    : endpoint.pauses;
}

/** Wildcard that subscribes to the standard types: docs/reference/events.md#types. */
export const STANDARD_EVENT_TYPES_WILDCARD = '*';

const STANDARD_EVENT_TYPE_SET: ReadonlySet<string> = new Set(STANDARD_EVENT_TYPES);
const KNOWN_EVENT_TYPES: ReadonlySet<string> = new Set(EVENT_TYPES);

export function isKnownEventType(type: string): boolean {
  return KNOWN_EVENT_TYPES.has(type);
}

export function isSubscribedToEventType(eventTypes: readonly string[], type: string): boolean {
  return (
    eventTypes.includes(type) ||
    (STANDARD_EVENT_TYPE_SET.has(type) && eventTypes.includes(STANDARD_EVENT_TYPES_WILDCARD))
  );
}

/** Fields of an endpoint that decide which events it receives. */
export interface EndpointSubscription {
  readonly event_types: readonly string[];
  readonly enabled_periods: readonly EnabledPeriod[];
}

/**
 * Returns true if the endpoint is subscribed to the event's type and the event is live for the endpoint. The result
 * does not depend on when the event is consumed.
 */
export function doesEndpointReceiveEvent(
  endpoint: EndpointSubscription,
  event: EventTimeAndLogPosition & { readonly type: string },
): boolean {
  return (
    isSubscribedToEventType(endpoint.event_types, event.type) && isInEnabledPeriod(endpoint.enabled_periods, event)
  );
}

/** A position in the log of all events. Positions have a fixed width, so they sort as texts. */
export type LogPosition = string;

/** Position before every event. */
export const LOG_START_POSITION: LogPosition = '';

/**
 * Time of a request and the log's head at that time. Every event acknowledged before the request is at or before
 * `head`.
 */
export interface RequestTimeWithLogHead {
  readonly at: Timestamp;
  readonly head: LogPosition;
}

/**
 * Period from enabling an endpoint to disabling it. Log positions decide which events are live, because clocks step and
 * differ. The times are informative, and apply to events that are in no log.
 */
export interface EnabledPeriod extends TimePeriod {
  readonly places: {
    /** Head of the log when the endpoint was enabled: later events are live. */
    readonly after: LogPosition;
    /**
     * Head of the log when the endpoint was disabled: later events are no longer live. Null while the period is open.
     */
    readonly up_to: LogPosition | null;
  };
}

/** A period as stored. A faulty document may lack `places`, which must not stop recording for other endpoints. */
type StoredPeriod = TimePeriod & Partial<Pick<EnabledPeriod, 'places'>>;

/** Fields of an event that decide whether the event is live. */
export interface EventTimeAndLogPosition {
  readonly created_at: Timestamp;
  /** Log position of the event; undefined for an event about another endpoint, which is in no log. */
  readonly place: LogPosition | undefined;
}

/** Adds an open period. Returns the periods unchanged if the last one is still open. */
export function addOpenEnabledPeriodOfEndpoint(
  periods: readonly EnabledPeriod[],
  { at, head }: RequestTimeWithLogHead,
): readonly EnabledPeriod[] {
  return appendPeriodUnlessLastIsOpen(periods, { from: at, to: null, places: { after: head, up_to: null } });
}

/** Closes the open period. Returns the periods unchanged if none is open. */
export function closeEnabledPeriod(
  periods: readonly EnabledPeriod[],
  { at, head }: RequestTimeWithLogHead,
): readonly EnabledPeriod[] {
  const last: StoredPeriod | undefined = periods.at(-1);
  if (last?.to !== null) return periods;
  const { after } = last.places ?? { after: LOG_START_POSITION };
  return closeOpenTimePeriod(periods.with(-1, { ...last, places: { after, up_to: head } }), at);
}

/**
 * Returns true if the event lies in one of the periods. An event that is in no log matches an open period, and matches
 * a closed period by time. If a period has no `places`, every event is matched by time.
 */
export function isInEnabledPeriod(
  periods: readonly StoredPeriod[],
  { created_at, place }: EventTimeAndLogPosition,
): boolean {
  return periods.some(({ from, to, places }) => {
    if (place === undefined || places === undefined) return to === null || (from <= created_at && created_at < to);
    return places.after < place && (places.up_to === null || place <= places.up_to);
  });
}

/** A time span from `from` (inclusive) to `to` (exclusive). Open while `to` is null. */
export interface TimePeriod {
  readonly from: Timestamp;
  readonly to: Timestamp | null;
}

/**
 * Maximum number of periods kept. Older periods are dropped, so that an endpoint that is toggled all day stays small.
 */
const MAX_STORED_EVENT_PERIODS = 100;

/** Adds an open period at the end. Returns the periods unchanged if the last one is still open. */
export function appendPeriodUnlessLastIsOpen<P extends TimePeriod>(periods: readonly P[], period: P): readonly P[] {
  return periods.at(-1)?.to === null ? periods : [...periods, period].slice(-MAX_STORED_EVENT_PERIODS);
}

/** Closes the open period. Returns the periods unchanged if none is open. */
export function closeOpenTimePeriod<P extends TimePeriod>(periods: readonly P[], at: Timestamp): readonly P[] {
  const last = periods.at(-1);
  if (last?.to !== null) return periods;
  // Use the later time: if a clock was set back, the period would end before it begins.
  return periods.with(-1, { ...last, to: at < last.from ? last.from : at });
}

/**
 * Returns the end of a duration that starts at `start` and does not run during pauses. In epoch milliseconds; Infinity
 * if it reaches a pause that is still open.
 */
export function computeEndExcludingPauses(start: number, durationMs: number, pauses: readonly TimePeriod[]): number {
  let end = start + durationMs;
  for (const { from, to } of pauses) {
    const begins = Math.max(Date.parse(from), start);
    if (begins >= end) break;
    if (to === null) return Infinity;
    end += Math.max(0, Date.parse(to) - begins);
  }
  return end;
}

/**
 * Number of shards of endpoints. One process at a time attempts the endpoints of a shard. Constant, because leases are
 * named after shards.
 */
export const ENDPOINT_SHARD_COUNT = 64;

/** Returns the shard of an endpoint, from 0: FNV-1a (32 bit) of the endpoint's id. */
export function computeShardOfEndpoint(endpointId: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < endpointId.length; index += 1) {
    hash = Math.imul(hash ^ endpointId.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % ENDPOINT_SHARD_COUNT;
}

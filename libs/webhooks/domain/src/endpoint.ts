import type { Timestamp } from '@tracking/contracts';
import type { DeliveryError } from './delivery.ts';
import { type EnabledPeriod, type Moment, begun, ended } from './enabled-periods.ts';
import { type Period, closed, opened } from './periods.ts';

export const ENDPOINT_STATUSES = ['pending_verification', 'verified', 'enabled', 'disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/** `gone`: the endpoint answered 410. */
export type DisabledReason = 'manual' | 'gone';

export interface Verification {
  readonly at: Timestamp;
  readonly ok: boolean;
  readonly error: DeliveryError | null;
}

/** What of an endpoint moves by itself, as opposed to what its owner sets. */
export interface EndpointState {
  readonly status: EndpointStatus;
  readonly disabled_reason: DisabledReason | null;
  /** Whether the present URL answered a challenge. */
  readonly verified: boolean;
  readonly last_verification: Verification | null;
  /** When events are recorded for it: from enabling to disabling, also while a changed URL awaits its verification. */
  readonly enabled_periods: readonly EnabledPeriod[];
  /**
   * When nothing was sent although deliveries may have waited: their windows stand still meanwhile. In time, and by the
   * clocks of whoever asked: clocks that differ make a window of days longer or shorter by as much, and lose nothing.
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

/** Whether scheduled deliveries go to it. */
export function isAttempted(endpoint: EndpointState): boolean {
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
 * Nothing but a challenge goes to a URL that has not answered one.
 * @param url_revision of the endpoint with its new URL
 */
export function urlChanged<E extends EndpointState>(endpoint: E, at: Timestamp, url_revision: number): E {
  return {
    ...endpoint,
    url_revision,
    status: 'pending_verification',
    disabled_reason: null,
    verified: false,
    last_verification: null,
    pauses: pausedAfter(endpoint, at),
  };
}

/** A challenge ended. It moves only an endpoint that was waiting for it, and a failed one takes nothing away. */
export function verificationEnded<E extends EndpointState>(endpoint: E, verification: Verification): E {
  if (!verification.ok) return { ...endpoint, last_verification: verification };
  const status = endpoint.status === 'pending_verification' ? 'verified' : endpoint.status;
  return { ...endpoint, status, verified: true, last_verification: verification };
}

/** Goes on with what waited; what comes after the log's head is recorded. Undefined: its URL is not verified. */
export function enabled<E extends EndpointState>(endpoint: E, moment: Moment): E | undefined {
  if (!endpoint.verified) return undefined;
  if (endpoint.status === 'enabled') return endpoint;
  return {
    ...endpoint,
    status: 'enabled',
    disabled_reason: null,
    enabled_periods: begun(endpoint.enabled_periods, moment),
    pauses: closed(endpoint.pauses, moment.at),
  };
}

/** Records nothing that comes after the log's head and holds what is pending. */
export function disabled<E extends EndpointState>(endpoint: E, reason: DisabledReason, moment: Moment): E {
  if (endpoint.status === 'disabled') return endpoint;
  return {
    ...endpoint,
    status: 'disabled',
    disabled_reason: reason,
    enabled_periods: ended(endpoint.enabled_periods, moment),
    pauses: pausedAfter(endpoint, moment.at),
  };
}

/** Was deleted: nothing is recorded for it or sent to it any more, wherever that is in the log. */
export function deleted<E extends EndpointState>(endpoint: E, at: Timestamp): E {
  return {
    ...endpoint,
    status: 'disabled',
    disabled_reason: endpoint.disabled_reason ?? 'manual',
    verified: false,
    enabled_periods: [],
    pauses: pausedAfter(endpoint, at),
  };
}

function pausedAfter(endpoint: EndpointState, at: Timestamp): readonly Period[] {
  return endpoint.status === 'enabled' ? opened(endpoint.pauses, { from: at, to: null }) : endpoint.pauses;
}

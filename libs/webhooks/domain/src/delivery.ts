import type { DeliveryStatus, Environment, Timestamp } from '@tracking/contracts';

/** Reason why an attempt failed, or why a delivery's latest attempt failed. */
export interface DeliveryFailureReason {
  readonly code: string;
  /** Error message in one line. */
  readonly message: string;
}

/** The request that caused an event, as logs and traces identify it. */
export interface CausingRequest {
  readonly request_id?: string;
  /** W3C `traceparent` of the request; absent if it had none. */
  readonly traceparent?: string;
}

/** The delivery of one event to one endpoint. */
export interface Delivery {
  /** `dlv_…`, derived from endpoint and event: an event has one delivery for each endpoint. */
  readonly id: string;
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly event_created_at: Timestamp;
  /** Request that caused the event; absent if unknown. */
  readonly origin?: CausingRequest;
  /** Id of the stored body, which all deliveries of the event in the same payload version share. */
  readonly payload_id: string;
  readonly sandbox: boolean;
  readonly status: DeliveryStatus;
  readonly created_at: Timestamp;
  /** Time of the next scheduled attempt; null once the schedule has ended. */
  readonly next_attempt_at: Timestamp | null;
  /** Time at which a person requested an extra attempt; null if none is requested. */
  readonly manual_at: Timestamp | null;
  /** Number of attempts ever made. */
  readonly attempts_count: number;
  /** Number of failed attempts in the current schedule. Holds do not count. */
  readonly failures: number;
  /** Start of the current schedule's first attempt, which begins the retry window. */
  readonly first_attempt_at: Timestamp | null;
  /** End of the latest attempt; absent or null before the first attempt. */
  readonly last_attempt_at?: Timestamp | null;
  /**
   * Revision of the URL that the latest attempt was sent to. Absent before the first attempt, and for the endpoint's
   * first URL.
   */
  readonly url_revision?: number;
  readonly last_error: DeliveryFailureReason | null;
  readonly completed_at: Timestamp | null;
  /** Time at which the dead letter was announced; null until then. */
  readonly announced_at: Timestamp | null;
  /** Id of the replay that gave the delivery its current schedule, or discarded it; absent if no replay did. */
  readonly replay_id?: string;
  /** Increases with every change. A write based on an older revision is refused. */
  readonly revision: number;
}

export type NewDelivery = Pick<
  Delivery,
  | 'id'
  | 'workspace_id'
  | 'environment'
  | 'endpoint_id'
  | 'event_id'
  | 'event_type'
  | 'event_created_at'
  | 'origin'
  | 'payload_id'
  | 'sandbox'
>;

/** Creates a delivery whose first attempt is due immediately. */
export function createDelivery(fields: NewDelivery, at: Timestamp): Delivery {
  return {
    ...fields,
    status: 'pending',
    created_at: at,
    next_attempt_at: at,
    manual_at: null,
    attempts_count: 0,
    failures: 0,
    first_attempt_at: null,
    last_error: null,
    completed_at: null,
    announced_at: null,
    revision: 1,
  };
}

/** Returns true if the delivery's schedule has attempts left. */
export function hasScheduledAttemptsLeft(delivery: Delivery): boolean {
  return delivery.status === 'pending' || delivery.status === 'retrying';
}

function createChangedDelivery(delivery: Delivery, change: Partial<Delivery>): Delivery {
  return { ...delivery, ...change, revision: delivery.revision + 1 };
}

/**
 * Discards the delivery: nothing more is sent. A delivery that succeeded or is already discarded is returned unchanged.
 */
export function markDeliveryDiscarded(delivery: Delivery, at: Timestamp, replay_id?: string): Delivery {
  if (delivery.status === 'succeeded' || delivery.status === 'discarded') return delivery;
  return createChangedDelivery(delivery, {
    ...(replay_id !== undefined && { replay_id }),
    status: 'discarded',
    next_attempt_at: null,
    manual_at: null,
    completed_at: at,
  });
}

/**
 * Ends the delivery because its endpoint was deleted: nothing more is sent. A delivery that has already ended keeps its
 * status.
 */
export function endDeliveryOfDeletedEndpoint(delivery: Delivery, at: Timestamp): Delivery {
  if (hasScheduledAttemptsLeft(delivery)) return markDeliveryDiscarded(delivery, at);
  return delivery.manual_at === null ? delivery : createChangedDelivery(delivery, { manual_at: null });
}

/** Requests one extra attempt as soon as possible, in any status. The delivery's schedule stays unchanged. */
export function requestExtraAttempt(delivery: Delivery, at: Timestamp): Delivery {
  return delivery.manual_at === null ? createChangedDelivery(delivery, { manual_at: at }) : delivery;
}

/**
 * Gives the delivery a new schedule and retry window, as if it had just been recorded. Its attempt log is kept.
 * @param at time at which the first attempt is due
 */
export function resetDeliveryRetrySchedule(delivery: Delivery, at: Timestamp, replay_id?: string): Delivery {
  return createChangedDelivery(delivery, {
    ...(replay_id !== undefined && { replay_id }),
    status: 'pending',
    next_attempt_at: at,
    failures: 0,
    first_attempt_at: null,
    last_error: null,
    completed_at: null,
    announced_at: null,
  });
}

/** Marks the dead letter as announced to the workspace's other endpoints and on the dead letter topic. */
export function markDeadLetterAnnounced(delivery: Delivery, at: Timestamp): Delivery {
  return createChangedDelivery(delivery, { announced_at: at });
}

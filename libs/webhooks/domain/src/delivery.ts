import type { DeliveryStatus, Environment, Timestamp } from '@tracking/contracts';

/** Why an attempt failed, or the latest attempt of a delivery did. */
export interface DeliveryError {
  readonly code: string;
  /** One line for people. */
  readonly message: string;
}

/** The request that caused an event, as logs and traces name it. */
export interface RequestOrigin {
  readonly request_id?: string;
  /** W3C trace context, if the request had one. */
  readonly traceparent?: string;
}

/** One event on its way to one endpoint. */
export interface Delivery {
  /** `dlv_…`, derived from endpoint and event: there is one delivery of an event to an endpoint. */
  readonly id: string;
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly event_created_at: Timestamp;
  /** Of the event; absent if unknown. */
  readonly origin?: RequestOrigin;
  /** The stored body, shared by all deliveries of the event in the same payload version. */
  readonly payload_id: string;
  readonly sandbox: boolean;
  readonly status: DeliveryStatus;
  readonly created_at: Timestamp;
  /** By the schedule; null once it has ended. */
  readonly next_attempt_at: Timestamp | null;
  /** When a person asked for an attempt beside the schedule; null if nobody waits for one. */
  readonly manual_at: Timestamp | null;
  /** All attempts ever made. */
  readonly attempts_count: number;
  /** Failed attempts of the present schedule; holds do not count. */
  readonly failures: number;
  /** Begin of the first attempt of the present schedule, from which its window counts. */
  readonly first_attempt_at: Timestamp | null;
  /** End of the latest attempt; absent or null before the first. */
  readonly last_attempt_at?: Timestamp | null;
  /** Revision of the URL that got the latest attempt; absent before the first attempt, and for the endpoint's first URL. */
  readonly url_revision?: number;
  readonly last_error: DeliveryError | null;
  readonly completed_at: Timestamp | null;
  /** When a dead letter was announced; null until then. */
  readonly announced_at: Timestamp | null;
  /** The replay that gave it its present schedule or discarded it; absent if none did. */
  readonly replay_id?: string;
  /** Grows with every change; a write based on an older revision is refused. */
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

/** A delivery whose first attempt is due at once. */
export function newDelivery(fields: NewDelivery, at: Timestamp): Delivery {
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

/** Returns true if its schedule has attempts to come. */
export function isScheduled(delivery: Delivery): boolean {
  return delivery.status === 'pending' || delivery.status === 'retrying';
}

function withChange(delivery: Delivery, change: Partial<Delivery>): Delivery {
  return { ...delivery, ...change, revision: delivery.revision + 1 };
}

/** The delivery given up: nothing more is sent. A delivery that succeeded or is discarded stays as it is. */
export function markDiscarded(delivery: Delivery, at: Timestamp, replay_id?: string): Delivery {
  if (delivery.status === 'succeeded' || delivery.status === 'discarded') return delivery;
  return withChange(delivery, {
    ...(replay_id !== undefined && { replay_id }),
    status: 'discarded',
    next_attempt_at: null,
    manual_at: null,
    completed_at: at,
  });
}

/** The delivery after its endpoint was deleted: nothing more is sent, and a delivery that has ended keeps its status. */
export function markAbandoned(delivery: Delivery, at: Timestamp): Delivery {
  if (isScheduled(delivery)) return markDiscarded(delivery, at);
  return delivery.manual_at === null ? delivery : withChange(delivery, { manual_at: null });
}

/** Asks for one attempt as soon as possible, whatever the delivery's status; its schedule stays as it is. */
export function requestRetry(delivery: Delivery, at: Timestamp): Delivery {
  return delivery.manual_at === null ? withChange(delivery, { manual_at: at }) : delivery;
}

/**
 * The delivery with a new schedule and window, as if it had just been recorded; its log of attempts stays.
 * @param at when its first attempt is due
 */
export function restartSchedule(delivery: Delivery, at: Timestamp, replay_id?: string): Delivery {
  return withChange(delivery, {
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

/** The dead letter after it was announced to the workspace's other endpoints and the topic. */
export function markAnnounced(delivery: Delivery, at: Timestamp): Delivery {
  return withChange(delivery, { announced_at: at });
}

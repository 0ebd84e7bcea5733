import type { DeliveryStatus, Environment, Timestamp } from '@tracking/contracts';

/** Why an attempt failed, or a delivery last did. */
export interface DeliveryError {
  readonly code: string;
  /** One line for people. */
  readonly message: string;
}

/** The request that caused an event: followed in logs and traces by these. */
export interface RequestOrigin {
  readonly request_id?: string;
  /** W3C trace context, where the request had one. */
  readonly traceparent?: string;
}

/** One event on its way to one endpoint. */
export interface Delivery {
  /** `dlv_…`, derived from endpoint and event: there is never a second one for the two. */
  readonly id: string;
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly event_created_at: Timestamp;
  /** Of the event; absent where nothing is known of it, as for sandbox events. */
  readonly origin?: RequestOrigin;
  /** The stored body, shared by all deliveries of the event in the same payload version. */
  readonly payload_id: string;
  readonly sandbox: boolean;
  readonly status: DeliveryStatus;
  readonly created_at: Timestamp;
  /** By the schedule; null when there is none any more. */
  readonly next_attempt_at: Timestamp | null;
  /** Since when a person has been waiting for an attempt beside the schedule. */
  readonly manual_at: Timestamp | null;
  /** Every attempt ever made. */
  readonly attempts_count: number;
  /** Attempts of the present schedule that failed and moved it on. */
  readonly failures: number;
  /** Begin of the first attempt of the present schedule: its window counts from here. */
  readonly first_attempt_at: Timestamp | null;
  /** End of the latest attempt; absent before the first, or null where an earlier version stored it. */
  readonly last_attempt_at?: Timestamp | null;
  /** Revision of the URL that got the latest attempt; absent before the first attempt, and for the endpoint's first URL. */
  readonly url_revision?: number;
  readonly last_error: DeliveryError | null;
  readonly completed_at: Timestamp | null;
  /** When a dead letter was told to the topic; null until then. */
  readonly announced_at: Timestamp | null;
  /** Of the replay that gave it its present schedule, or gave it up; absent where none did. */
  readonly replay_id?: string;
  /** Grows with every change: a write made on an older state is refused. */
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

/** Whether its schedule has attempts to come. */
export function isScheduled(delivery: Delivery): boolean {
  return delivery.status === 'pending' || delivery.status === 'retrying';
}

function changed(delivery: Delivery, change: Partial<Delivery>): Delivery {
  return { ...delivery, ...change, revision: delivery.revision + 1 };
}

/** Nothing more is sent. A success stays one; what is discarded already stays as it is. */
export function discarded(delivery: Delivery, at: Timestamp, replay_id?: string): Delivery {
  if (delivery.status === 'succeeded' || delivery.status === 'discarded') return delivery;
  return changed(delivery, {
    ...(replay_id !== undefined && { replay_id }),
    status: 'discarded',
    next_attempt_at: null,
    manual_at: null,
    completed_at: at,
  });
}

/** Its endpoint was deleted: nothing more is sent, and what was done stays as it ended. */
export function abandoned(delivery: Delivery, at: Timestamp): Delivery {
  if (isScheduled(delivery)) return discarded(delivery, at);
  return delivery.manual_at === null ? delivery : changed(delivery, { manual_at: null });
}

/** One attempt as soon as possible, whatever the delivery's status; its schedule stays as it is. */
export function retryRequested(delivery: Delivery, at: Timestamp): Delivery {
  return delivery.manual_at === null ? changed(delivery, { manual_at: at }) : delivery;
}

/**
 * A new schedule and window, as if it had just been recorded; the attempts made stay in its log.
 * @param at when its first attempt is due
 */
export function replayed(delivery: Delivery, at: Timestamp, replay_id?: string): Delivery {
  return changed(delivery, {
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

/** The topic was told about this dead letter. */
export function announced(delivery: Delivery, at: Timestamp): Delivery {
  return changed(delivery, { announced_at: at });
}

import type { Environment, Timestamp } from '@tracking/contracts';
import { type Delivery, hasScheduledAttemptsLeft } from './delivery.ts';

/** Statuses of a replay. A replay is `canceled` by a person, who may resume it, or because its endpoint was deleted. */
export const REPLAY_STATUSES = ['running', 'completed', 'canceled'] as const;
export type ReplayStatus = (typeof REPLAY_STATUSES)[number];

/** Actions of a replay job. `discard` discards deliveries instead of sending them again. */
export const REPLAY_OR_DISCARD_ACTIONS = ['replay', 'discard'] as const;
export type ReplayAction = (typeof REPLAY_OR_DISCARD_ACTIONS)[number];

/**
 * Statuses that a replay can select: final statuses of deliveries, and `missed` for events that the endpoint subscribes
 * to but that were never recorded for it, including events from before its creation. Pending deliveries need no replay.
 */
export const REPLAYED_STATUSES = ['dead_lettered', 'discarded', 'succeeded', 'missed'] as const;
export type ReplayedStatus = (typeof REPLAYED_STATUSES)[number];
export const DEFAULT_REPLAYED_STATUSES: readonly ReplayedStatus[] = ['dead_lettered', 'missed'];

/** Filter for the events of an endpoint that a replay covers. */
export interface ReplayFilter {
  /**
   * Earliest and latest `created_at` of the events, both inclusive. A `since` of null starts at the first event kept.
   */
  readonly since: Timestamp | null;
  readonly until: Timestamp;
  /** Event types to include; null for all. */
  readonly event_types: readonly string[] | null;
  readonly statuses: readonly ReplayedStatus[];
  /** Codes of `last_error` to include; null for all. Missed events have no code. */
  readonly reasons: readonly string[] | null;
  /** Ids of the deliveries to include. Absent if the other fields of the filter select the deliveries. */
  readonly delivery_ids?: readonly string[];
}

/** A durable job over the deliveries of one endpoint. */
export interface Replay extends ReplayFilter {
  /** Identifier, `rpl_…`. */
  readonly id: string;
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly endpoint_id: string;
  readonly action: ReplayAction;
  readonly status: ReplayStatus;
  /** Number of deliveries found so far. Final when the replay is completed. */
  readonly matched: number;
  /** Number of found deliveries that the replay delivered or discarded. */
  readonly done: number;
  /** Number of found deliveries whose first attempt failed again. These deliveries continue on their new schedule. */
  readonly failed: number;
  readonly created_at: Timestamp;
  readonly completed_at: Timestamp | null;
  /** Increases with every change. */
  readonly revision: number;
}

export type NewReplay = Omit<
  Replay,
  'status' | 'matched' | 'done' | 'failed' | 'created_at' | 'completed_at' | 'revision'
>;

export function createReplay(fields: NewReplay, at: Timestamp): Replay {
  const counts = { matched: 0, done: 0, failed: 0 };
  return { ...fields, ...counts, status: 'running', created_at: at, completed_at: null, revision: 1 };
}

/**
 * Cancels a running replay: deliveries in progress continue, and others are not taken. A replay that has ended is
 * returned unchanged.
 */
export function cancelReplay<R extends Replay>(replay: R, at: Timestamp): R {
  return replay.status === 'running' ? { ...replay, status: 'canceled', completed_at: at } : replay;
}

/** Resumes a canceled replay where it stopped. A completed replay is returned unchanged. */
export function resumeReplay<R extends Replay>(replay: R): R {
  return replay.status === 'canceled' ? { ...replay, status: 'running', completed_at: null } : replay;
}

/** Returns the outcome of a replayed delivery's first attempt since the replay; undefined before that attempt. */
export function getOutcomeOfReplayedDelivery(delivery: Delivery): 'done' | 'failed' | undefined {
  if (delivery.status === 'succeeded') return 'done';
  // Ignore an attempt that the receiver deferred with `Retry-After`: it does not count.
  return delivery.failures > 0 || !hasScheduledAttemptsLeft(delivery) ? 'failed' : undefined;
}

import type { Environment, Timestamp } from '@tracking/contracts';
import { type Delivery, isScheduled } from './delivery.ts';

/** `canceled` by a person, who may resume it, or because its endpoint was deleted. */
export const REPLAY_STATUSES = ['running', 'completed', 'canceled'] as const;
export type ReplayStatus = (typeof REPLAY_STATUSES)[number];

/** `discard` discards deliveries instead of sending them again. */
export const REPLAY_ACTIONS = ['replay', 'discard'] as const;
export type ReplayAction = (typeof REPLAY_ACTIONS)[number];

/**
 * The deliveries that a replay can send again, by the status in which they ended, and `missed`: events that the endpoint
 * subscribes to and that were never recorded for it, from before its creation too. Waiting deliveries need no replay.
 */
export const REPLAYED_STATUSES = ['dead_lettered', 'discarded', 'succeeded', 'missed'] as const;
export type ReplayedStatus = (typeof REPLAYED_STATUSES)[number];
export const DEFAULT_REPLAYED_STATUSES: readonly ReplayedStatus[] = ['dead_lettered', 'missed'];

/** The events of an endpoint that a replay covers. */
export interface ReplayFilter {
  /** Bounds of the events' `created_at`, inclusive; null starts at the first event that is kept. */
  readonly since: Timestamp | null;
  readonly until: Timestamp;
  /** Any of these types; null for all. */
  readonly event_types: readonly string[] | null;
  readonly statuses: readonly ReplayedStatus[];
  /** Any of these codes of a delivery's `last_error`; null for all. Missed events have none. */
  readonly reasons: readonly string[] | null;
  /** Only these deliveries; absent if the other fields decide. */
  readonly delivery_ids?: readonly string[];
}

/** A durable job over the deliveries of one endpoint. */
export interface Replay extends ReplayFilter {
  /** `rpl_…` */
  readonly id: string;
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly endpoint_id: string;
  readonly action: ReplayAction;
  readonly status: ReplayStatus;
  /** Deliveries found so far; all of them once it is completed. */
  readonly matched: number;
  /** Deliveries among these that were delivered since, or discarded. */
  readonly done: number;
  /** Deliveries among these whose first attempt failed again: they continue by their new schedule. */
  readonly failed: number;
  readonly created_at: Timestamp;
  readonly completed_at: Timestamp | null;
  /** Grows with every change. */
  readonly revision: number;
}

export type NewReplay = Omit<
  Replay,
  'status' | 'matched' | 'done' | 'failed' | 'created_at' | 'completed_at' | 'revision'
>;

export function newReplay(fields: NewReplay, at: Timestamp): Replay {
  const counts = { matched: 0, done: 0, failed: 0 };
  return { ...fields, ...counts, status: 'running', created_at: at, completed_at: null, revision: 1 };
}

/** Cancels a running replay: deliveries under way continue, no more are taken. A replay that has ended stays as it is. */
export function cancelReplay<R extends Replay>(replay: R, at: Timestamp): R {
  return replay.status === 'running' ? { ...replay, status: 'canceled', completed_at: at } : replay;
}

/** Resumes a canceled replay where it stopped. A completed one stays so. */
export function resumeReplay<R extends Replay>(replay: R): R {
  return replay.status === 'canceled' ? { ...replay, status: 'running', completed_at: null } : replay;
}

/** The outcome of a replayed delivery by its first attempt since; undefined before that. */
export function replayOutcome(delivery: Delivery): 'done' | 'failed' | undefined {
  if (delivery.status === 'succeeded') return 'done';
  // A hold counts as no attempt.
  return delivery.failures > 0 || !isScheduled(delivery) ? 'failed' : undefined;
}

import type { Environment, Timestamp } from '@tracking/contracts';
import { type Delivery, isScheduled } from './delivery.ts';

/** `canceled` by a person, or with its endpoint; a person may have it go on. */
export const REPLAY_STATUSES = ['running', 'completed', 'canceled'] as const;
export type ReplayStatus = (typeof REPLAY_STATUSES)[number];

/** `discard` gives deliveries up instead of sending them again. */
export const REPLAY_ACTIONS = ['replay', 'discard'] as const;
export type ReplayAction = (typeof REPLAY_ACTIONS)[number];

/**
 * What a replay sends again: deliveries that came to one of these ends, and `missed`: events that the endpoint subscribes to
 * and that were never recorded for it, from before its creation too. What still waits comes by itself.
 */
export const REPLAYED_STATUSES = ['dead_lettered', 'discarded', 'succeeded', 'missed'] as const;
export type ReplayedStatus = (typeof REPLAYED_STATUSES)[number];
export const DEFAULT_REPLAYED_STATUSES: readonly ReplayedStatus[] = ['dead_lettered', 'missed'];

/** Which events of an endpoint. */
export interface ReplayFilter {
  /** Bounds of the events' `created_at`, inclusive; from the first one kept on where null. */
  readonly since: Timestamp | null;
  readonly until: Timestamp;
  /** Any of these; all where null. */
  readonly event_types: readonly string[] | null;
  readonly statuses: readonly ReplayedStatus[];
  /** Codes of a delivery's `last_error`: any of these; all where null. What was missed has none. */
  readonly reasons: readonly string[] | null;
  /** Only these deliveries; absent where what else is said decides. */
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
  /** Found so far; all of them once it is completed. */
  readonly matched: number;
  /** Of these, delivered since, or discarded. */
  readonly done: number;
  /** Of these, those whose first attempt failed again: they go on by their new schedule. */
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
  const nothing = { matched: 0, done: 0, failed: 0 };
  return { ...fields, ...nothing, status: 'running', created_at: at, completed_at: null, revision: 1 };
}

/** What is under way stays so; no more is begun. One that came to its end stays as it is. */
export function replayCanceled<R extends Replay>(replay: R, at: Timestamp): R {
  return replay.status === 'running' ? { ...replay, status: 'canceled', completed_at: at } : replay;
}

/** Goes on where it was canceled. One that is completed stays so. */
export function replayResumed<R extends Replay>(replay: R): R {
  return replay.status === 'canceled' ? { ...replay, status: 'running', completed_at: null } : replay;
}

/** What became of a delivery that was replayed, by its first attempt since; undefined before that. */
export function replayOutcome(delivery: Delivery): 'done' | 'failed' | undefined {
  if (delivery.status === 'succeeded') return 'done';
  // A hold leaves the attempt to be made.
  return delivery.failures > 0 || !isScheduled(delivery) ? 'failed' : undefined;
}

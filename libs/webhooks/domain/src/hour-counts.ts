import type { Timestamp } from '@tracking/contracts';
import type { DeliveryError } from './delivery.ts';
import { type LatencyBuckets, latencyBucket } from './latency.ts';

const HOUR_MS = 3_600_000;

/** An attempt as the log has it: all that statistics count of it. */
export interface CountedAttempt {
  readonly at: Timestamp;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: DeliveryError | null;
  /** It made its delivery a dead letter. */
  readonly dead_lettered?: true;
}

export interface LastError extends DeliveryError {
  /** Begin of the attempt. */
  readonly at: Timestamp;
  readonly status_code: number | null;
}

/** What became of the attempts at one endpoint that began within one hour. */
export interface HourCounts {
  readonly succeeded: number;
  readonly failed: number;
  /** Of the failed ones, those that made a dead letter. */
  readonly dead_lettered: number;
  /** Deliveries that a person gave up within the hour. */
  readonly discarded: number;
  /** Of all attempts. */
  readonly latency: LatencyBuckets;
  readonly longest_ms: number;
  /** Begin of the last attempt that succeeded. */
  readonly last_success_at: Timestamp | null;
  readonly last_error: LastError | null;
}

const NOTHING: HourCounts = {
  succeeded: 0,
  failed: 0,
  dead_lettered: 0,
  discarded: 0,
  latency: {},
  longest_ms: 0,
  last_success_at: null,
  last_error: null,
};

/** The begin of the hour, in UTC. @param at as `toISOString` writes it */
export function hourOf(at: Timestamp): Timestamp {
  return `${at.slice(0, 13)}:00:00.000Z`;
}

/** The begin of the next one. */
export function hourAfter(hour: Timestamp): Timestamp {
  return new Date(Date.parse(hour) + HOUR_MS).toISOString();
}

/** Counts the attempts of one hour, in any order. */
export class HourCounter {
  discarded: number;
  private succeeded: number;
  private failed: number;
  private deadLettered: number;
  private longestMs: number;
  private lastSuccessAt: Timestamp | null;
  private lastError: LastError | null;
  private readonly latency: Record<string, number>;

  /** Goes on from these. */
  constructor(counts: HourCounts = NOTHING) {
    this.succeeded = counts.succeeded;
    this.failed = counts.failed;
    this.deadLettered = counts.dead_lettered;
    this.discarded = counts.discarded;
    this.latency = { ...counts.latency };
    this.longestMs = counts.longest_ms;
    this.lastSuccessAt = counts.last_success_at;
    this.lastError = counts.last_error;
  }

  count({ at, duration_ms, status_code, error, dead_lettered }: CountedAttempt): void {
    const bucket = latencyBucket(duration_ms);
    this.latency[bucket] = (this.latency[bucket] ?? 0) + 1;
    this.longestMs = Math.max(this.longestMs, duration_ms);
    if (error === null) {
      this.succeeded += 1;
      if (this.lastSuccessAt === null || at > this.lastSuccessAt) this.lastSuccessAt = at;
      return;
    }
    this.failed += 1;
    if (dead_lettered === true) this.deadLettered += 1;
    const { code, message } = error;
    if (isLater(this.lastError, at, message)) this.lastError = { at, code, message, status_code };
  }

  get counts(): HourCounts {
    return {
      succeeded: this.succeeded,
      failed: this.failed,
      dead_lettered: this.deadLettered,
      discarded: this.discarded,
      latency: { ...this.latency },
      longest_ms: this.longestMs,
      last_success_at: this.lastSuccessAt,
      last_error: this.lastError,
    };
  }
}

/** Of two that began in the same millisecond always the same one, whichever is counted first. */
function isLater(last: LastError | null, at: Timestamp, message: string): boolean {
  return last === null || at > last.at || (at === last.at && message > last.message);
}

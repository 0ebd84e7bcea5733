import type { Timestamp } from '@tracking/contracts';
import type { DeliveryFailureReason } from './delivery.ts';

const HOUR_MS = 3_600_000;

/** Fields of an attempt that statistics count. */
export interface CountedAttempt {
  readonly at: Timestamp;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: DeliveryFailureReason | null;
  /** Present if the attempt made its delivery a dead letter. */
  readonly dead_lettered?: true;
}

export interface LastDeliveryFailureRecord extends DeliveryFailureReason {
  /** Start of the attempt. */
  readonly at: Timestamp;
  readonly status_code: number | null;
}

/** Counts of the attempts at one endpoint that started within one hour. */
export interface HourlyAttemptCounts {
  readonly succeeded: number;
  readonly failed: number;
  /** Number of failed attempts that made a dead letter. */
  readonly dead_lettered: number;
  /** Number of deliveries that a person discarded within the hour. */
  readonly discarded: number;
  /** Durations of all attempts. */
  readonly latency: LatencyBuckets;
  readonly longest_ms: number;
  /** Start of the last successful attempt. */
  readonly last_success_at: Timestamp | null;
  readonly last_error: LastDeliveryFailureRecord | null;
}

const EMPTY_HOUR_COUNTS: HourlyAttemptCounts = {
  succeeded: 0,
  failed: 0,
  dead_lettered: 0,
  discarded: 0,
  latency: {},
  longest_ms: 0,
  last_success_at: null,
  last_error: null,
};

/** Returns the start of the hour, in UTC. @param at a time as `toISOString` formats it */
export function startOfHour(at: Timestamp): Timestamp {
  return `${at.slice(0, 13)}:00:00.000Z`;
}

/** Returns the start of the next hour. */
export function startOfNextHour(hour: Timestamp): Timestamp {
  return new Date(Date.parse(hour) + HOUR_MS).toISOString();
}

/** Counts the attempts of one hour. The order of the attempts does not matter. */
export class HourlyAttemptCounter {
  discarded: number;
  private succeeded: number;
  private failed: number;
  private deadLettered: number;
  private longestMs: number;
  private lastSuccessAt: Timestamp | null;
  private lastError: LastDeliveryFailureRecord | null;
  private readonly latency: Record<string, number>;

  /** @param counts initial counts */
  constructor(counts: HourlyAttemptCounts = EMPTY_HOUR_COUNTS) {
    this.succeeded = counts.succeeded;
    this.failed = counts.failed;
    this.deadLettered = counts.dead_lettered;
    this.discarded = counts.discarded;
    this.latency = { ...counts.latency };
    this.longestMs = counts.longest_ms;
    this.lastSuccessAt = counts.last_success_at;
    this.lastError = counts.last_error;
  }

  countDeliveryAttempt({ at, duration_ms, status_code, error, dead_lettered }: CountedAttempt): void {
    const bucket = computeLatencyBucket(duration_ms);
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
    if (isDeliveryErrorLaterThanLast(this.lastError, at, message)) this.lastError = { at, code, message, status_code };
  }

  get counts(): HourlyAttemptCounts {
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

/**
 * Returns true if an error is later than the last one. Errors of the same millisecond are ordered by message, so that
 * the counting order does not matter.
 */
function isDeliveryErrorLaterThanLast(last: LastDeliveryFailureRecord | null, at: Timestamp, message: string): boolean {
  return last === null || at > last.at || (at === last.at && message > last.message);
}

/**
 * Number of durations in each bucket, by bucket number; empty buckets are omitted. Up to 15 ms, each millisecond has
 * its own bucket; above, each doubling has eight. A duration read from a bucket is at most 12.5% too long.
 */
export type LatencyBuckets = Readonly<Record<string, number>>;

const EXACT_LATENCY_BUCKET_COUNT = 16;
const BUCKETS_PER_DOUBLING = 8;

/** Returns the bucket of a duration. @param ms whole milliseconds */
export function computeLatencyBucket(ms: number): number {
  if (ms < EXACT_LATENCY_BUCKET_COUNT) return Math.max(0, ms);
  const doublings = Math.floor(Math.log2(ms)) - 3;
  return (
    EXACT_LATENCY_BUCKET_COUNT +
    (doublings - 1) * BUCKETS_PER_DOUBLING +
    (Math.floor(ms / 2 ** doublings) - BUCKETS_PER_DOUBLING)
  );
}

/** Returns the longest duration of a bucket, in whole milliseconds. */
export function getMaxLatencyOfBucket(bucket: number): number {
  if (bucket < EXACT_LATENCY_BUCKET_COUNT) return bucket;
  const doublings = Math.floor((bucket - EXACT_LATENCY_BUCKET_COUNT) / BUCKETS_PER_DOUBLING) + 1;
  const step = (bucket - EXACT_LATENCY_BUCKET_COUNT) % BUCKETS_PER_DOUBLING;
  return (BUCKETS_PER_DOUBLING + step + 1) * 2 ** doublings - 1;
}

/**
 * Returns a percentile of the durations, in milliseconds; null without durations.
 * @param part the percentile, from 0 to 1, @param max the longest duration
 */
export function computePercentile(buckets: LatencyBuckets, part: number, max: number): number | null {
  const sorted = Object.entries(buckets)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .sort(([one], [other]) => one - other);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  let left = Math.ceil(total * part);
  for (const [bucket, count] of sorted) {
    left -= count;
    if (left <= 0) return Math.min(getMaxLatencyOfBucket(bucket), max);
  }
  return null;
}

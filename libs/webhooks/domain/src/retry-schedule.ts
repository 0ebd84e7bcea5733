import type { Timestamp } from '@tracking/contracts';
import { type Delivery, hasScheduledAttemptsLeft } from './delivery.ts';
import { type TimePeriod, computeEndExcludingPauses } from './endpoint.ts';
import type { AttemptOutcome } from './outcome.ts';

/** Schedule for retrying failed deliveries. Durations in milliseconds. */
export interface RetryPolicy {
  /** Delay after the first failed attempt. */
  readonly firstMs: number;
  readonly factor: number;
  /** Longest delay, before jitter. */
  readonly capMs: number;
  /** Time from the start of the first attempt to the last attempt. */
  readonly windowMs: number;
}

/** Default retry policy: 5 s, tripled each time, at most 24 h, for 72 h. See docs/reference/delivery.md#attempts. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  firstMs: 5_000,
  factor: 3,
  capMs: 24 * 3_600_000,
  windowMs: 72 * 3_600_000,
};

/** Returns a random number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number;

export interface FinishedAttempt {
  readonly startedAt: Timestamp;
  readonly endedAt: Timestamp;
  /** True if a person requested the attempt outside the schedule. */
  readonly manual: boolean;
  readonly outcome: AttemptOutcome;
  /** Revision of the URL that the attempt was sent to. */
  readonly urlRevision: number;
}

export interface RetryScheduleContext {
  readonly policy: RetryPolicy;
  /** Periods in which the endpoint could not be attempted. Retry windows are extended by these periods. */
  readonly pauses: readonly TimePeriod[];
  readonly random: Random;
  /** Revision of the endpoint's current URL. */
  readonly urlRevision: number;
}

/**
 * Returns the delivery after an attempt, even if the delivery changed during the attempt: a discarded delivery stays
 * discarded unless it was delivered. If the endpoint's URL changed during the attempt, only a success counts, and the
 * next attempt, at the new URL, is due immediately.
 */
export function applyFinishedAttempt(
  delivery: Delivery,
  attempt: FinishedAttempt,
  context: RetryScheduleContext,
): Delivery {
  const { outcome, startedAt, endedAt, manual, urlRevision } = attempt;
  const attempted: Delivery = {
    ...delivery,
    attempts_count: delivery.attempts_count + 1,
    first_attempt_at: delivery.first_attempt_at ?? startedAt,
    last_attempt_at: endedAt,
    manual_at: manual ? null : delivery.manual_at,
    ...(urlRevision > 0 && { url_revision: urlRevision }),
    last_error: outcome.kind === 'success' ? null : outcome.error,
    revision: delivery.revision + 1,
  };
  if (outcome.kind === 'success') return toDeliveryWithFinalStatus(attempted, 'succeeded', endedAt);
  if (delivery.status === 'succeeded') return { ...attempted, last_error: delivery.last_error };
  if (!hasScheduledAttemptsLeft(delivery)) return attempted;
  if (delivery.sandbox) return toDeliveryWithFinalStatus(attempted, 'discarded', endedAt);
  if (urlRevision !== context.urlRevision) return { ...attempted, status: 'retrying', next_attempt_at: endedAt };
  if (outcome.kind === 'gone') return toDeliveryWithFinalStatus(attempted, 'dead_lettered', endedAt);
  if (manual) return attempted;
  return rescheduleDelivery(attempted, attempt, outcome, context);
}

function rescheduleDelivery(
  attempted: Delivery,
  { startedAt, endedAt }: FinishedAttempt,
  outcome: Exclude<AttemptOutcome, { kind: 'success' | 'gone' }>,
  { policy, pauses, random }: RetryScheduleContext,
): Delivery {
  const ended = Date.parse(endedAt);
  const windowEndsAt = computeRetryWindowEnd(policy, Date.parse(attempted.first_attempt_at ?? startedAt), pauses);
  // Compare the attempt's start: an attempt that started within the window is followed by the last attempt.
  if (Date.parse(startedAt) >= windowEndsAt) return toDeliveryWithFinalStatus(attempted, 'dead_lettered', endedAt);
  // A hold does not consume an attempt of the schedule. A hold that ends after the window delays the last attempt.
  const failures = outcome.kind === 'hold' ? attempted.failures : attempted.failures + 1;
  const next =
    outcome.kind === 'hold'
      ? ended + outcome.holdMs
      : computeNextAttemptTime(policy, { failures, endedAt: ended, windowEndsAt }, random);
  return { ...attempted, status: 'retrying', failures, next_attempt_at: new Date(next).toISOString() };
}

function toDeliveryWithFinalStatus(
  delivery: Delivery,
  status: 'succeeded' | 'dead_lettered' | 'discarded',
  at: Timestamp,
): Delivery {
  const keepsManual = delivery.manual_at !== null && status !== 'succeeded';
  return {
    ...delivery,
    status,
    next_attempt_at: null,
    manual_at: keepsManual ? delivery.manual_at : null,
    completed_at: at,
    announced_at: null,
  };
}

const JITTER_FRACTION = 0.1;

/**
 * Returns the delay after a failed attempt, in milliseconds. Jitter of ±10% spreads deliveries that failed together.
 * @param failures number of failed attempts in the schedule so far, from 1
 */
export function computeBackoffMs(policy: RetryPolicy, failures: number, random: Random): number {
  return Math.round(
    computeWaitBeforeJitterMs(policy, failures) * (1 - JITTER_FRACTION + 2 * JITTER_FRACTION * random()),
  );
}

/** Returns the longest {@link computeBackoffMs} after this many failed attempts. */
export function computeMaxBackoffMs(policy: RetryPolicy, failures: number): number {
  return Math.round(computeWaitBeforeJitterMs(policy, failures) * (1 + JITTER_FRACTION));
}

function computeWaitBeforeJitterMs({ firstMs, factor, capMs }: RetryPolicy, failures: number): number {
  return Math.min(capMs, firstMs * factor ** (failures - 1));
}

/**
 * Returns the time of the last attempt, in epoch milliseconds: one window after the start of the first attempt, not
 * counting pauses of the endpoint. Infinity while the endpoint is paused.
 */
export function computeRetryWindowEnd(
  policy: RetryPolicy,
  firstAttemptAt: number,
  pauses: readonly TimePeriod[],
): number {
  return computeEndExcludingPauses(firstAttemptAt, policy.windowMs, pauses);
}

export interface FailedAttemptInRetrySchedule {
  /** Number of failed attempts in the schedule so far, from 1. */
  readonly failures: number;
  /** End of the attempt, in epoch milliseconds. */
  readonly endedAt: number;
  readonly windowEndsAt: number;
}

/**
 * Returns the time of the next attempt, in epoch milliseconds: the attempt's end plus the backoff, but at most the end
 * of the window. The last attempt, at the end of the window, has no jitter.
 */
export function computeNextAttemptTime(
  policy: RetryPolicy,
  { failures, endedAt, windowEndsAt }: FailedAttemptInRetrySchedule,
  random: Random,
): number {
  return Math.min(endedAt + computeBackoffMs(policy, failures, random), windowEndsAt);
}

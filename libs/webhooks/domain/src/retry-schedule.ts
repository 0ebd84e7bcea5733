import type { Timestamp } from '@tracking/contracts';
import { type Delivery, isScheduled } from './delivery.ts';
import { type Period, endAfterPauses } from './endpoint.ts';
import type { AttemptOutcome } from './outcome.ts';

/** When failed deliveries are tried again. Durations in milliseconds. */
export interface RetryPolicy {
  /** Wait after the first failed attempt. */
  readonly firstMs: number;
  readonly factor: number;
  /** Longest wait, before jitter. */
  readonly capMs: number;
  /** From the begin of the first attempt to the last attempt. */
  readonly windowMs: number;
}

/** 5 s, three times as long each time, 24 h at most, for 72 h: docs/reference/delivery.md#attempts. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  firstMs: 5_000,
  factor: 3,
  capMs: 24 * 3_600_000,
  windowMs: 72 * 3_600_000,
};

/** From 0 to just under 1. */
export type Random = () => number;

export interface FinishedAttempt {
  readonly startedAt: Timestamp;
  readonly endedAt: Timestamp;
  /** Asked for by a person, beside the schedule. */
  readonly manual: boolean;
  readonly outcome: AttemptOutcome;
  /** Revision of the URL that it was sent to. */
  readonly urlRevision: number;
}

export interface AttemptContext {
  readonly policy: RetryPolicy;
  /** When the endpoint could not be attempted: windows stand still meanwhile. */
  readonly pauses: readonly Period[];
  readonly random: Random;
  /** Revision of the endpoint's present URL. */
  readonly urlRevision: number;
}

/**
 * The delivery after an attempt, also if it changed during the attempt: a discarded delivery stays discarded unless it was
 * in fact delivered. If the endpoint got another URL during the attempt, only a success counts: the next attempt, at that
 * URL, is due at once.
 */
export function applyAttempt(delivery: Delivery, attempt: FinishedAttempt, context: AttemptContext): Delivery {
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
  if (outcome.kind === 'success') return complete(attempted, 'succeeded', endedAt);
  if (delivery.status === 'succeeded') return { ...attempted, last_error: delivery.last_error };
  if (!isScheduled(delivery)) return attempted;
  if (delivery.sandbox) return complete(attempted, 'discarded', endedAt);
  if (urlRevision !== context.urlRevision) return { ...attempted, status: 'retrying', next_attempt_at: endedAt };
  if (outcome.kind === 'gone') return complete(attempted, 'dead_lettered', endedAt);
  if (manual) return attempted;
  return reschedule(attempted, attempt, outcome, context);
}

function reschedule(
  attempted: Delivery,
  { startedAt, endedAt }: FinishedAttempt,
  outcome: Exclude<AttemptOutcome, { kind: 'success' | 'gone' }>,
  { policy, pauses, random }: AttemptContext,
): Delivery {
  const ended = Date.parse(endedAt);
  const windowEndsAt = retryWindowEnd(policy, Date.parse(attempted.first_attempt_at ?? startedAt), pauses);
  // The begin decides: after an attempt that began inside the window the last one is still to be made.
  if (Date.parse(startedAt) >= windowEndsAt) return complete(attempted, 'dead_lettered', endedAt);
  // A hold uses up no attempt of the schedule. Beyond the window it defers the last attempt.
  const failures = outcome.kind === 'hold' ? attempted.failures : attempted.failures + 1;
  const next =
    outcome.kind === 'hold'
      ? ended + outcome.holdMs
      : nextAttemptAt(policy, { failures, endedAt: ended, windowEndsAt }, random);
  return { ...attempted, status: 'retrying', failures, next_attempt_at: new Date(next).toISOString() };
}

function complete(delivery: Delivery, status: 'succeeded' | 'dead_lettered' | 'discarded', at: Timestamp): Delivery {
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

const JITTER = 0.1;

/**
 * The wait after a failed attempt, in milliseconds, ±10 % so that deliveries that failed together do not return together.
 * @param failures attempts of the schedule that have failed so far, from 1
 */
export function backoffMs(policy: RetryPolicy, failures: number, random: Random): number {
  const wait = Math.min(policy.capMs, policy.firstMs * policy.factor ** (failures - 1));
  return Math.round(wait * (1 - JITTER + 2 * JITTER * random()));
}

/**
 * When the last attempt is due, in epoch milliseconds: one window after the first attempt began, pauses of the endpoint
 * not counted. Infinity while the endpoint is paused: its deliveries' windows stand still.
 */
export function retryWindowEnd(policy: RetryPolicy, firstAttemptAt: number, pauses: readonly Period[]): number {
  return endAfterPauses(firstAttemptAt, policy.windowMs, pauses);
}

export interface FailedAttempt {
  /** Of the schedule so far, from 1. */
  readonly failures: number;
  /** Epoch milliseconds. */
  readonly endedAt: number;
  readonly windowEndsAt: number;
}

/**
 * When to try again after a failed attempt, in epoch milliseconds: after the backoff, counted from the attempt's end, but
 * never after the window's end, where the last attempt is made without jitter.
 */
export function nextAttemptAt(
  policy: RetryPolicy,
  { failures, endedAt, windowEndsAt }: FailedAttempt,
  random: Random,
): number {
  return Math.min(endedAt + backoffMs(policy, failures, random), windowEndsAt);
}

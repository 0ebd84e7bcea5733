import type { Period } from './periods.ts';
import { endAfterPauses } from './periods.ts';

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

const JITTER = 0.1;

/** From 0 to just under 1. */
export type Random = () => number;

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
export function windowEnd(policy: RetryPolicy, firstAttemptAt: number, pauses: readonly Period[]): number {
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

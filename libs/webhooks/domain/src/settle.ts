import type { Timestamp } from '@tracking/contracts';
import { type Delivery, isScheduled } from './delivery.ts';
import type { AttemptOutcome } from './outcome.ts';
import type { Period } from './periods.ts';
import { type Random, type RetryPolicy, nextAttemptAt, windowEnd } from './schedule.ts';

export interface FinishedAttempt {
  readonly startedAt: Timestamp;
  readonly endedAt: Timestamp;
  /** Asked for by a person, beside the schedule. */
  readonly manual: boolean;
  readonly outcome: AttemptOutcome;
  /** Revision of the URL that it was sent to. */
  readonly urlRevision: number;
}

export interface SettleContext {
  readonly policy: RetryPolicy;
  /** When the endpoint could not be attempted: windows stand still meanwhile. */
  readonly pauses: readonly Period[];
  readonly random: Random;
  /** Revision of the endpoint's present URL. */
  readonly urlRevision: number;
}

/**
 * The delivery after an attempt. Also right for one that changed while the attempt was under way: what was discarded stays
 * discarded, unless it was in fact delivered. If the endpoint got another URL meanwhile, nothing but a success counts: the
 * next attempt, at that URL, is due at once.
 */
export function settle(delivery: Delivery, attempt: FinishedAttempt, context: SettleContext): Delivery {
  const { outcome, startedAt, endedAt, manual, urlRevision } = attempt;
  const tried: Delivery = {
    ...delivery,
    attempts_count: delivery.attempts_count + 1,
    first_attempt_at: delivery.first_attempt_at ?? startedAt,
    last_attempt_at: endedAt,
    manual_at: manual ? null : delivery.manual_at,
    ...(urlRevision > 0 && { url_revision: urlRevision }),
    last_error: outcome.kind === 'success' ? null : outcome.error,
    revision: delivery.revision + 1,
  };
  if (outcome.kind === 'success') return completed(tried, 'succeeded', endedAt);
  if (delivery.status === 'succeeded') return { ...tried, last_error: delivery.last_error };
  if (!isScheduled(delivery)) return tried;
  if (delivery.sandbox) return completed(tried, 'discarded', endedAt);
  if (urlRevision !== context.urlRevision) return { ...tried, status: 'retrying', next_attempt_at: endedAt };
  if (outcome.kind === 'gone') return completed(tried, 'dead_lettered', endedAt);
  if (manual) return tried;
  return rescheduled(tried, attempt, outcome, context);
}

function rescheduled(
  tried: Delivery,
  { startedAt, endedAt }: FinishedAttempt,
  outcome: Exclude<AttemptOutcome, { kind: 'success' | 'gone' }>,
  { policy, pauses, random }: SettleContext,
): Delivery {
  const ended = Date.parse(endedAt);
  const windowEndsAt = windowEnd(policy, Date.parse(tried.first_attempt_at ?? startedAt), pauses);
  // Judged by when it began: an attempt that began inside the window leaves the last one still to be made.
  if (Date.parse(startedAt) >= windowEndsAt) return completed(tried, 'dead_lettered', endedAt);
  // A hold burns no attempt of the schedule. Beyond the window it puts the last attempt off.
  const failures = outcome.kind === 'hold' ? tried.failures : tried.failures + 1;
  const next =
    outcome.kind === 'hold'
      ? ended + outcome.holdMs
      : nextAttemptAt(policy, { failures, endedAt: ended, windowEndsAt }, random);
  return { ...tried, status: 'retrying', failures, next_attempt_at: new Date(next).toISOString() };
}

function completed(delivery: Delivery, status: 'succeeded' | 'dead_lettered' | 'discarded', at: Timestamp): Delivery {
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

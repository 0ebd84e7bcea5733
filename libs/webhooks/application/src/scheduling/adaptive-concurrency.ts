import type { Timestamp } from '@tracking/contracts';
import {
  type AttemptOutcome,
  type ConsecutiveFailures,
  type DeliveryFailureReason,
  MAX_RETRY_AFTER_MS,
  type Random,
} from '@tracking/webhooks-domain';
import type { EndpointHealth } from '../endpoints/endpoint-document.ts';
import type { ProcessClock } from './steady-time.ts';

/**
 * Circuit state of a URL:
 * - `untried`: no success yet. A few concurrent attempts find out if the URL answers.
 * - `closed`: the URL answers.
 * - `open`: as many consecutive attempts failed as were allowed concurrently. One or two probes run until one succeeds.
 */
type CircuitState = 'untried' | 'closed' | 'open';

/** Failed attempts since the endpoint's last success. */
interface FailuresSinceSuccess extends ConsecutiveFailures {
  /** Errors of failed attempts: `first` of the first, `reason` of the latest. Null if an error is not stored. */
  readonly first: DeliveryFailureReason | null;
  readonly reason: DeliveryFailureReason | null;
  /** Time of the event that reports the failures; null before the report. */
  readonly reportAt: number | null;
  /** True if the other endpoints were notified. */
  readonly isReported: boolean;
}

const NO_FAILURES = { since: Infinity, first: null, reportAt: null, isReported: false };

/** Concurrent attempts until the first success. */
const INITIAL_CONCURRENCY = 4;
/** Concurrent attempts while the circuit is open. */
const OPEN_CIRCUIT_CONCURRENCY = 2;
/**
 * Number of consecutive failures from which attempts pause: the next one waits for a random part of the last attempt's
 * duration.
 */
const FAILURES_BEFORE_PAUSE = 2;
const MAX_PAUSE_PER_ATTEMPT_DURATION = 0.1;
/** Milliseconds from which an answer is slow. After a slow answer, attempts start one by one with a gap. */
const SLOW_ANSWER_MS_THAT_DELAYS_ATTEMPTS = 1_000;
const ATTEMPT_STARTS_PER_ANSWER_DURATION = 4;
/** Number of consecutive failures that end a recovery. Pending deliveries then keep their schedule. */
const FAILURE_COUNT_THAT_ENDS_RECOVERY = 3;

/** Current limits on attempts at one URL. Times are in time of this process. */
export interface EndpointConcurrencyState {
  /** Maximum number of concurrent attempts in the endpoint's settings. */
  readonly limit: number;
  /** Concurrent attempts currently allowed. */
  readonly allowed: number;
  readonly circuit: CircuitState;
  /** Time at which the circuit last closed; -Infinity if it was never open in this process. */
  readonly closedAt: number;
  readonly heldUntil: number;
  /** Earliest start of the next attempt. The gap spreads the attempts at endpoints that hang or answer late. */
  readonly restsUntil: number;
  /** True if the latest answer was a success. */
  readonly isProven: boolean;
  /** Time at which the URL answered again after a long failure; null if the URL is not recovering. */
  readonly recoveringSince: number | null;
  /** Start of the first failed attempt since the last success; null after a success. */
  readonly failingSince: number | null;
}

/**
 * Adapts the number of concurrent attempts at one URL to its responses: a few to begin with, one more with each success up to the
 * endpoint's limit, and one or two probes while its circuit is open. A hold (429, or 503 with `Retry-After`) stops all
 * attempts until it ends. Times are monotonic, so that a step of the wall clock changes neither a hold nor the pause
 * of a recovering endpoint. Only the stored health contains wall-clock times.
 */
export class AdaptiveConcurrency implements EndpointConcurrencyState {
  private readonly recoveryAfterMs: number;
  private readonly random: Random;
  private readonly time: ProcessClock;
  #limit: number;
  #allowed: number;
  #circuit: CircuitState;
  #closedAt = -Infinity;
  #failures: FailuresSinceSuccess | null;
  #heldUntil: number;
  #isProven = false;
  #recoveringSince: number | null;
  #restsUntil = -Infinity;
  #failuresInARow = 0;
  #latestDurationMs = 0;
  #savedHealth: string;

  /**
   * @param limit maximum concurrent attempts that the endpoint is configured for
   * @param recoveryAfterMs shortest failure after which a success starts a recovery
   * @param stored health of the URL as an earlier process stored it
   */
  constructor(
    limit: number,
    recoveryAfterMs: number,
    { random, time }: { readonly random: Random; readonly time: ProcessClock },
    stored?: EndpointHealth,
  ) {
    this.#limit = limit;
    this.recoveryAfterMs = recoveryAfterMs;
    this.random = random;
    this.time = time;
    // Limit a stored time, because it may come from a clock that was ahead.
    const now = time.now();
    this.#heldUntil = this.toSteadyTime(stored?.held_until, now + MAX_RETRY_AFTER_MS) ?? -Infinity;
    this.#failures = this.restoreFailuresFromEndpointHealth(stored, now);
    this.#recoveringSince = this.toSteadyTime(stored?.recovering_since, now);
    const isUnwell = this.#failures !== null || this.#recoveringSince !== null;
    this.#allowed =
      this.#heldUntil > -Infinity ? 1 : Math.min(isUnwell ? OPEN_CIRCUIT_CONCURRENCY : INITIAL_CONCURRENCY, limit);
    this.#circuit = isUnwell ? 'open' : 'untried';
    this.#savedHealth = JSON.stringify(this.createHealthSnapshot(Infinity));
  }

  get limit(): number {
    return this.#limit;
  }
  get allowed(): number {
    return this.#allowed;
  }
  get circuit(): CircuitState {
    return this.#circuit;
  }
  get closedAt(): number {
    return this.#closedAt;
  }
  get heldUntil(): number {
    return this.#heldUntil;
  }
  get restsUntil(): number {
    return this.#restsUntil;
  }
  get isProven(): boolean {
    return this.#isProven;
  }
  get recoveringSince(): number | null {
    return this.#recoveringSince;
  }
  /** Failures since the last success; null after a success. */
  get failures(): FailuresSinceSuccess | null {
    return this.#failures;
  }
  get failingSince(): number | null {
    return this.#failures?.since ?? null;
  }

  changeConcurrencyLimit(limit: number): void {
    const isAtLimit = this.#allowed === this.#limit && this.#circuit === 'closed';
    this.#allowed = isAtLimit ? limit : Math.min(this.#allowed, limit);
    this.#limit = limit;
  }

  /** Delays the start of the next attempt if the endpoint answers slowly. @param at start of the current attempt */
  delayNextAttemptStart(at: number): void {
    // Leave no gap if only one attempt runs at a time.
    if (this.#latestDurationMs < SLOW_ANSWER_MS_THAT_DELAYS_ATTEMPTS || this.#allowed === 1) return;
    const gap = (2 * this.random() * this.#latestDurationMs) / (ATTEMPT_STARTS_PER_ANSWER_DURATION * this.#allowed);
    this.#restsUntil = Math.max(this.#restsUntil, at + gap);
  }

  /** Records the outcome of an attempt. */
  adaptConcurrencyToAttemptOutcome(outcome: AttemptOutcome, startedAt: number, endedAt: number): void {
    this.#latestDurationMs = endedAt - startedAt;
    if (outcome.kind === 'success') this.onDeliveryAttemptSuccess(endedAt);
    else this.onAttemptFailure(outcome.error, startedAt, endedAt);
    if (outcome.kind !== 'hold') return;
    this.#heldUntil = Math.max(this.#heldUntil, endedAt + outcome.holdMs);
    this.#allowed = 1;
  }

  /** Ends the recovery: every delivery that failed before it has been attempted again. */
  endEndpointRecovery(): void {
    this.#recoveringSince = null;
  }

  /**
   * Records the report of the failures that began at `since`. `reportAt` is the time of the report's event. No-op if
   * these failures have ended.
   */
  recordFailureReport(since: number, reportAt: number, isReported: boolean): void {
    if (this.#failures?.since === since) this.#failures = { ...this.#failures, reportAt, isReported };
  }

  /** Returns the health to store; undefined if the stored health is current. */
  getUnsavedHealth(now: number): EndpointHealth | undefined {
    const health = this.createHealthSnapshot(now);
    return JSON.stringify(health) === this.#savedHealth ? undefined : health;
  }

  markHealthSaved(health: EndpointHealth): void {
    this.#savedHealth = JSON.stringify(health);
  }

  private onDeliveryAttemptSuccess(at: number): void {
    const failedFor = this.failingSince === null ? 0 : at - this.failingSince;
    if (failedFor >= this.recoveryAfterMs) this.#recoveringSince = at;
    this.#failures = null;
    this.#failuresInARow = 0;
    this.#isProven = true;
    if (this.#circuit === 'open') this.#closedAt = at;
    this.#circuit = 'closed';
    this.#allowed = Math.min(this.#limit, this.#allowed + 1);
  }

  private onAttemptFailure(reason: DeliveryFailureReason, startedAt: number, endedAt: number): void {
    const { since = startedAt, first, reportAt = null, isReported = false } = this.#failures ?? {};
    this.#failures = { since, latest: endedAt, first: first ?? reason, reason, reportAt, isReported };
    this.#failuresInARow += 1;
    this.#isProven = false;
    if (this.#failuresInARow >= this.#allowed) {
      this.#allowed = Math.min(this.#allowed, OPEN_CIRCUIT_CONCURRENCY);
      this.#circuit = 'open';
    }
    if (this.#failuresInARow >= FAILURES_BEFORE_PAUSE) {
      this.#restsUntil = endedAt + this.random() * MAX_PAUSE_PER_ATTEMPT_DURATION * (endedAt - startedAt);
    }
    if (this.#failuresInARow >= FAILURE_COUNT_THAT_ENDS_RECOVERY) this.#recoveringSince = null;
  }

  /** Only failures that have lasted for a while are stored, so that occasional failures cause no writes. */
  private createHealthSnapshot(now: number): EndpointHealth {
    const { since, first, reportAt, isReported } = this.#failures ?? NO_FAILURES;
    const isStored = reportAt !== null || now - since >= this.recoveryAfterMs / 10;
    return {
      held_until: this.convertSteadyTimeToStoredTime(this.#heldUntil === -Infinity ? null : this.#heldUntil),
      failing_since: isStored ? this.convertSteadyTimeToStoredTime(since) : null,
      failing_reason: isStored ? first : null,
      failing_event_at: this.convertSteadyTimeToStoredTime(reportAt),
      failing_told: isReported,
      recovering_since: this.convertSteadyTimeToStoredTime(this.#recoveringSince),
    };
  }

  private restoreFailuresFromEndpointHealth(
    stored: EndpointHealth | undefined,
    now: number,
  ): FailuresSinceSuccess | null {
    const since = this.toSteadyTime(stored?.failing_since, now);
    if (since === null) return null;
    const { failing_reason: first = null, failing_event_at, failing_told: isReported = false } = stored ?? {};
    const reportAt = this.toSteadyTime(failing_event_at, now);
    return { since, latest: since, first, reason: first, reportAt, isReported };
  }

  private toSteadyTime(at: Timestamp | null | undefined, latest: number): number | null {
    return at ? Math.min(this.time.toSteadyTime(Date.parse(at)), latest) : null;
  }

  private convertSteadyTimeToStoredTime(at: number | null): Timestamp | null {
    return at === null ? null : new Date(this.time.convertSteadyTimeToWallClockTime(at)).toISOString();
  }
}

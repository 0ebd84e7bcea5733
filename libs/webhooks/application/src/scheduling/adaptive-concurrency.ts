import type { Timestamp } from '@tracking/contracts';
import type { AttemptOutcome, DeliveryError, ConsecutiveFailures, Random } from '@tracking/webhooks-domain';
import type { EndpointHealth } from '../endpoints/endpoint-document.ts';

/**
 * - `untried`: no success yet. A few attempts at once find out if it answers.
 * - `closed`: it answers.
 * - `open`: as many attempts in a row failed as were allowed at once. One or two probes run until one succeeds.
 */
type CircuitState = 'untried' | 'closed' | 'open';

/** The attempts that failed since the last success. */
interface FailuresSinceSuccess extends ConsecutiveFailures {
  /** Why the first one failed, and the latest. Null if it was not stored. */
  readonly first: DeliveryError | null;
  readonly reason: DeliveryError | null;
  /** Time of the event that reports them, in epoch milliseconds; null before. */
  readonly reportAt: number | null;
  /** True if the other endpoints were told. */
  readonly isReported: boolean;
}

const NO_FAILURES = { since: Infinity, first: null, reportAt: null, isReported: false };

/** Attempts at once until the first success. */
const UNTRIED_CONCURRENCY = 4;
/** Attempts at once while the circuit is open. */
const PROBE_CONCURRENCY = 2;
/** After this many failures in a row the next attempt waits for a random part of the time that the last one took. */
const PAUSE_AFTER_FAILURES = 2;
const MAX_PAUSE_SHARE = 0.1;
/** If the latest answer took this long, attempts begin one after the other, spread over a part of that time. */
const SLOW_ANSWER_MS = 1_000;
const SPREAD_DIVISOR = 4;
/** Failures in a row that end a recovery: deliveries that still wait keep their schedule. */
const RELAPSE_AFTER_FAILURES = 3;

/** How fast one URL may be attempted at present. Times are epoch milliseconds. */
export interface ConcurrencyState {
  /** Attempts at once that the endpoint's owner allows, whatever was answered. */
  readonly limit: number;
  /** Attempts at once at present. */
  readonly allowed: number;
  readonly circuit: CircuitState;
  /** When the circuit last closed; -Infinity if it was never open here. */
  readonly closedAt: number;
  readonly heldUntil: number;
  /** Earliest begin of the next attempt, so that attempts at endpoints that hang or answer late do not all begin at once. */
  readonly restsUntil: number;
  /** True if the latest answer was a success. */
  readonly isProven: boolean;
  /** When it answered again after a long failure; null if it does not recover from one. */
  readonly recoveringSince: number | null;
  /** Begin of the first attempt since the last success; null after a success. */
  readonly failingSince: number | null;
}

/**
 * How fast one URL may be attempted, judged by its answers: a few attempts at once to begin with, one more with each success
 * up to the endpoint's limit, and one or two probes while its circuit is open. A hold (429, 503 with `Retry-After`) stops
 * everything until it ends. Times are epoch milliseconds.
 */
export class AdaptiveConcurrency implements ConcurrencyState {
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
   * @param limit attempts at once that the endpoint's owner allows
   * @param recoveryAfterMs shortest failure after which a success begins a recovery
   * @param stored how the URL answered an earlier process
   */
  constructor(
    limit: number,
    private readonly recoveryAfterMs: number,
    private readonly random: Random,
    stored?: EndpointHealth,
  ) {
    this.#limit = limit;
    this.#heldUntil = toMilliseconds(stored?.held_until) ?? -Infinity;
    this.#failures = readStoredFailures(stored);
    this.#recoveringSince = toMilliseconds(stored?.recovering_since);
    const isUnwell = this.#failures !== null || this.#recoveringSince !== null;
    this.#allowed =
      this.#heldUntil > -Infinity ? 1 : Math.min(isUnwell ? PROBE_CONCURRENCY : UNTRIED_CONCURRENCY, limit);
    this.#circuit = isUnwell ? 'open' : 'untried';
    this.#savedHealth = JSON.stringify(this.healthAt(Infinity));
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
  /** The failures since the last success; null after one. */
  get failures(): FailuresSinceSuccess | null {
    return this.#failures;
  }
  get failingSince(): number | null {
    return this.#failures?.since ?? null;
  }

  changeLimit(limit: number): void {
    const isAtLimit = this.#allowed === this.#limit && this.#circuit === 'closed';
    this.#allowed = isAtLimit ? limit : Math.min(this.#allowed, limit);
    this.#limit = limit;
  }

  /** An attempt begins. */
  recordStart(at: number): void {
    // A single attempt at a time needs no gap.
    if (this.#latestDurationMs < SLOW_ANSWER_MS || this.#allowed === 1) return;
    const gap = (2 * this.random() * this.#latestDurationMs) / (SPREAD_DIVISOR * this.#allowed);
    this.#restsUntil = Math.max(this.#restsUntil, at + gap);
  }

  /** An attempt ended with this outcome. */
  recordOutcome(outcome: AttemptOutcome, startedAt: number, endedAt: number): void {
    this.#latestDurationMs = endedAt - startedAt;
    if (outcome.kind === 'success') this.onSuccess(endedAt);
    else this.onFailure(outcome.error, startedAt, endedAt);
    if (outcome.kind !== 'hold') return;
    this.#heldUntil = Math.max(this.#heldUntil, endedAt + outcome.holdMs);
    this.#allowed = 1;
  }

  /** Every delivery that failed before the recovery was attempted again. */
  endRecovery(): void {
    this.#recoveringSince = null;
  }

  /** The failures since `since` are reported, or about to be, by an event of the time `reportAt`. No-op if they have ended. */
  recordReport(since: number, reportAt: number, isReported: boolean): void {
    if (this.#failures?.since === since) this.#failures = { ...this.#failures, reportAt, isReported };
  }

  /** The health to store; undefined if it is stored. */
  unsavedHealth(now: number): EndpointHealth | undefined {
    const health = this.healthAt(now);
    return JSON.stringify(health) === this.#savedHealth ? undefined : health;
  }

  markSaved(health: EndpointHealth): void {
    this.#savedHealth = JSON.stringify(health);
  }

  private onSuccess(at: number): void {
    const failedFor = this.failingSince === null ? 0 : at - this.failingSince;
    if (failedFor >= this.recoveryAfterMs) this.#recoveringSince = at;
    this.#failures = null;
    this.#failuresInARow = 0;
    this.#isProven = true;
    if (this.#circuit === 'open') this.#closedAt = at;
    this.#circuit = 'closed';
    this.#allowed = Math.min(this.#limit, this.#allowed + 1);
  }

  private onFailure(reason: DeliveryError, startedAt: number, endedAt: number): void {
    const { since = startedAt, first, reportAt = null, isReported = false } = this.#failures ?? {};
    this.#failures = { since, latest: endedAt, first: first ?? reason, reason, reportAt, isReported };
    this.#failuresInARow += 1;
    this.#isProven = false;
    if (this.#failuresInARow >= this.#allowed) {
      this.#allowed = Math.min(this.#allowed, PROBE_CONCURRENCY);
      this.#circuit = 'open';
    }
    if (this.#failuresInARow >= PAUSE_AFTER_FAILURES) {
      this.#restsUntil = endedAt + this.random() * MAX_PAUSE_SHARE * (endedAt - startedAt);
    }
    if (this.#failuresInARow >= RELAPSE_AFTER_FAILURES) this.#recoveringSince = null;
  }

  /** Failures are stored once they have lasted a while: an endpoint that fails now and then causes no writes. */
  private healthAt(now: number): EndpointHealth {
    const { since, first, reportAt, isReported } = this.#failures ?? NO_FAILURES;
    const isStored = reportAt !== null || now - since >= this.recoveryAfterMs / 10;
    return {
      held_until: toTimestamp(this.#heldUntil === -Infinity ? null : this.#heldUntil),
      failing_since: isStored ? toTimestamp(since) : null,
      failing_reason: isStored ? first : null,
      failing_event_at: toTimestamp(reportAt),
      failing_told: isReported,
      recovering_since: toTimestamp(this.#recoveringSince),
    };
  }
}

function readStoredFailures(stored: EndpointHealth | undefined): FailuresSinceSuccess | null {
  const since = toMilliseconds(stored?.failing_since);
  if (since === null) return null;
  const { failing_reason: first = null, failing_event_at, failing_told: isReported = false } = stored ?? {};
  return { since, latest: since, first, reason: first, reportAt: toMilliseconds(failing_event_at), isReported };
}

function toMilliseconds(at: Timestamp | null | undefined): number | null {
  return at ? Date.parse(at) : null;
}

function toTimestamp(at: number | null): Timestamp | null {
  return at === null ? null : new Date(at).toISOString();
}

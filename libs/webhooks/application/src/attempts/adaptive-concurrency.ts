import type { Timestamp } from '@tracking/contracts';
import type { CollectionSpec, Document } from '@tracking/ports';
import type { AttemptOutcome, DeliveryError, FailuresInARow, Random } from '@tracking/webhooks-domain';

/**
 * How an endpoint has been answering, as far as it must outlive the process. Written by the owner of its shard alone, in its
 * time: where the clock of the next owner differs, a hold or a failure lasts as much longer or shorter.
 */
export interface EndpointHealth extends Document {
  /** Of the lease under which it was written: what an earlier owner still writes is refused. */
  readonly epoch: number;
  /** Revision of the URL that answered so; absent for the endpoint's first URL. */
  readonly url_revision?: number;
  readonly held_until: Timestamp | null;
  /** Begin of the first attempt since the last success. */
  readonly failing_since: Timestamp | null;
  /** Why that failed. Absent in what an earlier version stored, as the next one. */
  readonly failing_reason?: DeliveryError | null;
  /** When the event of it is made; stored before the other endpoints are told. */
  readonly failing_event_at?: Timestamp | null;
  /** Whether they were told. */
  readonly failing_told?: boolean;
  /** When it answered again after a long failure: what had waited until then is being sent. */
  readonly recovering_since: Timestamp | null;
}

type StoredHealth = Omit<EndpointHealth, 'id' | 'epoch' | 'url_revision'>;

export const ENDPOINT_HEALTH: CollectionSpec = { name: 'webhook_endpoint_conditions', indexes: [] };

/** The attempts that failed since the last success. */
interface FailuresSinceSuccess extends FailuresInARow {
  /** Why the first one failed, and the latest; null where an earlier version did not store it. */
  readonly first: DeliveryError | null;
  readonly reason: DeliveryError | null;
  /** When the event of it is made, in epoch milliseconds; null before. */
  readonly eventAt: number | null;
  /** Whether the other endpoints were told. */
  readonly told: boolean;
}

const NO_FAILURES = { since: Infinity, first: null, eventAt: null, told: false };

/** Attempts at once until the first success. */
const FIRST = 4;
/** Attempts at once when as many failed in a row as were allowed at once. */
const PROBES = 2;
/** After failures in a row the next attempt begins after a random time of up to this part of what the last one took. */
const REST_AFTER = 2;
const REST = 0.1;
/** Where the latest answer took so long, attempts begin one after the other, spread over a fraction of that. */
const SLOW_MS = 1_000;
const SPREAD = 4;
/** Failures in a row that end a recovery: what still waits keeps its schedule. */
const RELAPSE_AFTER = 3;

const textOf = (state: StoredHealth): string => JSON.stringify(state);
const time = (at: Timestamp | null | undefined): number | null => (at ? Date.parse(at) : null);
const timestamp = (at: number | null): Timestamp | null => (at === null ? null : new Date(at).toISOString());

/**
 * - `untried`: no success yet; it gets a few attempts at once, to see if it answers.
 * - `closed`: it answers.
 * - `open`: as many failures in a row as attempts at once were allowed; it gets a probe or two until one succeeds.
 */
export type CircuitState = 'untried' | 'closed' | 'open';

/**
 * How fast an endpoint may be attempted, judged by its answers: a few attempts at once to begin with, one more with each
 * success up to all that it allows, and a probe or two while its circuit is open. A hold (429, 503 with `Retry-After`)
 * stops everything until it ends.
 */
export class AdaptiveConcurrency {
  /** Attempts at once at present. */
  allowed: number;
  heldUntil: number;
  /** So that attempts at many endpoints which hang or answer late do not end, and begin again, all at once. */
  restsUntil = -Infinity;
  recoveringSince: number | null;
  /** Whether its latest answer was a success. */
  proven = false;
  circuit: CircuitState;
  /** When it answered again the last time, in epoch milliseconds; -Infinity where it never failed here. */
  closedAt = -Infinity;
  /** Null after a success. */
  failures: FailuresSinceSuccess | null;
  private failuresInARow = 0;
  /** What the latest attempt took, in milliseconds. */
  private took = 0;
  private saved: string;

  constructor(
    private most: number,
    private readonly recoveryAfterMs: number,
    private readonly random: Random,
    stored?: EndpointHealth,
  ) {
    this.heldUntil = time(stored?.held_until) ?? -Infinity;
    this.failures = storedFailures(stored);
    this.recoveringSince = time(stored?.recovering_since);
    this.allowed = this.heldUntil > -Infinity ? 1 : Math.min(this.isUnwell ? PROBES : FIRST, most);
    this.circuit = this.isUnwell ? 'open' : 'untried';
    this.saved = textOf(this.state(Infinity));
  }

  /** Most attempts at once that its owner allows. */
  set limit(most: number) {
    const isAtMost = this.allowed === this.most && this.circuit === 'closed';
    this.allowed = isAtMost ? most : Math.min(this.allowed, most);
    this.most = most;
  }
  get limit(): number {
    return this.most;
  }

  /** Takes note of an attempt. @param at when it begins, in epoch milliseconds */
  began(at: number): void {
    // One at a time begin one after the other as it is.
    if (this.took < SLOW_MS || this.allowed === 1) return;
    const gap = (2 * this.random() * this.took) / (SPREAD * this.allowed);
    this.restsUntil = Math.max(this.restsUntil, at + gap);
  }

  /**
   * Takes note of an answer.
   * @param startedAt when the attempt began, @param endedAt when it ended, in epoch milliseconds
   */
  answered(outcome: AttemptOutcome, startedAt: number, endedAt: number): void {
    this.took = endedAt - startedAt;
    if (outcome.kind === 'success') this.succeeded(endedAt);
    else this.failed(outcome.error, startedAt, endedAt);
    if (outcome.kind !== 'hold') return;
    this.heldUntil = Math.max(this.heldUntil, endedAt + outcome.holdMs);
    this.allowed = 1;
  }

  /** Begin of the first attempt since the last success, in epoch milliseconds; null after a success. */
  get failingSince(): number | null {
    return this.failures?.since ?? null;
  }

  /** What should be stored of it and is not yet. */
  unsaved(now: number): StoredHealth | undefined {
    const state = this.state(now);
    return textOf(state) === this.saved ? undefined : state;
  }

  noteSaved(state: StoredHealth): void {
    this.saved = textOf(state);
  }

  /** By what is stored it failed for long, or has only just begun to answer again. */
  private get isUnwell(): boolean {
    return this.failingSince !== null || this.recoveringSince !== null;
  }

  private succeeded(at: number): void {
    const failedFor = this.failingSince === null ? 0 : at - this.failingSince;
    if (failedFor >= this.recoveryAfterMs) this.recoveringSince = at;
    this.failures = null;
    this.failuresInARow = 0;
    this.proven = true;
    if (this.circuit === 'open') this.closedAt = at;
    this.circuit = 'closed';
    this.allowed = Math.min(this.most, this.allowed + 1);
  }

  private failed(reason: DeliveryError, startedAt: number, endedAt: number): void {
    const { since = startedAt, first, eventAt = null, told = false } = this.failures ?? {};
    this.failures = { since, latest: endedAt, first: first ?? reason, reason, eventAt, told };
    this.failuresInARow += 1;
    this.proven = false;
    if (this.failuresInARow >= this.allowed) {
      this.allowed = Math.min(this.allowed, PROBES);
      this.circuit = 'open';
    }
    if (this.failuresInARow >= REST_AFTER) this.restsUntil = endedAt + this.random() * REST * (endedAt - startedAt);
    if (this.failuresInARow >= RELAPSE_AFTER) this.recoveringSince = null;
  }

  /** A failure counts once it has lasted a while: an endpoint that fails now and then is not written about all the time. */
  private state(now: number): StoredHealth {
    const { since, first, eventAt, told } = this.failures ?? NO_FAILURES;
    const lasts = eventAt !== null || now - since >= this.recoveryAfterMs / 10;
    return {
      held_until: timestamp(this.heldUntil === -Infinity ? null : this.heldUntil),
      failing_since: lasts ? timestamp(since) : null,
      failing_reason: lasts ? first : null,
      failing_event_at: timestamp(eventAt),
      failing_told: told,
      recovering_since: timestamp(this.recoveringSince),
    };
  }
}

function storedFailures(stored: EndpointHealth | undefined): FailuresSinceSuccess | null {
  const since = time(stored?.failing_since);
  if (since === null) return null;
  const { failing_reason: first = null, failing_event_at, failing_told: told = false } = stored ?? {};
  return { since, latest: since, first, reason: first, eventAt: time(failing_event_at), told };
}

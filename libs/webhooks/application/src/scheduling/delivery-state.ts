import {
  type AttemptOutcome,
  type DeliveryError,
  type Random,
  failureReportDueAt,
  isEnabled,
  urlRevision,
} from '@tracking/webhooks-domain';
import {
  type EndpointDocument,
  type EndpointHealth,
  type EndpointHealthDocument,
  hasSameUrl,
} from '../endpoints/endpoint-document.ts';
import type { DeliveryDocument } from '../store/delivery-document.ts';
import { AdaptiveConcurrency, type ConcurrencyState } from './adaptive-concurrency.ts';

/**
 * Phase of the endpoint's current URL. The phase follows from two facts: is the URL's health known, and did the URL answer 410?
 *
 *     opening ─── setHealth ──► serving ─── answer 410 ──► gone
 *        ▲                         ▲                        │
 *        │                         └───── endDisabling ─────┤
 *        └── setEndpoint with another URL, from every phase ┘
 *
 * - `opening`: the URL's stored health is not read yet. Nothing is sent.
 * - `serving`: deliveries are attempted when they are due.
 * - `gone`: the URL answered 410. Nothing is sent until the endpoint is disabled. An attempt that began at the former URL can
 *   also get a 410 while the phase is `opening`. After disabling, the phase is `opening` again until the health is read.
 */
type UrlPhase = 'opening' | 'serving' | 'gone';

/** Phase of a delivery under way: its request is being made, then its outcome is being stored. */
type AttemptPhase = 'attempting' | 'storing';

/** Work beside the attempts, each at most once at a time: disabling after a 410, reporting failures, taking from a replay. */
type Task = 'disabling' | 'reporting' | 'replaying';

/** The present state does not allow this transition: a fault of the caller. */
export class IllegalTransition extends Error {
  override readonly name = 'IllegalTransition';
}

/** A replay that runs for the endpoint. */
export interface RunningReplay {
  readonly id: string;
  /** Returns true if it should take more deliveries now. */
  wantsMore(now: number): boolean;
  /** When it may want more after now, in epoch milliseconds, if nothing else happens. */
  nextMoment(now: number): number | undefined;
  /**
   * Takes the next few deliveries. Returns false if the replay has ended, also if another process ended it.
   * @throws Unavailable, Busy
   */
  takeMore(): Promise<boolean>;
  /** The outcome of an attempt at a delivery was stored; undefined if the delivery no longer exists. */
  recordAttempt(deliveryId: string, after: DeliveryDocument | undefined): void;
  /** Another process may have changed its deliveries in the store. */
  reread(): void;
}

/** A period of failures to be reported to the other endpoints. Times are epoch milliseconds. */
interface FailingReport {
  readonly endpoint: EndpointDocument;
  readonly since: number;
  readonly at: number;
  readonly reason: DeliveryError;
  readonly of: AdaptiveConcurrency;
}

interface UnsavedHealth {
  readonly health: EndpointHealth;
  readonly url_revision: number | undefined;
  readonly of: AdaptiveConcurrency;
}

/**
 * The delivery state of an endpoint in this process: how its present URL answers, which deliveries are under way, and which
 * other tasks run. Each change is a method here, which throws {@link IllegalTransition} if the state does not allow it.
 * Without I/O and clock: times are arguments, in epoch milliseconds.
 */
export class DeliveryState {
  /** How the present URL answers; undefined until its stored health was read. */
  #concurrency: AdaptiveConcurrency | undefined;
  /** The endpoint as it was when it answered 410. */
  #gone: EndpointDocument | undefined;
  #isDropped = false;
  readonly #underWay = new Map<string, AttemptPhase>();
  #attempting = 0;
  /** Deliveries under way that were taken before they were due, because the endpoint recovers. */
  readonly #takenEarly = new Set<string>();
  #wasAttempted = false;
  #blockedUntil = -Infinity;
  readonly #tasks = new Set<Task>();
  #replay: RunningReplay | undefined;
  readonly #replayReads = { begun: 0, shown: 0 };

  constructor(private document: EndpointDocument) {}

  get endpoint(): EndpointDocument {
    return this.document;
  }
  get phase(): UrlPhase {
    if (this.#gone !== undefined) return 'gone';
    return this.#concurrency === undefined ? 'opening' : 'serving';
  }
  /** Undefined until the stored health of the present URL was read. */
  get concurrency(): ConcurrencyState | undefined {
    return this.#concurrency;
  }
  /** True once the shard was lost, the endpoint was deleted, or it was idle. Final. */
  get isDropped(): boolean {
    return this.#isDropped;
  }
  /** Nothing is under way, running or to be disabled. */
  get isIdle(): boolean {
    return this.#underWay.size === 0 && this.#gone === undefined && this.#replay === undefined;
  }

  /**
   * The endpoint was read or written. An older form than the known one changes nothing.
   * @returns true if it receives other deliveries than before
   */
  setEndpoint(endpoint: EndpointDocument): boolean {
    if (endpoint.revision < this.document.revision) return false;
    const before = this.document;
    this.document = endpoint;
    this.#concurrency?.changeLimit(endpoint.max_concurrency);
    if (!hasSameUrl(before, endpoint)) {
      // The answers of a former URL say nothing about the present one.
      this.#concurrency = this.#gone = undefined;
      return true;
    }
    return before.verified !== endpoint.verified || isEnabled(before) !== isEnabled(endpoint);
  }

  /** Outcomes under way are still stored, and a 410 is still followed by disabling. */
  drop(): void {
    this.#isDropped = true;
  }

  /** The stored health was read. Ignores the health of other URLs than the present one. */
  setHealth(
    found: EndpointHealthDocument | undefined,
    { recoveryAfterMs, random }: { readonly recoveryAfterMs: number; readonly random: Random },
  ): void {
    if (this.#concurrency !== undefined) throw new IllegalTransition(`${this.document.id}: its health is known`);
    const stored = found && urlRevision(found) === urlRevision(this.document) ? found : undefined;
    this.#concurrency = new AdaptiveConcurrency(this.document.max_concurrency, recoveryAfterMs, random, stored);
  }

  /** The health to store; undefined if it is stored. */
  unsavedHealth(now: number): UnsavedHealth | undefined {
    const of = this.#concurrency;
    const health = of?.unsavedHealth(now);
    return of && health && { of, health, url_revision: this.document.url_revision };
  }
  markHealthSaved({ of, health }: UnsavedHealth): void {
    of.markSaved(health);
  }

  get attempting(): number {
    return this.#attempting;
  }
  /** The deliveries under way, by their ids. */
  get underWay(): ReadonlyMap<string, AttemptPhase> {
    return this.#underWay;
  }
  get hasEarlyUnderWay(): boolean {
    return this.#takenEarly.size > 0;
  }
  /** A fault of our own keeps attempts from being made until then; -Infinity if none does. */
  get blockedUntil(): number {
    return this.#blockedUntil;
  }
  /** True if an attempt of its deliveries was judged in this process. */
  get wasAttempted(): boolean {
    return this.#wasAttempted;
  }

  /** A delivery is taken for its attempt. @param isEarly taken before it was due, because the endpoint recovers */
  beginAttempt(id: string, isEarly: boolean, now: number): void {
    if (this.#underWay.has(id)) throw new IllegalTransition(`${id} is under way`);
    if (isEarly) this.#takenEarly.add(id);
    this.#underWay.set(id, 'attempting');
    this.#attempting += 1;
    this.#concurrency?.recordStart(now);
  }

  /** Judges the answer to an attempt. Ignores answers of other URLs than the present one. */
  recordOutcome(attempted: EndpointDocument, outcome: AttemptOutcome, startedAt: number, endedAt: number): void {
    if (!hasSameUrl(attempted, this.document)) return;
    this.#concurrency?.recordOutcome(outcome, startedAt, endedAt);
    this.#wasAttempted = true;
    if (outcome.kind === 'gone') this.#gone = attempted;
  }

  /** The endpoint has answered: the next attempt may begin while the outcome is being stored. */
  markAnswered(id: string): void {
    if (this.#underWay.get(id) !== 'attempting') throw new IllegalTransition(`${id} is not being attempted`);
    this.#underWay.set(id, 'storing');
    this.#attempting -= 1;
  }

  /** The delivery is no longer under way, whether an attempt was made or not. */
  endAttempt(id: string): void {
    const phase = this.#underWay.get(id);
    if (phase === undefined) throw new IllegalTransition(`${id} is not under way`);
    if (phase === 'attempting') this.#attempting -= 1;
    this.#underWay.delete(id);
    this.#takenEarly.delete(id);
  }

  block(until: number): void {
    this.#blockedUntil = until;
  }

  /** Every delivery that failed before the recovery was attempted again. */
  endRecovery(): void {
    this.#concurrency?.endRecovery();
  }

  /** Returns the endpoint that answered 410 if it is to be disabled now: once the outcomes of its attempts are stored. */
  beginDisabling(): EndpointDocument | undefined {
    if (this.#gone === undefined || this.#tasks.has('disabling') || this.#underWay.size > 0) return undefined;
    this.#begin('disabling');
    return this.#gone;
  }
  /** @param isDisabled false if that is still to be done */
  endDisabling(gone: EndpointDocument, isDisabled: boolean): void {
    this.#end('disabling');
    // Another URL may have answered 410 since.
    if (isDisabled && this.#gone === gone) this.#gone = undefined;
  }

  /** When its failures are to be reported, in epoch milliseconds; Infinity if not as things are. */
  reportDueAt(afterMs: number): number {
    const failures = this.#concurrency?.failures ?? null;
    if (failures === null || failures.isReported || failures.reason === null) return Infinity;
    return this.#tasks.has('reporting') ? Infinity : failureReportDueAt(failures, this.document.pauses, afterMs);
  }
  beginReporting(): void {
    this.#begin('reporting');
  }
  /** The report of its present failures; undefined if they have ended. */
  createFailingReport(now: number): FailingReport | undefined {
    const of = this.#concurrency;
    const failures = of?.failures;
    if (of === undefined || !failures?.reason) return undefined;
    const { since, reason, reportAt } = failures;
    return { of, endpoint: this.document, since, reason, at: reportAt ?? now };
  }
  recordReport({ of, since, at }: FailingReport, isReported: boolean): void {
    of.recordReport(since, at, isReported);
  }
  isForCurrentUrl({ of }: FailingReport): boolean {
    return of === this.#concurrency;
  }
  endReporting(): void {
    this.#end('reporting');
  }

  get replay(): RunningReplay | undefined {
    return this.#replay;
  }
  wantsReplay(now: number): boolean {
    return !this.#tasks.has('replaying') && this.#replay?.wantsMore(now) === true;
  }
  /** Returns the replay, which takes its next deliveries. */
  beginReplaying(): RunningReplay {
    if (this.#replay === undefined) throw new IllegalTransition(`${this.document.id}: no replay runs`);
    this.#begin('replaying');
    return this.#replay;
  }
  endReplaying(): void {
    this.#end('replaying');
  }

  /** The running replay is about to be read from the store. Returns the number of the read. */
  beginReplayRead(): number {
    return (this.#replayReads.begun += 1);
  }
  /** Takes what a read found, unless a read that began later was answered before. */
  endReplayRead(read: number, found: RunningReplay | undefined): void {
    if (read > this.#replayReads.begun) throw new IllegalTransition(`${this.document.id}: read ${read} never began`);
    if (read < this.#replayReads.shown) return;
    this.#replayReads.shown = read;
    if (found !== undefined && found.id === this.#replay?.id) this.#replay.reread();
    else this.#replay = found;
  }

  #begin(task: Task): void {
    if (this.#tasks.has(task)) throw new IllegalTransition(`${this.document.id}: ${task} twice at once`);
    this.#tasks.add(task);
  }

  #end(task: Task): void {
    if (!this.#tasks.delete(task)) throw new IllegalTransition(`${this.document.id}: ${task} never began`);
  }
}

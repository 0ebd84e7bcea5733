import {
  type AttemptOutcome,
  type DeliveryFailureReason,
  type Random,
  computeFailureReportTime,
  isEndpointEnabled,
  getEndpointUrlRevision,
} from '@tracking/webhooks-domain';
import { isEndpointUrlUnchangedBetween } from '../endpoints/endpoint-document.ts';
import type { EndpointDocument, EndpointHealth, EndpointHealthDocument } from '../endpoints/endpoint-document.ts';
import type { DeliveryDocument } from '../store/delivery-document.ts';
import { AdaptiveConcurrency, type EndpointConcurrencyState } from './adaptive-concurrency.ts';
import type { ProcessClock } from './steady-time.ts';

/**
 * Phase of the endpoint's current URL. The phase follows from two facts: whether the URL's health is known, and whether
 * the URL answered 410.
 * ¶ opening ─── restoreEndpointHealth ──► serving ─── answer 410 ──► gone
 * ▲ ▲ │
 * │ └───── endDisablingOfGoneEndpoint ─────┤
 * └── setEndpointUnlessOutdated with another URL, from every phase ┘
 * ¶ - `opening`: the URL's stored health is not read yet. Nothing is sent.
 * - `serving`: deliveries are attempted when they are due.
 * - `gone`: the URL answered 410. Nothing is sent until the endpoint is disabled. An attempt that began at the former
 * URL can also get a 410 while the phase is `opening`. After disabling, the phase is `opening` again until the health
 * is read.
 */
type UrlPhase = 'opening' | 'serving' | 'gone';

/** Phase of a delivery in progress. First its request is being sent, then its outcome is being stored. */
type AttemptPhase = 'attempting' | 'storing';

/**
 * Background tasks of an endpoint, each at most once at a time: disabling after a 410, reporting failures, taking
 * deliveries from a replay.
 */
type Task = 'disabling' | 'reporting' | 'replaying';

/** Thrown if the current state does not allow a transition: a bug in the caller. */
export class IllegalTransitionError extends Error {
  override readonly name = 'IllegalTransition';
}

/** A running replay of the endpoint. */
export interface RunningReplay {
  readonly id: string;
  /** Returns true if the replay should take more deliveries now. */
  isReplayReadyForMoreDeliveries(now: number): boolean;
  /** Returns the time at which the counted outcomes of the replay are stored, if no attempt ends before. */
  getNextOutcomeStoreTime(now: number): number | undefined;
  /**
   * Takes the next few deliveries. Returns false if this or another process has ended the replay.
   * @throws UnavailableError, BusyError
   */
  takeDeliveriesToReplay(): Promise<boolean>;
  /** Records that the outcome of an attempt was stored. `after` is undefined if the delivery no longer exists. */
  countReplayedDelivery(deliveryId: string, after: DeliveryDocument | undefined): void;
  /** Marks the replay to be read again, because another process may have changed the stored replay. */
  requestReplayReread(): void;
}

/** Report of a failure period to the other endpoints of the workspace. Times are from this process's clock. */
interface FailurePeriodReport {
  readonly endpoint: EndpointDocument;
  readonly since: number;
  readonly at: number;
  readonly reason: DeliveryFailureReason;
  readonly of: AdaptiveConcurrency;
}

interface UnsavedEndpointHealth {
  readonly health: EndpointHealth;
  readonly url_revision: number | undefined;
  readonly of: AdaptiveConcurrency;
}

/**
 * Delivery state of an endpoint in this process: the health of its current URL, the deliveries in progress, and the
 * running tasks. Each transition is a method, which throws {@link IllegalTransitionError} if the state does not allow
 * it. Does no I/O and reads no clock: times are arguments, in time of this process.
 */
export class EndpointDeliveryState {
  /** Limits of concurrent attempts at the current URL; undefined until the stored health of the URL is read. */
  #concurrency: AdaptiveConcurrency | undefined;
  /** The endpoint as it was when it answered 410; undefined otherwise. */
  #gone: EndpointDocument | undefined;
  #isDropped = false;
  readonly #underWay = new Map<string, AttemptPhase>();
  #attempting = 0;
  /** Ids of deliveries in progress that were taken early because the endpoint is recovering. */
  readonly #takenEarly = new Set<string>();
  #wasAttempted = false;
  #blockedUntil = -Infinity;
  readonly #tasks = new Set<Task>();
  #replay: RunningReplay | undefined;
  readonly #replayReads = { begun: 0, shown: 0 };

  constructor(
    private document: EndpointDocument,
    private readonly time: ProcessClock,
  ) {}

  get endpoint(): EndpointDocument {
    return this.document;
  }
  get phase(): UrlPhase {
    if (this.#gone !== undefined) return 'gone';
    return this.#concurrency === undefined ? 'opening' : 'serving';
  }
  /** Limits of concurrent attempts at the current URL; undefined until the stored health of the URL is read. */
  get concurrency(): EndpointConcurrencyState | undefined {
    return this.#concurrency;
  }
  /** True once the endpoint is dropped: its shard was lost, it was deleted, or it was idle. Final. */
  get isDropped(): boolean {
    return this.#isDropped;
  }
  /** True if no delivery is in progress, no replay runs, and the endpoint need not be disabled. */
  get isIdle(): boolean {
    return this.#underWay.size === 0 && this.#gone === undefined && this.#replay === undefined;
  }

  /**
   * Sets the endpoint as just read or written. An older revision than the known one changes nothing.
   * @returns true if the set of deliveries that it receives may have changed
   */
  setEndpointUnlessOutdated(endpoint: EndpointDocument): boolean {
    if (endpoint.revision < this.document.revision) return false;
    const before = this.document;
    this.document = endpoint;
    this.#concurrency?.changeConcurrencyLimit(endpoint.max_concurrency);
    if (!isEndpointUrlUnchangedBetween(before, endpoint)) {
      // Forget the 410 of a former URL, because it does not apply to the current URL.
      this.#concurrency = this.#gone = undefined;
      return true;
    }
    return before.verified !== endpoint.verified || isEndpointEnabled(before) !== isEndpointEnabled(endpoint);
  }

  /** Drops the endpoint. Outcomes in progress are still stored, and a 410 still disables the endpoint. */
  markEndpointDropped(): void {
    this.#isDropped = true;
  }

  /** Sets the health as read from the store. Ignores the health of a former URL. */
  restoreEndpointHealth(
    found: EndpointHealthDocument | undefined,
    { recoveryAfterMs, random }: { readonly recoveryAfterMs: number; readonly random: Random },
  ): void {
    if (this.#concurrency !== undefined)
      throw new IllegalTransitionError(`The health of endpoint ${this.document.id} is already known.`);
    const stored = found && getEndpointUrlRevision(found) === getEndpointUrlRevision(this.document) ? found : undefined;
    this.#concurrency = new AdaptiveConcurrency(
      this.document.max_concurrency,
      recoveryAfterMs,
      { random, time: this.time },
      stored,
    );
  }

  /** Returns the health to store; undefined if the stored health is current. */
  getUnsavedHealth(now: number): UnsavedEndpointHealth | undefined {
    const of = this.#concurrency;
    const health = of?.getUnsavedHealth(now);
    return of && health && { of, health, url_revision: this.document.url_revision };
  }
  markHealthSaved({ of, health }: UnsavedEndpointHealth): void {
    of.markHealthSaved(health);
  }

  get attempting(): number {
    return this.#attempting;
  }
  /** Phases of the deliveries in progress, by delivery id. */
  get underWay(): ReadonlyMap<string, AttemptPhase> {
    return this.#underWay;
  }
  get hasEarlyUnderWay(): boolean {
    return this.#takenEarly.size > 0;
  }
  /** Time until which a fault of this process blocks attempts; -Infinity without a fault. */
  get blockedUntil(): number {
    return this.#blockedUntil;
  }
  /** True if this process has recorded the outcome of an attempt at the endpoint. */
  get wasAttempted(): boolean {
    return this.#wasAttempted;
  }

  /**
   * Records that a delivery was taken for its attempt. @param isEarly true if the delivery was taken before it was due,
   * because the endpoint is recovering
   */
  recordAttemptBegin(id: string, isEarly: boolean, now: number): void {
    if (this.#underWay.has(id)) throw new IllegalTransitionError(`Delivery ${id} is already in progress.`);
    if (isEarly) this.#takenEarly.add(id);
    this.#underWay.set(id, 'attempting');
    this.#attempting += 1;
    this.#concurrency?.delayNextAttemptStart(now);
  }

  /** Records the outcome of an attempt. Ignores attempts at a former URL. */
  recordAttemptOutcome(attempted: EndpointDocument, outcome: AttemptOutcome, startedAt: number, endedAt: number): void {
    if (!isEndpointUrlUnchangedBetween(attempted, this.document)) return;
    this.#concurrency?.adaptConcurrencyToAttemptOutcome(outcome, startedAt, endedAt);
    this.#wasAttempted = true;
    if (outcome.kind === 'gone') this.#gone = attempted;
  }

  /** Records that the endpoint has answered. The next attempt may then begin while the outcome is being stored. */
  markDeliveryAnswered(id: string): void {
    if (this.#underWay.get(id) !== 'attempting')
      throw new IllegalTransitionError(`Delivery ${id} is not being attempted.`);
    this.#underWay.set(id, 'storing');
    this.#attempting -= 1;
  }

  /** Records that the delivery is no longer in progress, with or without an attempt. */
  markDeliveryNoLongerInProgress(id: string): void {
    const phase = this.#underWay.get(id);
    if (phase === undefined) throw new IllegalTransitionError(`Delivery ${id} is not in progress.`);
    if (phase === 'attempting') this.#attempting -= 1;
    this.#underWay.delete(id);
    this.#takenEarly.delete(id);
  }

  blockDeliveryAttemptsUntil(until: number): void {
    this.#blockedUntil = until;
  }

  /** Ends the recovery: every delivery that failed before it has been attempted again. */
  endEndpointRecovery(): void {
    this.#concurrency?.endEndpointRecovery();
  }

  /**
   * Starts disabling an endpoint that answered 410 and returns that endpoint. Returns undefined if no endpoint answered
   * 410, or if some outcomes are not stored yet.
   */
  beginDisablingGoneEndpoint(): EndpointDocument | undefined {
    if (this.#gone === undefined || this.#tasks.has('disabling') || this.#underWay.size > 0) return undefined;
    this.#beginTask('disabling');
    return this.#gone;
  }
  /** @param isDisabled true if the endpoint is disabled; false to try again later */
  endDisablingOfGoneEndpoint(gone: EndpointDocument, isDisabled: boolean): void {
    this.#removeRunningTask('disabling');
    // Keep a 410 that another URL has answered in the meantime.
    if (isDisabled && this.#gone === gone) this.#gone = undefined;
  }

  /** Returns the time at which the endpoint's failures are reported; Infinity if there is nothing to report. */
  getTimeToReportFailingEndpoint(afterMs: number): number {
    const failures = this.#concurrency?.failures ?? null;
    if (failures === null || failures.isReported || failures.reason === null) return Infinity;
    if (this.#tasks.has('reporting')) return Infinity;
    const { time } = this;
    const stored = {
      since: time.convertSteadyTimeToWallClockTime(failures.since),
      latest: time.convertSteadyTimeToWallClockTime(failures.latest),
    };
    return time.toSteadyTime(computeFailureReportTime(stored, this.document.pauses, afterMs));
  }
  beginReportingFailures(): void {
    this.#beginTask('reporting');
  }
  /** Returns the report of the endpoint's current failures; undefined if they have ended. */
  createFailurePeriodReport(now: number): FailurePeriodReport | undefined {
    const of = this.#concurrency;
    const failures = of?.failures;
    if (of === undefined || !failures?.reason) return undefined;
    const { since, reason, reportAt } = failures;
    return { of, endpoint: this.document, since, reason, at: reportAt ?? now };
  }
  recordFailureReport({ of, since, at }: FailurePeriodReport, isReported: boolean): void {
    of.recordFailureReport(since, at, isReported);
  }
  isFailureReportForCurrentUrl({ of }: FailurePeriodReport): boolean {
    return of === this.#concurrency;
  }
  endFailureReportTask(): void {
    this.#removeRunningTask('reporting');
  }

  get replay(): RunningReplay | undefined {
    return this.#replay;
  }
  hasReplayToContinue(now: number): boolean {
    return !this.#tasks.has('replaying') && this.#replay?.isReplayReadyForMoreDeliveries(now) === true;
  }
  /** Marks the running replay as taking its next deliveries, and returns the replay. */
  beginReplayTurn(): RunningReplay {
    if (this.#replay === undefined)
      throw new IllegalTransitionError(`Endpoint ${this.document.id} has no running replay.`);
    this.#beginTask('replaying');
    return this.#replay;
  }
  endReplayTurn(): void {
    this.#removeRunningTask('replaying');
  }

  /** Records that the running replay is about to be read from the store. Returns the number of the read. */
  assignReplayReadNumber(): number {
    return (this.#replayReads.begun += 1);
  }
  /** Sets the replay that a read returned. Ignores the result if a later read has already completed. */
  setRunningReplayUnlessReadIsOutdated(read: number, found: RunningReplay | undefined): void {
    if (read > this.#replayReads.begun)
      throw new IllegalTransitionError(`${this.document.id}: read ${read} never began`);
    if (read < this.#replayReads.shown) return;
    this.#replayReads.shown = read;
    if (found !== undefined && found.id === this.#replay?.id) this.#replay.requestReplayReread();
    else this.#replay = found;
  }

  #beginTask(task: Task): void {
    if (this.#tasks.has(task))
      throw new IllegalTransitionError(`Endpoint ${this.document.id}: the task "${task}" is already running.`);
    this.#tasks.add(task);
  }

  #removeRunningTask(task: Task): void {
    if (!this.#tasks.delete(task))
      throw new IllegalTransitionError(`Endpoint ${this.document.id}: the task "${task}" is not running.`);
  }
}

import type { Timestamp } from '@tracking/contracts';
import type { Lease } from '@tracking/ports';
import {
  MAX_RETRY_AFTER_MS,
  type RetryPolicy,
  isEndpointEnabled,
  computeMaxBackoffMs,
  getEndpointUrlRevision,
} from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import { type DeliveryDocument, isWaitingForAttempt, isReplayedWithoutAttempt } from '../store/delivery-document.ts';
import { createQueuePosition } from '../store/delivery-queues.ts';
import { EndpointDeliveryState } from './delivery-state.ts';
import type { SchedulableEndpoint } from './fair-scheduler.ts';
import { PendingDeliveryWindow, toPendingDelivery } from './pending-window.ts';
import type { DeliveriesForRefill, PendingDeliveryReadInProgress, PendingDelivery } from './pending-window.ts';
import type { ProcessClock } from './steady-time.ts';
import type { EndpointLimitedToSpareCapacity } from './timing.ts';

/** Deliveries held in memory for each concurrent attempt. */
const MAX_DELIVERIES_IN_MEMORY_PER_ATTEMPT = 64;
/**
 * Deliveries held in memory for each concurrent attempt while it is unknown whether the endpoint answers. More
 * deliveries would only wait.
 */
const MAX_DELIVERIES_PER_PROBE = 8;
/** Delay before an attempt whose payload is missing is retried. */
const UNREADABLE_DELIVERY_RETRY_MS = 500;
/** Time for which an endpoint waits after a local fault prevented an attempt. */
const PAUSE_AFTER_LOCAL_FAULT_MS = 5_000;
/** Idle time after which an endpoint is dropped from memory. */
const MAX_IDLE_TIME_IN_MEMORY_MS = 300_000;
/** Longest time before an untried replayed delivery is due, in milliseconds. */
const MAX_REPLAYED_DELIVERY_DELAY_MS = 2_000;
const TIME_OF_NEVER_ATTEMPTED = '1970-01-01T00:00:00.000Z';

/**
 * An endpoint of a shard that this process owns: its {@link EndpointDeliveryState}, its pending deliveries, and their
 * order. Does no I/O. Times are those of this process, except those of deliveries, which are stored times.
 */
export class OwnedEndpoint implements SchedulableEndpoint, EndpointLimitedToSpareCapacity {
  readonly state: EndpointDeliveryState;
  private readonly window: PendingDeliveryWindow;
  private idleSince: number | undefined;
  /** Number of wall clock steps at the last time when the pending deliveries were marked to be read again. */
  private knownSteps: number;

  /**
   * @param lease lease under which this process owns the endpoint
   * @param empty true if no stored delivery is pending for the endpoint
   */
  constructor(
    endpoint: EndpointDocument,
    readonly lease: Lease,
    empty: boolean,
    private readonly timing: { readonly time: ProcessClock; readonly policy: RetryPolicy },
  ) {
    this.knownSteps = timing.time.steps;
    this.state = new EndpointDeliveryState(endpoint, timing.time);
    this.window = new PendingDeliveryWindow(empty, this.isDeliverable, this.dueTime);
  }

  get id(): string {
    return this.endpoint.id;
  }
  get workspace(): string {
    return this.endpoint.workspace_id;
  }
  get endpoint(): EndpointDocument {
    return this.state.endpoint;
  }
  get attempting(): number {
    return this.state.attempting;
  }

  /** True if this process currently owns the endpoint, by its lease. Otherwise nothing may be sent to the endpoint. */
  get isOwned(): boolean {
    return !this.state.isDropped && this.lease.isLeaseHeld();
  }
  /** True if the endpoint's latest answer was a success. */
  get isProven(): boolean {
    return this.state.concurrency?.isProven === true;
  }
  /** True if the endpoint's circuit is open: recent attempts all failed. */
  get isFailing(): boolean {
    return this.state.concurrency?.circuit === 'open';
  }
  /** True if the next delivery is sent soon: the circuit is not open, and the window has all pending deliveries. */
  get isKeepingUp(): boolean {
    return this.window.isComplete && !this.isFailing;
  }
  /** True if the endpoint answers again after a long failure. Older failed deliveries are then sent early. */
  get isRecovering(): boolean {
    return typeof this.state.concurrency?.recoveringSince === 'number';
  }
  /** True if the endpoint's recovery is complete: every delivery that failed before it has been attempted again. */
  get hasRecovered(): boolean {
    if (!this.isRecovering || !this.window.isComplete) return false;
    // Wait for deliveries in preparation, which would be skipped if the recovery ended now.
    return !this.state.hasEarlyUnderWay && !this.window.scheduled.hasMatchingDelivery(this.failedBeforeRecovery);
  }
  /**
   * True if the endpoint's next attempt is made in spare time only. This is the case if no express delivery is pending,
   * and the endpoint keeps failing or still has a backlog from failures.
   */
  get isPaced(): boolean {
    const { concurrency } = this.state;
    if (concurrency === undefined || this.window.express.hasMatchingDelivery(this.isDeliverable)) return false;
    const next = this.window.scheduled.first?.delivery;
    return this.isFailing || (next !== undefined && this.toSteadyTime(next.created_at) < concurrency.closedAt);
  }

  /** Returns the time at which the endpoint's failures are reported; Infinity if there is nothing to report. */
  getTimeToReportFailingEndpoint(afterMs: number): number {
    if (!this.isOwned) return Infinity;
    const due = this.state.getTimeToReportFailingEndpoint(afterMs);
    if (due === Infinity || this.state.wasAttempted) return due;
    // Ignore failures that an earlier owner recorded if no failed delivery is left, because they may be over.
    return this.window.scheduled.hasMatchingDelivery(({ delivery }) => delivery.attempts_count > 0) ? due : Infinity;
  }

  /** Returns true if the endpoint has been idle for too long. @param now on the process's monotonic clock */
  isEndpointIdleTooLong(now: number): boolean {
    const { scheduled, express, isComplete } = this.window;
    const isIdle = this.state.isIdle && scheduled.size === 0 && express.size === 0 && isComplete;
    this.idleSince = isIdle ? (this.idleSince ?? now) : undefined;
    return this.idleSince !== undefined && now - this.idleSince > MAX_IDLE_TIME_IN_MEMORY_MS;
  }

  /** Sets the endpoint as just read or written. An older revision than the known one changes nothing. */
  setEndpointUnlessOutdated(endpoint: EndpointDocument): void {
    // Hold no deliveries that the endpoint does not receive: they stay on disk.
    if (this.state.setEndpointUnlessOutdated(endpoint)) this.window.removeAllPendingDeliveries();
  }

  /** Number of scheduled deliveries to hold in memory; 0 while the endpoint is not enabled. */
  get room(): number {
    if (!isEndpointEnabled(this.endpoint)) return 0;
    const { concurrency } = this.state;
    const atOnce = concurrency?.allowed ?? this.endpoint.max_concurrency;
    return (
      atOnce * (concurrency?.circuit === 'closed' ? MAX_DELIVERIES_IN_MEMORY_PER_ATTEMPT : MAX_DELIVERIES_PER_PROBE)
    );
  }
  /** Number of scheduled deliveries in memory. */
  get waiting(): number {
    return this.window.scheduled.size;
  }
  get firstDueAt(): number | undefined {
    const first = this.window.scheduled.first;
    return first && this.timing.time.toSteadyTime(first.due);
  }

  /** Adds a delivery that was just stored. Ignored while the delivery is in progress. */
  queueStoredDelivery(delivery: DeliveryDocument, knownAt: number, room: number): void {
    if (!this.state.underWay.has(delivery.id))
      this.window.addDeliveryToWindow(toPendingDelivery(delivery, knownAt), room);
  }
  /** Records a change of a stored delivery. @param readAt time before the change, on the process's monotonic clock */
  replaceDelivery(delivery: DeliveryDocument, readAt: number): void {
    if (this.state.underWay.has(delivery.id)) this.window.skipDeliveryBeingAttempted(delivery);
    else this.window.replaceDelivery(toPendingDelivery(delivery, readAt), this.room);
  }
  /** Marks the pending deliveries to be read again, because another process may have changed them. */
  markPendingDeliveriesForReread(): void {
    this.window.removeAllPendingDeliveries();
  }
  /**
   * Marks the pending deliveries to be read again if the wall clock was set. Due times in memory depend on the time
   * before the step.
   */
  rereadDeliveriesAfterClockStep(): void {
    const { steps } = this.timing.time;
    if (steps === this.knownSteps) return;
    this.knownSteps = steps;
    this.window.removeAllPendingDeliveries();
  }
  needsStoredDeliveries(room: number): boolean {
    return this.window.needsStoredDeliveries(room);
  }
  beginDeliveriesRefill(room: number): PendingDeliveryReadInProgress {
    return this.window.beginDeliveriesRefill(room, this.state.underWay.size);
  }
  addRefilledDeliveries(refill: PendingDeliveryReadInProgress, content: DeliveriesForRefill, knownAt: number): void {
    this.window.addRefilledPendingDeliveries(refill, content, this.state.underWay, knownAt);
  }
  abandonRefill(refill: PendingDeliveryReadInProgress): void {
    this.window.abandonRefill(refill);
  }

  /** Time at which the next attempt may begin, if nothing else changes. */
  get nextMoment(): number | undefined {
    const { concurrency, phase, attempting, blockedUntil } = this.state;
    // Return no time after the lease is lost, because a lost lease is never regained.
    if (concurrency === undefined || phase !== 'serving' || !this.isOwned) return undefined;
    if (attempting >= concurrency.limit) return undefined;
    if (this.window.express.hasMatchingDelivery(this.isDeliverable)) return blockedUntil;
    const first = this.window.scheduled.first;
    if (first === undefined || attempting >= concurrency.allowed || !isEndpointEnabled(this.endpoint)) return undefined;
    const due = this.canSendAnyDeliveryEarly(first) ? -Infinity : this.timing.time.toSteadyTime(first.due);
    return Math.max(due, concurrency.heldUntil, concurrency.restsUntil, blockedUntil);
  }
  canTakeDelivery(now: number): boolean {
    return (this.nextMoment ?? Infinity) <= now;
  }

  /** Returns the delivery to attempt now. The delivery is in progress from then on. */
  takeDelivery(now: number): PendingDelivery | undefined {
    if (!this.canTakeDelivery(now)) return undefined;
    const { express, scheduled } = this.window;
    const isDue = (this.firstDueAt ?? now) <= now;
    const item =
      express.takeFirstMatchingDelivery(this.isDeliverable) ??
      (isDue ? scheduled.takeFirstDelivery() : scheduled.takeFirstMatchingDelivery(this.canGoEarly));
    if (item === undefined) return undefined;
    const isEarly = this.timing.time.toSteadyTime(item.due) > now && this.failedBeforeRecovery(item);
    this.state.recordAttemptBegin(item.id, isEarly, now);
    return item;
  }

  /**
   * Ends the work on a delivery: the outcome of its attempt was stored, or no attempt was made because none was needed.
   * @param after the delivery as now stored; undefined if it no longer exists
   * @returns false if the delivery is pending although its endpoint is deleted, so that it has to be discarded
   */
  endWorkOnDelivery(id: string, after: DeliveryDocument | undefined, knownAt: number, room: number): boolean {
    this.state.markDeliveryNoLongerInProgress(id);
    this.window.markDeliveryChangedDuringRefill(id);
    this.state.replay?.countReplayedDelivery(id, after);
    if (!this.window.isNewestDeliveryRevision(id, after?.revision)) this.window.removeAllPendingDeliveries();
    else if (after !== undefined && isWaitingForAttempt(after)) {
      if (this.endpoint.deleted) return false;
      if (!this.state.isDropped) this.window.addDeliveryToWindow(toPendingDelivery(after, knownAt), room);
    }
    return true;
  }

  /**
   * Makes a delivery pending again because no attempt was possible. If it cannot be read yet, only this delivery waits
   * briefly; otherwise all attempts at the endpoint wait.
   * @returns false if a newer revision of the delivery is stored, which is read instead
   */
  makeDeliveryPendingAgain(item: PendingDelivery, isNotReadableYet: boolean, now: number): boolean {
    this.state.markDeliveryNoLongerInProgress(item.id);
    if (!this.window.isNewestDeliveryRevision(item.id, item.delivery.revision)) {
      this.window.removeAllPendingDeliveries();
      return false;
    }
    if (!isNotReadableYet) this.state.blockDeliveryAttemptsUntil(now + PAUSE_AFTER_LOCAL_FAULT_MS);
    const retryAt = this.timing.time.convertSteadyTimeToWallClockTime(now + UNREADABLE_DELIVERY_RETRY_MS);
    this.window.putDeliveryBack(isNotReadableYet ? { ...item, due: retryAt, isDelayed: true } : item);
    return true;
  }

  /**
   * Returns true if the endpoint may receive the delivery. Sandbox events are sent to every endpoint with a verified
   * URL, all other deliveries to enabled endpoints only.
   */
  readonly isDeliverable = ({ delivery }: PendingDelivery): boolean =>
    delivery.sandbox ? this.endpoint.verified : isEndpointEnabled(this.endpoint);

  /**
   * Returns true if the delivery is to be attempted now. A retry that a user requested is always due. Its time is
   * ignored, because it comes from another clock, which may be ahead.
   * @param pending the delivery as held in memory. Its due time may be earlier than the stored one
   */
  isDeliveryDue(delivery: DeliveryDocument, now: number, pending?: PendingDelivery): boolean {
    if (!isWaitingForAttempt(delivery)) return false;
    if (delivery.sandbox || delivery.manual_at !== null) return true;
    const isUnchanged = pending?.delivery.revision === delivery.revision;
    const due = Math.min(this.dueTime(delivery), isUnchanged ? pending.due : Infinity);
    return this.canGoEarly({ delivery }) || this.timing.time.toSteadyTime(due) <= now;
  }

  /**
   * Returns the time at which a delivery is due, as a stored time: the one stored with the delivery, or the end of its
   * latest attempt if that was made at a former URL. Untried replayed deliveries keep the stored time, so that live
   * events go first. A time too far ahead comes from a clock that was ahead, and is replaced by an earlier time.
   */
  private readonly dueTime = (delivery: DeliveryDocument): number => {
    const now = this.timing.time.convertSteadyTimeToWallClockTime(this.timing.time.now());
    const due = Math.min(createQueuePosition(delivery).due, now + this.getMaxDeliveryWaitMs(delivery, now));
    const isUntried = delivery.attempts_count === 0 || isReplayedWithoutAttempt(delivery);
    if (isUntried || getEndpointUrlRevision(delivery) === getEndpointUrlRevision(this.endpoint)) return due;
    return Math.min(due, Date.parse(delivery.last_attempt_at ?? delivery.created_at));
  };

  /** Returns the longest time, in milliseconds, that a delivery may wait for its next attempt. */
  private getMaxDeliveryWaitMs(delivery: DeliveryDocument, now: number): number {
    const { failures, first_attempt_at, last_attempt_at, next_attempt_at } = delivery;
    if (first_attempt_at === null) return isReplayedWithoutAttempt(delivery) ? MAX_REPLAYED_DELIVERY_DELAY_MS : 0;
    const longest = Math.max(computeMaxBackoffMs(this.timing.policy, Math.max(1, failures)), MAX_RETRY_AFTER_MS);
    // Measure from now if the latest attempt ended in the future, because its clock was ahead.
    const endedAt = Date.parse(last_attempt_at ?? TIME_OF_NEVER_ATTEMPTED);
    if (endedAt <= now || next_attempt_at === null) return longest;
    return Math.min(longest, Math.max(0, Date.parse(next_attempt_at) - endedAt));
  }

  private toSteadyTime(at: Timestamp): number {
    return this.timing.time.toSteadyTime(Date.parse(at));
  }

  /** Returns true if one of the first scheduled deliveries may be sent early. */
  private canSendAnyDeliveryEarly(first: PendingDelivery): boolean {
    if (this.canGoEarly(first)) return true;
    if (this.state.replay === undefined && !this.isRecovering) return false;
    return this.window.scheduled.hasMatchingDelivery(this.canGoEarly);
  }

  /** Returns true if a delivery may be attempted before it is due: a replay sends it, or the endpoint is recovering. */
  private readonly canGoEarly = (item: Pick<PendingDelivery, 'delivery' | 'isDelayed'>): boolean =>
    item.isDelayed !== true && (isReplayedWithoutAttempt(item.delivery) || this.failedBeforeRecovery(item));

  /**
   * Returns true if the delivery has not been attempted since the recovery began. A delivery that failed again during
   * the recovery keeps its schedule.
   */
  private readonly failedBeforeRecovery = ({ delivery }: Pick<PendingDelivery, 'delivery'>): boolean => {
    const since = this.state.concurrency?.recoveringSince ?? -Infinity;
    return this.toSteadyTime(delivery.last_attempt_at ?? TIME_OF_NEVER_ATTEMPTED) < since;
  };
}

import type { Lease } from '@tracking/ports';
import { isEnabled, urlRevision } from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import { type DeliveryDocument, awaitsAttempt, isUntriedReplay } from '../store/delivery-document.ts';
import { queuePosition } from '../store/delivery-queues.ts';
import { DeliveryState } from './delivery-state.ts';
import type { Schedulable } from './fair-scheduler.ts';
import { type PendingDelivery, PendingWindow, type Refill, type RefillContent, toPending } from './pending-window.ts';
import type { PacedEndpoint } from './timing.ts';

/** Deliveries held in memory for each attempt that may be under way at once. */
const WINDOW_PER_ATTEMPT = 64;
/** The same while it is not known whether the endpoint answers at all: more would only wait here. */
const WINDOW_PER_PROBE = 8;
/** How soon an attempt is tried again whose payload is missing. */
const MISSING_PAYLOAD_RETRY_MS = 500;
/** How long an endpoint waits after a fault of our own kept an attempt from being made. */
const FAULT_PAUSE_MS = 5_000;
/** After this long without anything to do an endpoint is dropped from memory. */
const MAX_IDLE_MS = 300_000;
const NEVER = '1970-01-01T00:00:00.000Z';

/**
 * An endpoint of a shard that this process owns: its {@link DeliveryState}, the deliveries that wait for it, and which of
 * them goes when. Without I/O and clock: times are arguments, in epoch milliseconds.
 */
export class OwnedEndpoint implements Schedulable, PacedEndpoint {
  readonly state: DeliveryState;
  private readonly window: PendingWindow;
  private idleSince: number | undefined;

  /**
   * @param lease under which it is owned
   * @param empty whether no stored delivery waits for this endpoint
   */
  constructor(
    endpoint: EndpointDocument,
    readonly lease: Lease,
    empty: boolean,
  ) {
    this.state = new DeliveryState(endpoint);
    this.window = new PendingWindow(empty, this.isDeliverable, this.dueTime);
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

  /** True if this process owns it at this moment, by its lease: nothing may be sent to it otherwise. */
  get isOwned(): boolean {
    return !this.state.isDropped && this.lease.isHeld();
  }
  /** True if its latest answer was a success. */
  get isProven(): boolean {
    return this.state.concurrency?.isProven === true;
  }
  /** True if only failures came back lately. */
  get isFailing(): boolean {
    return this.state.concurrency?.circuit === 'open';
  }
  /** True if its next delivery is attempted soon: the circuit is not open, and all that waits is in the window. */
  get keepsUp(): boolean {
    return this.window.isComplete && !this.isFailing;
  }
  /** True if it answers again after a long failure: deliveries that failed before then are sent before they are due. */
  get isRecovering(): boolean {
    return typeof this.state.concurrency?.recoveringSince === 'number';
  }
  /** True if its recovery is complete: every delivery that failed before has been attempted again. */
  get hasRecovered(): boolean {
    if (!this.isRecovering || !this.window.isComplete) return false;
    // A delivery under way may still be in preparation, which refuses it if the recovery has ended and it is not due.
    return !this.state.hasEarlyUnderWay && !this.window.scheduled.some(this.failedBeforeRecovery);
  }
  /**
   * True if its next attempt is made in spare time only: it keeps failing, or the next delivery piled up while it did, and no
   * express delivery waits.
   */
  get isPaced(): boolean {
    const { concurrency } = this.state;
    if (concurrency === undefined || this.window.express.some(this.isDeliverable)) return false;
    const next = this.window.scheduled.first?.delivery;
    return this.isFailing || (next !== undefined && Date.parse(next.created_at) < concurrency.closedAt);
  }

  /** When its failures are to be reported, in epoch milliseconds; Infinity if not as things are. */
  reportDueAt(afterMs: number): number {
    if (!this.isOwned) return Infinity;
    const due = this.state.reportDueAt(afterMs);
    if (due === Infinity || this.state.wasAttempted) return due;
    // Failures under an earlier owner may be long past unless a delivery is left of them: the next attempt may succeed.
    return this.window.scheduled.some(({ delivery }) => delivery.attempts_count > 0) ? due : Infinity;
  }

  /** Returns true if it has had nothing to do for five minutes. @param now on the process's monotonic clock */
  hasBeenIdle(now: number): boolean {
    const { scheduled, express, isComplete } = this.window;
    const isIdle = this.state.isIdle && scheduled.size === 0 && express.size === 0 && isComplete;
    this.idleSince = isIdle ? (this.idleSince ?? now) : undefined;
    return this.idleSince !== undefined && now - this.idleSince > MAX_IDLE_MS;
  }

  /** The endpoint was read or written. An older form than the known one changes nothing. */
  setEndpoint(endpoint: EndpointDocument): void {
    // Deliveries that it does not receive wait on disk, for as long as it takes.
    if (this.state.setEndpoint(endpoint)) this.window.reset();
  }

  /** Scheduled deliveries to hold in memory; none while the endpoint is not attempted. */
  get room(): number {
    if (!isEnabled(this.endpoint)) return 0;
    const { concurrency } = this.state;
    const atOnce = concurrency?.allowed ?? this.endpoint.max_concurrency;
    return atOnce * (concurrency?.circuit === 'closed' ? WINDOW_PER_ATTEMPT : WINDOW_PER_PROBE);
  }
  /** Scheduled deliveries in memory. */
  get waiting(): number {
    return this.window.scheduled.size;
  }
  get firstDueAt(): number | undefined {
    return this.window.scheduled.first?.due;
  }

  /** A delivery was stored. One under way is left to the end of its attempt. */
  add(delivery: DeliveryDocument, knownAt: number, room: number): void {
    if (!this.state.underWay.has(delivery.id)) this.window.add(toPending(delivery, knownAt), room);
  }
  /** A stored delivery was changed. @param readAt before that, on the process's monotonic clock */
  change(delivery: DeliveryDocument, readAt: number): void {
    if (this.state.underWay.has(delivery.id)) this.window.skip(delivery);
    else this.window.change(toPending(delivery, readAt), this.room);
  }
  /** Its stored deliveries may have been changed by another process: they are read again. */
  reread(): void {
    this.window.reset();
  }
  wantsRefill(room: number): boolean {
    return this.window.wantsRefill(room);
  }
  beginRefill(room: number): Refill {
    return this.window.beginRefill(room, this.state.underWay.size);
  }
  endRefill(refill: Refill, content: RefillContent, knownAt: number): void {
    this.window.endRefill(refill, content, this.state.underWay, knownAt);
  }
  abandonRefill(refill: Refill): void {
    this.window.abandonRefill(refill);
  }

  /** When the next attempt may begin, in epoch milliseconds, if nothing else happens. */
  get nextMoment(): number | undefined {
    const { concurrency, phase, attempting, blockedUntil } = this.state;
    // A lease that was lost does not come back.
    if (concurrency === undefined || phase !== 'serving' || !this.isOwned) return undefined;
    if (attempting >= concurrency.limit) return undefined;
    if (this.window.express.some(this.isDeliverable)) return blockedUntil;
    const first = this.window.scheduled.first;
    if (first === undefined || attempting >= concurrency.allowed || !isEnabled(this.endpoint)) return undefined;
    const due = this.hasEarlyDelivery(first) ? -Infinity : first.due;
    return Math.max(due, concurrency.heldUntil, concurrency.restsUntil, blockedUntil);
  }
  canTake(now: number): boolean {
    return (this.nextMoment ?? Infinity) <= now;
  }

  /** Returns the delivery to attempt now, which is under way from then on. */
  take(now: number): PendingDelivery | undefined {
    if (!this.canTake(now)) return undefined;
    const { express, scheduled } = this.window;
    const isDue = (scheduled.first?.due ?? now) <= now;
    const item = express.take(this.isDeliverable) ?? (isDue ? scheduled.shift() : scheduled.take(this.canGoEarly));
    if (item === undefined) return undefined;
    this.state.beginAttempt(item.id, item.due > now && this.failedBeforeRecovery(item), now);
    return item;
  }

  /**
   * The outcome is stored, or there was no attempt to make.
   * @param after the delivery as it is stored now; undefined if it no longer exists
   * @returns false if the delivery waits although its endpoint is deleted: it is to be discarded
   */
  completeAttempt(id: string, after: DeliveryDocument | undefined, knownAt: number, room: number): boolean {
    this.state.endAttempt(id);
    this.window.recordChange(id);
    this.state.replay?.recordAttempt(id, after);
    if (!this.window.isNewest(id, after?.revision)) this.window.reset();
    else if (after !== undefined && awaitsAttempt(after)) {
      if (this.endpoint.deleted) return false;
      if (!this.state.isDropped) this.window.add(toPending(after, knownAt), room);
    }
    return true;
  }

  /**
   * No attempt could be made; the delivery waits again. Without its payload it alone waits a moment, otherwise the endpoint.
   * @returns false if a newer form of the delivery is stored, which is read instead
   */
  returnToWindow(item: PendingDelivery, isPayloadMissing: boolean, now: number): boolean {
    this.state.endAttempt(item.id);
    if (!this.window.isNewest(item.id, item.delivery.revision)) {
      this.window.reset();
      return false;
    }
    if (!isPayloadMissing) this.state.block(now + FAULT_PAUSE_MS);
    this.window.putBack(isPayloadMissing ? { ...item, due: now + MISSING_PAYLOAD_RETRY_MS, isDelayed: true } : item);
    return true;
  }

  /** Sandbox events go to every endpoint with a verified URL, all other deliveries to enabled ones only. */
  readonly isDeliverable = ({ delivery }: PendingDelivery): boolean =>
    delivery.sandbox ? this.endpoint.verified : isEnabled(this.endpoint);

  /**
   * Returns true if an attempt of the delivery is to be made now. A request of a person is due at once: its time is by the
   * clock of the process that was asked, which may be ahead.
   */
  isDue(delivery: DeliveryDocument, now: number): boolean {
    if (!awaitsAttempt(delivery)) return false;
    if (delivery.sandbox || delivery.manual_at !== null) return true;
    return this.canGoEarly({ delivery }) || this.dueTime(delivery) <= now;
  }

  /**
   * When a delivery is due, in epoch milliseconds: as stored, or since its latest attempt if that was made at a former URL,
   * whatever that URL asked for. A replayed delivery has had no attempt by its schedule: it stays due after live events.
   */
  private readonly dueTime = (delivery: DeliveryDocument): number => {
    const { due } = queuePosition(delivery);
    const isUntried = delivery.attempts_count === 0 || isUntriedReplay(delivery);
    if (isUntried || urlRevision(delivery) === urlRevision(this.endpoint)) return due;
    return Math.min(due, Date.parse(delivery.last_attempt_at ?? delivery.created_at));
  };

  /** Returns true if a scheduled delivery goes early; few that must wait for their time stand before it. */
  private hasEarlyDelivery(first: PendingDelivery): boolean {
    if (this.canGoEarly(first)) return true;
    return (this.state.replay !== undefined || this.isRecovering) && this.window.scheduled.some(this.canGoEarly);
  }

  /** Returns true if a delivery may be attempted before it is due: a replay sends it, or the endpoint recovers. */
  private readonly canGoEarly = (item: Pick<PendingDelivery, 'delivery' | 'isDelayed'>): boolean =>
    item.isDelayed !== true && (isUntriedReplay(item.delivery) || this.failedBeforeRecovery(item));

  /** A delivery that failed again since keeps its schedule. */
  private readonly failedBeforeRecovery = ({ delivery }: Pick<PendingDelivery, 'delivery'>): boolean => {
    const since = this.state.concurrency?.recoveringSince ?? -Infinity;
    return Date.parse(delivery.last_attempt_at ?? NEVER) < since;
  };
}

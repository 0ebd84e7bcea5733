import type { Lease } from '@tracking/ports';
import { isAttempted, urlRevision } from '@tracking/webhooks-domain';
import { type EndpointDocument, hasSameUrl } from '../endpoints/endpoint-document.ts';
import { type DeliveryDocument, mayGoEarly } from '../store/delivery-document.ts';
import { positionOf } from '../store/delivery-queues.ts';
import type { AdaptiveConcurrency } from './adaptive-concurrency.ts';
import { PendingWindow } from './pending-window.ts';
import { type PendingDelivery, toPending } from './priority-queue.ts';

/** Deliveries held in memory for each attempt that may be under way at once. */
const HELD_PER_ATTEMPT = 64;
/** While it is not known whether the endpoint answers at all: more would only wait here. */
const HELD_PER_PROBE = 8;
const NEVER = '1970-01-01T00:00:00.000Z';

/** A replay that runs for the endpoint. */
export interface RunningReplay {
  readonly id: string;
  /** Whether it should take more now. */
  wantsMore(now: number): boolean;
  /** When it may want to after now, in epoch milliseconds, if nothing else happens. */
  nextMoment(now: number): number | undefined;
  /**
   * Takes the next few deliveries, or tells that it has come to its end. Answers whether it goes on: not where it has ended,
   * be it by somebody else.
   * @throws Unavailable, Busy
   */
  takeMore(): Promise<boolean>;
  /** Takes note of a delivery of which an attempt was stored; undefined where there is none any more. */
  note(deliveryId: string, after: DeliveryDocument | undefined): void;
  /** Something that is stored of its deliveries may have been changed by somebody else. */
  lookAgain(): void;
}

/** An endpoint of a shard that this process owns: what waits for it, what is under way, and how fast it may go. */
export class OwnedEndpoint {
  readonly window: PendingWindow;
  /** Undefined until the stored health of its present URL was read: nothing is sent before. */
  concurrency: AdaptiveConcurrency | undefined;
  /** Requests under way. */
  attempting = 0;
  /** Deliveries under way, until their outcome is stored. */
  readonly busy = new Set<string>();
  /** False once this process was told that the shard is lost, or the endpoint was deleted. */
  active = true;
  /** While it is being filled. */
  filling: Promise<void> | undefined;
  /** Settles when the last write of its health has ended. */
  saving: Promise<unknown> = Promise.resolve();
  /** Whether an attempt of its deliveries ended in this process. */
  triedHere = false;
  /** Whether others are being told at the moment that it fails. */
  raising = false;
  /** The endpoint as it was when it answered 410: nothing is sent until it is disabled. */
  gone: EndpointDocument | undefined;
  /** True while it is being disabled. */
  disabling = false;
  /** Undefined where none runs. */
  replay: RunningReplay | undefined;
  /** Whether that takes more at the moment. */
  replaying = false;
  /** Deliveries taken before they were due since the endpoint recovers; some may have had their attempt. */
  private readonly takenEarly = new Set<string>();
  private replayReadsBegun = 0;
  /** The read that `replay` is from, by its place among those begun. */
  private replayReadShown = 0;
  /** Something of ours stands in the way of its attempts until then, in epoch milliseconds. */
  blockedUntil = -Infinity;
  usedAt = performance.now();

  /**
   * @param lease under which it is owned
   * @param empty whether nothing is stored that waits for this endpoint
   */
  constructor(
    public endpoint: EndpointDocument,
    readonly lease: Lease,
    empty: boolean,
  ) {
    this.window = new PendingWindow(empty, this.mayGo, this.dueOf);
  }

  get id(): string {
    return this.endpoint.id;
  }
  get workspace(): string {
    return this.endpoint.workspace_id;
  }

  /** Whether this process owns it at this moment, by the clock: nothing may be sent to it otherwise. */
  get isOurs(): boolean {
    return this.active && this.lease.isHeld();
  }

  /** Scheduled deliveries to hold in memory; none while the endpoint is not attempted. */
  get room(): number {
    if (!isAttempted(this.endpoint)) return 0;
    const atOnce = this.concurrency?.allowed ?? this.endpoint.max_concurrency;
    return atOnce * (this.concurrency?.circuit === 'closed' ? HELD_PER_ATTEMPT : HELD_PER_PROBE);
  }

  get idle(): boolean {
    const { scheduled, express, complete } = this.window;
    const isEmpty = scheduled.size === 0 && express.size === 0 && complete;
    return isEmpty && this.busy.size === 0 && this.gone === undefined && this.replay === undefined;
  }

  /** Whether what comes next is attempted soon: its circuit is not open, and all that waits for it is in the window. */
  get keepsUp(): boolean {
    return this.window.complete && !this.isFailing;
  }

  /** Whether nothing but failures came back lately. */
  get isFailing(): boolean {
    return this.concurrency?.circuit === 'open';
  }

  /**
   * Whether its next attempt waits for time to spare: it goes on failing, or what comes next piled up while it did; and nobody has
   * asked for it.
   */
  get isPaced(): boolean {
    if (this.concurrency === undefined || this.window.express.some(this.mayGo)) return false;
    const { circuit, closedAt } = this.concurrency;
    const next = this.window.scheduled.first?.delivery;
    return circuit === 'open' || (next !== undefined && Date.parse(next.created_at) < closedAt);
  }

  /** True if it answers again after a long failure: deliveries that failed before then are sent before they are due. */
  get isRecovering(): boolean {
    return typeof this.concurrency?.recoveringSince === 'number';
  }

  /** True once its recovery is complete: every delivery that failed before has been attempted again. */
  get hasRecovered(): boolean {
    if (!this.isRecovering || !this.window.complete) return false;
    // A delivery under way may still be in preparation, which refuses it if the recovery has ended and it is not due.
    if ([...this.takenEarly].some((id) => this.busy.has(id))) return false;
    return !this.window.scheduled.some(this.failedBeforeRecovery);
  }

  setEndpoint(endpoint: EndpointDocument): void {
    if (endpoint.revision < this.endpoint.revision) return;
    const { verified } = this.endpoint;
    const isMoved = !hasSameUrl(this.endpoint, endpoint);
    const getsOthers = verified !== endpoint.verified || isAttempted(this.endpoint) !== isAttempted(endpoint);
    this.endpoint = endpoint;
    if (this.concurrency !== undefined) this.concurrency.limit = endpoint.max_concurrency;
    // How a former URL answered says nothing about the present one.
    if (isMoved) this.concurrency = this.gone = undefined;
    // What it does not get waits on disk, for as long as it takes.
    if (getsOthers || isMoved) this.window.forget();
  }

  /**
   * Reads the replay that runs for the endpoint: another one, or the present one, of which something may have changed.
   * Nothing comes of a read if one that began later was answered before it.
   */
  async readReplay(read: () => Promise<RunningReplay | undefined>): Promise<void> {
    this.replayReadsBegun += 1;
    const number = this.replayReadsBegun;
    const found = await read();
    if (number < this.replayReadShown) return;
    this.replayReadShown = number;
    if (found !== undefined && found.id === this.replay?.id) this.replay.lookAgain();
    else this.replay = found;
  }

  /**
   * Takes in a delivery that was changed in the store.
   * @param readAt before that, on the process's monotonic clock
   */
  hold(delivery: DeliveryDocument, readAt: number): void {
    if (this.busy.has(delivery.id)) this.window.passOver(delivery);
    else this.window.change(toPending(delivery, readAt), this.room);
  }

  /** Whether its replay should take more now. */
  wantsReplay(now: number): boolean {
    return !this.replaying && this.replay?.wantsMore(now) === true;
  }

  canTake(now: number): boolean {
    const moment = this.nextMoment;
    return moment !== undefined && moment <= now;
  }

  /** The next delivery to attempt now. */
  take(now: number): PendingDelivery | undefined {
    if (!this.canTake(now)) return undefined;
    const { express, scheduled } = this.window;
    const isDue = (scheduled.first?.due ?? now) <= now;
    const item = express.take(this.mayGo) ?? (isDue ? scheduled.shift() : scheduled.take(this.goesEarly));
    if (item === undefined) return undefined;
    this.noteEarly(item, now);
    this.busy.add(item.id);
    this.concurrency?.began(now);
    return item;
  }

  private noteEarly(item: PendingDelivery, now: number): void {
    for (const id of this.takenEarly) if (!this.busy.has(id)) this.takenEarly.delete(id);
    if (item.due > now && this.failedBeforeRecovery(item)) this.takenEarly.add(item.id);
  }

  /** From when on there is something to attempt, in epoch milliseconds, if nothing else happens. */
  get nextMoment(): number | undefined {
    if (this.gone !== undefined) return undefined;
    // A lease that was lost does not come back.
    if (this.concurrency === undefined || !this.isOurs || this.attempting >= this.concurrency.limit) return undefined;
    if (this.window.express.some(this.mayGo)) return this.blockedUntil;
    const first = this.window.scheduled.first;
    if (first === undefined || this.attempting >= this.concurrency.allowed || !isAttempted(this.endpoint))
      return undefined;
    const due = this.hasEarly(first) ? -Infinity : first.due;
    return Math.max(due, this.concurrency.heldUntil, this.concurrency.restsUntil, this.blockedUntil);
  }

  /** Returns true if a scheduled delivery goes early; few that must wait for their time stand before it. */
  private hasEarly(first: PendingDelivery): boolean {
    if (this.goesEarly(first)) return true;
    return (this.replay !== undefined || this.isRecovering) && this.window.scheduled.some(this.goesEarly);
  }

  /** Sandbox events go to every endpoint with a verified URL, all else to enabled ones only. */
  readonly mayGo = ({ delivery }: PendingDelivery): boolean =>
    delivery.sandbox ? this.endpoint.verified : isAttempted(this.endpoint);

  /**
   * When a delivery is due, in epoch milliseconds: as stored, or since its latest attempt if that was made at a former URL,
   * whatever that URL asked for. A replayed delivery has had no attempt by its schedule: it stays due after live events.
   */
  readonly dueOf = (delivery: DeliveryDocument): number => {
    const { due } = positionOf(delivery);
    const isUntried = delivery.attempts_count === 0 || mayGoEarly(delivery);
    if (isUntried || urlRevision(delivery) === urlRevision(this.endpoint)) return due;
    return Math.min(due, Date.parse(delivery.last_attempt_at ?? delivery.created_at));
  };

  /** Returns true if a delivery may be attempted before it is due: a replay sends it, or the endpoint recovers. */
  readonly goesEarly = (item: Pick<PendingDelivery, 'delivery' | 'isDelayed'>): boolean =>
    item.isDelayed !== true && (mayGoEarly(item.delivery) || this.failedBeforeRecovery(item));

  /** A delivery that failed again since keeps its schedule. */
  private readonly failedBeforeRecovery = ({ delivery }: Pick<PendingDelivery, 'delivery'>): boolean => {
    const since = this.concurrency?.recoveringSince ?? -Infinity;
    return Date.parse(delivery.last_attempt_at ?? NEVER) < since;
  };
}

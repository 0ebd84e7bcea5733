import { type DeliveryDocument, expressQueue } from '../store/delivery-document.ts';
import { BEGINNING, END, type QueuePosition, isAfter, positionOf } from '../store/delivery-queues.ts';
import { type PendingDelivery, PriorityQueue, toPending } from './priority-queue.ts';

/** Requested retries and sandbox events held in memory for each endpoint. */
const MOST_EXPRESS = 100;
/** Of what is scheduled, read at once: with their latest attempts, of which each may be large. The rest is read after it. */
const READ_AT_ONCE = 256;

/** What is to be read of what is stored, while that is under way. */
export interface Refill {
  /** Read what is scheduled after this position; undefined: read nothing scheduled. */
  readonly after: QueuePosition | undefined;
  readonly limit: number;
  /** How many requested retries and sandbox events to read; 0 reads none. */
  readonly expressLimit: number;
  /** What was stored meanwhile beyond the horizon, perhaps too late to be read; at most `limit`. */
  readonly missed: PriorityQueue;
  /** Up to here `missed` is complete. */
  end: QueuePosition;
  /** Something that a person asked for was left to the disk meanwhile. */
  missedExpress: boolean;
  /** Changed meanwhile: what is read may show these as they were. */
  readonly changed: Set<string>;
}

export interface RefillContent {
  readonly scheduled: readonly DeliveryDocument[];
  readonly express: readonly DeliveryDocument[];
}

/**
 * The first of an endpoint's pending deliveries, in memory. All of them are stored: everything up to the position `horizon`
 * is here or being attempted, and what comes after it is read from the index when there is room (a refill). So memory is
 * bounded however much waits, and an endpoint that keeps up never reads anything back.
 */
export class PendingWindow {
  readonly scheduled = new PriorityQueue();
  /** What persons asked for: goes before everything scheduled. */
  readonly express = new PriorityQueue();
  private horizon: QueuePosition;
  private expressRead: boolean;
  private refill: Refill | undefined;
  /** Revisions of what was left out because it was being attempted. */
  private readonly passedOver = new Map<string, number>();

  /**
   * @param empty whether nothing is stored that waits for this endpoint
   * @param dueOf when a delivery is due, in epoch milliseconds: as stored, or earlier
   * @param mayGo whether the endpoint as it is gets what a person asked for; once that changes, everything is read anew
   */
  constructor(
    empty: boolean,
    private readonly mayGo: (item: PendingDelivery) => boolean = () => true,
    private readonly dueOf: (delivery: DeliveryDocument) => number = (delivery) => positionOf(delivery).due,
  ) {
    this.horizon = empty ? END : BEGINNING;
    this.expressRead = empty;
  }

  /** Nothing is known to be stored beyond what is here. */
  get complete(): boolean {
    return this.horizon === END && this.expressRead && this.refill === undefined;
  }

  /**
   * Takes in what was just stored, or leaves it to be read later. Each delivery is held once, in its newest form.
   * @param room most scheduled deliveries to hold
   */
  add(given: PendingDelivery, room: number): void {
    const item = this.takeNewest(this.placed(given));
    if (isExpress(item)) this.addExpress(item);
    else if (isAfter(item, this.horizon)) this.miss(item);
    else {
      this.scheduled.add(item);
      if (this.scheduled.size > room) this.horizon = shortened(this.scheduled);
    }
  }

  /** Takes back what could not be attempted; it is stored as it was. */
  putBack(item: PendingDelivery): void {
    if (!isExpress(item) || this.mayGo(item)) this.hold(item);
  }

  /** Takes in what was just changed in the store. */
  change(item: PendingDelivery, room: number): void {
    this.noteChange(item.id);
    this.add(item, room);
  }

  /** Leaves out what is being attempted in an earlier form, perhaps: what comes of that attempt tells. */
  passOver({ id, revision }: DeliveryDocument): void {
    this.passedOver.set(id, revision);
  }

  /**
   * Whether what came of an attempt is the newest form of the delivery that is known. Else it is to be read anew: it waits,
   * perhaps, and is not here.
   */
  isNewest(id: string, revision = 0): boolean {
    const passedOver = this.passedOver.get(id);
    this.passedOver.delete(id);
    return passedOver === undefined || passedOver <= revision;
  }

  /** Says that a delivery's stored form was changed by an attempt. */
  noteChange(id: string): void {
    this.refill?.changed.add(id);
  }

  /** Forgets everything: it is stored, and may have been changed there. */
  forget(): void {
    this.scheduled.clear();
    this.express.clear();
    this.horizon = BEGINNING;
    this.expressRead = false;
    this.refill = undefined;
  }

  /** Whether there is something to read, and room for it. */
  wantsRefill(room: number): boolean {
    return this.refill === undefined && (this.wantsScheduled(room) || this.wantsExpress());
  }

  /**
   * Begins a refill and returns what to read.
   * @param busy how many deliveries are being attempted: they are still stored, so a page of them alone would leave the
   *   window empty and be read again and again
   */
  beginRefill(room: number, busy = 0): Refill {
    const after = this.wantsScheduled(room) ? this.horizon : undefined;
    const limit = Math.max(1, Math.min(READ_AT_ONCE, room - this.scheduled.size));
    this.refill = {
      after,
      limit,
      expressLimit: this.wantsExpress() ? MOST_EXPRESS + busy : 0,
      missed: new PriorityQueue(),
      end: END,
      missedExpress: false,
      changed: new Set(),
    };
    return this.refill;
  }

  abandonRefill(refill: Refill): void {
    if (this.refill === refill) this.refill = undefined;
  }

  /**
   * Takes in what was read.
   * @param busy what is being attempted
   * @param knownAt when the reading began
   */
  endRefill(refill: Refill, { scheduled, express }: RefillContent, busy: ReadonlySet<string>, knownAt: number): void {
    if (this.refill !== refill) return;
    this.refill = undefined;
    const fresh = (delivery: DeliveryDocument) => {
      if (refill.changed.has(delivery.id)) return false;
      if (busy.has(delivery.id)) this.passOver(delivery);
      return !busy.has(delivery.id);
    };
    if (refill.expressLimit > 0) {
      this.expressRead = express.length < refill.expressLimit && !refill.missedExpress;
      for (const delivery of express.filter(fresh)) this.hold(toPending(delivery, knownAt));
    }
    // Where the window was cut short in the meantime, what was read does not follow on any more.
    if (refill.after === undefined || refill.after !== this.horizon) return;
    // What was missed belongs in the window as well: else that could be full, for hours, without it.
    const lastRead = scheduled.at(-1);
    const read = lastRead === undefined || scheduled.length < refill.limit ? END : positionOf(lastRead);
    const end = isAfter(read, refill.end) ? refill.end : read;
    const found = scheduled.filter(fresh).map((delivery) => this.placed(toPending(delivery, knownAt)));
    for (const item of [...refill.missed, ...found]) if (!isAfter(item, end)) this.hold(item);
    this.horizon = end;
  }

  private wantsScheduled(room: number): boolean {
    return this.horizon !== END && room > 0 && this.scheduled.size <= room / 2;
  }

  private wantsExpress(): boolean {
    return !this.expressRead && this.express.size === 0;
  }

  private placed(item: PendingDelivery): PendingDelivery {
    return { ...item, due: this.dueOf(item.delivery) };
  }

  private hold(item: PendingDelivery): void {
    const newest = this.takeNewest(item);
    (isExpress(newest) ? this.express : this.scheduled).add(newest);
  }

  /** Takes out the held form of a delivery; returns that if it is newer than the given one. */
  private takeNewest(item: PendingDelivery): PendingDelivery {
    return newestOf(item, this.scheduled.remove(item.id), this.express.remove(item.id));
  }

  private addExpress(item: PendingDelivery): void {
    if (!this.mayGo(item)) return;
    if (this.express.size < MOST_EXPRESS) return this.express.add(item);
    this.expressRead = false;
    if (this.refill !== undefined) this.refill.missedExpress = true;
  }

  private miss(given: PendingDelivery): void {
    const { refill } = this;
    if (refill === undefined) return;
    const item = newestOf(given, refill.missed.remove(given.id));
    if (isAfter(item, refill.end)) return;
    refill.missed.add(item);
    if (refill.missed.size <= refill.limit) return;
    refill.end = shortened(refill.missed);
  }
}

function isExpress({ delivery }: PendingDelivery): boolean {
  return delivery.queue === expressQueue(delivery.endpoint_id);
}

/** The given form if no other one is newer. */
function newestOf(given: PendingDelivery, ...others: readonly (PendingDelivery | undefined)[]): PendingDelivery {
  return others.reduce<PendingDelivery>(
    (newest, other) => (other !== undefined && other.delivery.revision > newest.delivery.revision ? other : newest),
    given,
  );
}

/** Leaves its last one to the disk; answers how far the rest reaches. */
function shortened(list: PriorityQueue): QueuePosition {
  const dropped = list.pop();
  const { due, id } = list.last ?? BEGINNING;
  if (dropped === undefined) return { due, id };
  // One that was put back is due later here than where it is stored.
  const left = positionOf(dropped.delivery);
  return isAfter(left, { due, id }) ? { due, id } : { due: left.due, id: '' };
}

import { type DeliveryDocument, expressQueue } from '../store/delivery-document.ts';
import { QUEUE_START, QUEUE_END, type QueuePosition, isAfter, queuePosition } from '../store/delivery-queues.ts';

/** Requested retries and sandbox events held in memory for each endpoint. */
const MAX_EXPRESS_SIZE = 100;
/** Scheduled deliveries in one read: each comes with its latest attempt, which may be large. */
const MAX_REFILL_SIZE = 256;

/** A delivery that waits in memory for its attempt. */
export interface PendingDelivery extends QueuePosition {
  /** Without its latest attempt: answers of receivers are too large to be held. */
  readonly delivery: DeliveryDocument;
  /** When it was known to be stored like this, on the process's monotonic clock. */
  readonly knownAt: number;
  /** It must not go early: it was put back and waits for `due` in memory, whatever is stored. */
  readonly isDelayed?: true;
}

export function toPending(stored: DeliveryDocument, knownAt: number): PendingDelivery {
  const { latest_attempt, ...rest } = stored;
  const delivery = latest_attempt === undefined ? stored : rest;
  return { ...queuePosition(stored), delivery, knownAt };
}

/** A read of the stored deliveries that is under way. */
export interface Refill {
  /** Read scheduled deliveries after this position; undefined: read none. */
  readonly after: QueuePosition | undefined;
  readonly limit: number;
  /** How many requested retries and sandbox events to read; 0 reads none. */
  readonly expressLimit: number;
  /** Deliveries stored meanwhile beyond the horizon, perhaps too late to be read; at most `limit`. */
  readonly missed: PriorityQueue;
  /** `missed` is complete up to here. */
  end: QueuePosition;
  /** An express delivery was left to the disk meanwhile. */
  missedExpress: boolean;
  /** Ids of deliveries that changed meanwhile: the read may return an older form of them. */
  readonly changed: Set<string>;
}

export interface RefillContent {
  readonly scheduled: readonly DeliveryDocument[];
  readonly express: readonly DeliveryDocument[];
}

/**
 * The first of an endpoint's pending deliveries, in memory. All of them are stored: everything up to the position `horizon`
 * is here or being attempted, and deliveries after it are read from the index when there is room (a refill). So memory is
 * bounded however much waits, and an endpoint that keeps up never reads anything back.
 */
export class PendingWindow {
  readonly scheduled = new PriorityQueue();
  /** Retries and sandbox events that people asked for: they go before everything scheduled. */
  readonly express = new PriorityQueue();
  private horizon: QueuePosition;
  private isExpressRead: boolean;
  private refill: Refill | undefined;
  /** Revisions of deliveries that were left out because they were being attempted. */
  private readonly passedOver = new Map<string, number>();

  /**
   * @param empty whether no stored delivery waits for this endpoint
   * @param mayGo whether the endpoint receives an express delivery; once the answer changes, everything is read again
   * @param dueOf when a delivery is due, in epoch milliseconds: as stored, or earlier
   */
  constructor(
    empty: boolean,
    private readonly mayGo: (item: PendingDelivery) => boolean = () => true,
    private readonly dueOf: (delivery: DeliveryDocument) => number = (delivery) => queuePosition(delivery).due,
  ) {
    this.horizon = empty ? QUEUE_END : QUEUE_START;
    this.isExpressRead = empty;
  }

  /** Returns true if no stored delivery is known to wait beyond those here. */
  get isComplete(): boolean {
    return this.horizon === QUEUE_END && this.isExpressRead && this.refill === undefined;
  }

  /**
   * Takes in a delivery that was just stored, or leaves it to be read later. Each delivery is held once, in its newest form.
   * @param room most scheduled deliveries to hold
   */
  add(given: PendingDelivery, room: number): void {
    const item = this.takeNewest({ ...given, due: this.dueOf(given.delivery) });
    if (isExpress(item)) this.addExpress(item);
    else if (isAfter(item, this.horizon)) this.addMissed(item);
    else {
      this.scheduled.add(item);
      if (this.scheduled.size > room) this.horizon = dropLast(this.scheduled);
    }
  }

  /** Takes back a delivery that could not be attempted; it is stored as it was. */
  putBack(item: PendingDelivery): void {
    if (!isExpress(item) || this.mayGo(item)) this.hold(item);
  }

  /** Takes in a delivery that was just changed in the store. */
  change(item: PendingDelivery, room: number): void {
    this.recordChange(item.id);
    this.add(item, room);
  }

  /** Leaves out a delivery that is being attempted, perhaps in an earlier form: the end of that attempt decides. */
  skip({ id, revision }: DeliveryDocument): void {
    this.passedOver.set(id, Math.max(revision, this.passedOver.get(id) ?? 0));
  }

  /**
   * Returns true if the form of a delivery after its attempt is the newest one known. Otherwise everything is to be read
   * again: a newer form may wait and is not here.
   */
  isNewest(id: string, revision = 0): boolean {
    const passedOver = this.passedOver.get(id);
    this.passedOver.delete(id);
    return passedOver === undefined || passedOver <= revision;
  }

  /** An attempt changed the stored form of a delivery. */
  recordChange(id: string): void {
    this.refill?.changed.add(id);
  }

  /** Forgets everything: it is stored, and may have been changed there. */
  reset(): void {
    this.scheduled.clear();
    this.express.clear();
    this.horizon = QUEUE_START;
    this.isExpressRead = false;
    this.refill = undefined;
  }

  /** Returns true if there is something to read, and room for it. */
  wantsRefill(room: number): boolean {
    return this.refill === undefined && (this.wantsScheduled(room) || this.wantsExpress());
  }

  /**
   * Begins a refill and returns what to read.
   * @param underWay how many deliveries are being attempted: they are still stored, so a page of them alone would leave the
   *   window empty and be read again and again
   */
  beginRefill(room: number, underWay = 0): Refill {
    const after = this.wantsScheduled(room) ? this.horizon : undefined;
    const limit = Math.max(1, Math.min(MAX_REFILL_SIZE, room - this.scheduled.size));
    this.refill = {
      after,
      limit,
      expressLimit: this.wantsExpress() ? MAX_EXPRESS_SIZE + underWay : 0,
      missed: new PriorityQueue(),
      end: QUEUE_END,
      missedExpress: false,
      changed: new Set(),
    };
    return this.refill;
  }

  abandonRefill(refill: Refill): void {
    if (this.refill === refill) this.refill = undefined;
  }

  /**
   * Takes in the deliveries that were read. A refill that was forgotten meanwhile changes nothing.
   * @param underWay ids of the deliveries that are being attempted
   * @param knownAt when the read began
   */
  endRefill(
    refill: Refill,
    { scheduled, express }: RefillContent,
    underWay: { has(id: string): boolean },
    knownAt: number,
  ): void {
    if (this.refill !== refill) return;
    this.refill = undefined;
    const isLeftToAttempt = (delivery: DeliveryDocument) => {
      if (underWay.has(delivery.id)) this.skip(delivery);
      return underWay.has(delivery.id);
    };
    const isFresh = (delivery: DeliveryDocument) => !refill.changed.has(delivery.id) && !isLeftToAttempt(delivery);
    if (refill.expressLimit > 0) {
      this.isExpressRead = express.length < refill.expressLimit && !refill.missedExpress;
      for (const delivery of express.filter(isFresh)) this.hold(toPending(delivery, knownAt));
    }
    // If the window was shortened in the meantime, these deliveries no longer follow on from it.
    if (refill.after === undefined || refill.after !== this.horizon) return;
    // Missed deliveries belong in the window too: it could otherwise be full without them for hours.
    const lastRead = scheduled.at(-1);
    const readTo = lastRead === undefined || scheduled.length < refill.limit ? QUEUE_END : queuePosition(lastRead);
    const end = isAfter(readTo, refill.end) ? refill.end : readTo;
    const found = scheduled.filter(isFresh).map((delivery) => {
      return { ...toPending(delivery, knownAt), due: this.dueOf(delivery) };
    });
    const missed = [...refill.missed].filter(({ delivery }) => !isLeftToAttempt(delivery));
    for (const item of [...missed, ...found]) if (!isAfter(item, end)) this.hold(item);
    this.horizon = end;
  }

  private wantsScheduled(room: number): boolean {
    return this.horizon !== QUEUE_END && room > 0 && this.scheduled.size <= room / 2;
  }

  private wantsExpress(): boolean {
    return !this.isExpressRead && this.express.size === 0;
  }

  private hold(item: PendingDelivery): void {
    const newest = this.takeNewest(item);
    (isExpress(newest) ? this.express : this.scheduled).add(newest);
  }

  /** Removes the held form of a delivery; returns that form if it is newer than the given one. */
  private takeNewest(item: PendingDelivery): PendingDelivery {
    return newerOf(item, this.scheduled.remove(item.id), this.express.remove(item.id));
  }

  private addExpress(item: PendingDelivery): void {
    if (!this.mayGo(item)) return;
    if (this.express.size < MAX_EXPRESS_SIZE) return this.express.add(item);
    this.isExpressRead = false;
    if (this.refill !== undefined) this.refill.missedExpress = true;
  }

  private addMissed(given: PendingDelivery): void {
    const { refill } = this;
    if (refill === undefined) return;
    const item = newerOf(given, refill.missed.remove(given.id));
    if (isAfter(item, refill.end)) return;
    refill.missed.add(item);
    if (refill.missed.size > refill.limit) refill.end = dropLast(refill.missed);
  }
}

function isExpress({ delivery }: PendingDelivery): boolean {
  return delivery.queue === expressQueue(delivery.endpoint_id);
}

/** Returns the given form unless another one is newer. */
function newerOf(given: PendingDelivery, ...others: readonly (PendingDelivery | undefined)[]): PendingDelivery {
  return others.reduce<PendingDelivery>(
    (newest, other) => (other !== undefined && other.delivery.revision > newest.delivery.revision ? other : newest),
    given,
  );
}

/** Leaves the last delivery to the disk; returns how far the rest reaches. */
function dropLast(list: PriorityQueue): QueuePosition {
  const dropped = list.pop();
  const { due, id } = list.last ?? QUEUE_START;
  if (dropped === undefined) return { due, id };
  // A delivery that was put back is due later here than in the store.
  const stored = queuePosition(dropped.delivery);
  return isAfter(stored, { due, id }) ? { due, id } : { due: stored.due, id: '' };
}

/** Deliveries in the order in which they come due, each once. An array: most are added at its end and taken from its front. */
class PriorityQueue {
  private items: PendingDelivery[] = [];
  private readonly ids = new Set<string>();

  get size(): number {
    return this.items.length;
  }
  get first(): PendingDelivery | undefined {
    return this.items[0];
  }
  get last(): PendingDelivery | undefined {
    return this.items.at(-1);
  }

  [Symbol.iterator](): Iterator<PendingDelivery> {
    return this.items.values();
  }

  add(item: PendingDelivery): void {
    if (this.ids.has(item.id)) return;
    this.ids.add(item.id);
    // Most come last.
    let low = 0;
    let high = this.items.length;
    const last = this.last;
    if (last === undefined || isAfter(item, last)) low = high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isAfter(item, this.items[middle] as PendingDelivery)) low = middle + 1;
      else high = middle;
    }
    this.items.splice(low, 0, item);
  }

  shift(): PendingDelivery | undefined {
    return this.forget(this.items.shift());
  }

  pop(): PendingDelivery | undefined {
    return this.forget(this.items.pop());
  }

  /** Removes the first delivery for which the predicate holds. */
  take(isWanted: (item: PendingDelivery) => boolean): PendingDelivery | undefined {
    const index = this.items.findIndex(isWanted);
    return index < 0 ? undefined : this.forget(this.items.splice(index, 1)[0]);
  }

  /** Removes a delivery by its id. */
  remove(id: string): PendingDelivery | undefined {
    return this.ids.has(id) ? this.take((item) => item.id === id) : undefined;
  }

  some(isWanted: (item: PendingDelivery) => boolean): boolean {
    return this.items.some(isWanted);
  }

  clear(): void {
    this.items = [];
    this.ids.clear();
  }

  private forget(item: PendingDelivery | undefined): PendingDelivery | undefined {
    if (item !== undefined) this.ids.delete(item.id);
    return item;
  }
}

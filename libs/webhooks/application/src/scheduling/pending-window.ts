import { type DeliveryDocument, getExpressQueueName } from '../store/delivery-document.ts';
import {
  QUEUE_START_POSITION,
  QUEUE_END_POSITION,
  type DeliveryQueuePosition,
  isQueuePositionAfter,
  createQueuePosition,
} from '../store/delivery-queues.ts';

/** Most requested retries and sandbox events held in memory for each endpoint. */
const MAX_EXPRESS_DELIVERIES_PER_ENDPOINT = 100;
/** Most scheduled deliveries in one read. Each includes its latest attempt, which may be large. */
const MAX_SCHEDULED_DELIVERIES_PER_READ = 256;

/** A delivery that waits in memory for its attempt. */
export interface PendingDelivery extends DeliveryQueuePosition {
  /** The delivery without its latest attempt, because receivers' answers are too large to hold in memory. */
  readonly delivery: DeliveryDocument;
  /** Time at which the delivery was last known to match the store, on the process's monotonic clock. */
  readonly knownAt: number;
  /** Present if the delivery was put back because its payload is missing. It then waits until `due`. */
  readonly isDelayed?: true;
}

export function toPendingDelivery(stored: DeliveryDocument, knownAt: number): PendingDelivery {
  const { latest_attempt, ...rest } = stored;
  const delivery = latest_attempt === undefined ? stored : rest;
  return { ...createQueuePosition(stored), delivery, knownAt };
}

/** A read of pending deliveries that has begun and not ended. */
export interface PendingDeliveryReadInProgress {
  /** Position after which scheduled deliveries are read; undefined to read none. */
  readonly after: DeliveryQueuePosition | undefined;
  readonly limit: number;
  /** Maximum number of requested retries and sandbox events to read; 0 reads none. */
  readonly expressLimit: number;
  /** Deliveries stored beyond the horizon during the read, which may not include them; at most `limit`. */
  readonly missed: DeliveryQueueByDueTime;
  /** Position in the queue up to which `missed` contains every new delivery. */
  end: DeliveryQueuePosition;
  /** True if an express delivery was stored during the read and is not in memory. */
  missedExpress: boolean;
  /** Ids of deliveries that changed during the read, which may return an older form of them. */
  readonly changed: Set<string>;
}

export interface DeliveriesForRefill {
  readonly scheduled: readonly DeliveryDocument[];
  readonly express: readonly DeliveryDocument[];
}

/**
 * The first pending deliveries of an endpoint, in memory. All deliveries are stored too. Deliveries up to the position
 * `horizon` are in the window or being attempted; later ones are read from the index when the window has capacity (a
 * refill). Memory is therefore bounded, however large the backlog is. An endpoint without a backlog never reads from
 * disk.
 */
export class PendingDeliveryWindow {
  readonly scheduled = new DeliveryQueueByDueTime();
  /** Requested retries and sandbox events. Express deliveries are sent before all scheduled deliveries. */
  readonly express = new DeliveryQueueByDueTime();
  private horizon: DeliveryQueuePosition;
  private isExpressRead: boolean;
  private refill: PendingDeliveryReadInProgress | undefined;
  /** Revisions of deliveries that were skipped because they were being attempted. */
  private readonly passedOver = new Map<string, number>();

  /**
   * @param empty true if no stored delivery is pending for this endpoint
   * @param mayGo returns true if the endpoint receives an express delivery; when the result changes, everything is read
   *   again
   * @param dueOf returns the time at which a delivery is due, in epoch milliseconds: the stored time or an earlier one
   */
  constructor(
    empty: boolean,
    private readonly mayGo: (item: PendingDelivery) => boolean = () => true,
    private readonly dueOf: (delivery: DeliveryDocument) => number = (delivery) => createQueuePosition(delivery).due,
  ) {
    this.horizon = empty ? QUEUE_END_POSITION : QUEUE_START_POSITION;
    this.isExpressRead = empty;
  }

  /** True if the window contains every stored delivery that is known to be pending. */
  get isComplete(): boolean {
    return this.horizon === QUEUE_END_POSITION && this.isExpressRead && this.refill === undefined;
  }

  /**
   * Adds a delivery that was just stored, or leaves it to be read later. Each delivery is held once, in its newest
   * form.
   * @param room maximum number of scheduled deliveries to hold
   */
  addDeliveryToWindow(given: PendingDelivery, room: number): void {
    const item = this.removeDeliveryReturningNewestCopy({ ...given, due: this.dueOf(given.delivery) });
    if (isDeliveryInExpressQueue(item)) this.addExpressDelivery(item);
    else if (isQueuePositionAfter(item, this.horizon)) this.addDeliveryMissedByRefill(item);
    else {
      this.scheduled.addPendingDelivery(item);
      if (this.scheduled.size > room) this.horizon = removeLastDeliveryFromWindow(this.scheduled);
    }
  }

  /** Returns a delivery that could not be attempted to the window. Its stored form is unchanged. */
  putDeliveryBack(item: PendingDelivery): void {
    if (!isDeliveryInExpressQueue(item) || this.mayGo(item)) this.queueNewestDeliveryCopyForAttempt(item);
  }

  /** Replaces a delivery that was just changed in the store. */
  replaceDelivery(item: PendingDelivery, room: number): void {
    this.markDeliveryChangedDuringRefill(item.id);
    this.addDeliveryToWindow(item, room);
  }

  /** Skips a delivery that is being attempted. The end of the attempt decides if the delivery is pending again. */
  skipDeliveryBeingAttempted({ id, revision }: DeliveryDocument): void {
    this.passedOver.set(id, Math.max(revision, this.passedOver.get(id) ?? 0));
  }

  /**
   * Returns true if the delivery's form after its attempt is the newest one known. If not, the window must be read
   * again, because it lacks the newest form.
   */
  isNewestDeliveryRevision(id: string, revision = 0): boolean {
    const passedOver = this.passedOver.get(id);
    this.passedOver.delete(id);
    return passedOver === undefined || passedOver <= revision;
  }

  /** Records that an attempt changed the stored form of a delivery. */
  markDeliveryChangedDuringRefill(id: string): void {
    this.refill?.changed.add(id);
  }

  /** Empties the window. All deliveries are stored and are read again. */
  removeAllPendingDeliveries(): void {
    this.scheduled.clearDeliveryQueue();
    this.express.clearDeliveryQueue();
    this.horizon = QUEUE_START_POSITION;
    this.isExpressRead = false;
    this.refill = undefined;
  }

  /** Returns true if the store has more pending deliveries and the window has capacity. */
  needsStoredDeliveries(room: number): boolean {
    return this.refill === undefined && (this.needsMoreScheduledDeliveries(room) || this.shouldReadExpressDeliveries());
  }

  /**
   * Begins a refill and returns what to read.
   * @param underWay number of deliveries being attempted. They are still stored, so a page of only these would leave
   *   the window empty and be read again and again
   */
  beginDeliveriesRefill(room: number, underWay = 0): PendingDeliveryReadInProgress {
    const after = this.needsMoreScheduledDeliveries(room) ? this.horizon : undefined;
    const limit = Math.max(1, Math.min(MAX_SCHEDULED_DELIVERIES_PER_READ, room - this.scheduled.size));
    this.refill = {
      after,
      limit,
      expressLimit: this.shouldReadExpressDeliveries() ? MAX_EXPRESS_DELIVERIES_PER_ENDPOINT + underWay : 0,
      missed: new DeliveryQueueByDueTime(),
      end: QUEUE_END_POSITION,
      missedExpress: false,
      changed: new Set(),
    };
    return this.refill;
  }

  abandonRefill(refill: PendingDeliveryReadInProgress): void {
    if (this.refill === refill) this.refill = undefined;
  }

  /**
   * Adds the deliveries that a refill read. Ignored if the window was reset in the meantime.
   * @param underWay ids of the deliveries being attempted
   * @param knownAt time at which the read began
   */
  addRefilledPendingDeliveries(
    refill: PendingDeliveryReadInProgress,
    { scheduled, express }: DeliveriesForRefill,
    underWay: { has(id: string): boolean },
    knownAt: number,
  ): void {
    if (this.refill !== refill) return;
    this.refill = undefined;
    const isLeftToAttempt = (delivery: DeliveryDocument) => {
      if (underWay.has(delivery.id)) this.skipDeliveryBeingAttempted(delivery);
      return underWay.has(delivery.id);
    };
    const isFresh = (delivery: DeliveryDocument) => !refill.changed.has(delivery.id) && !isLeftToAttempt(delivery);
    if (refill.expressLimit > 0) {
      this.isExpressRead = express.length < refill.expressLimit && !refill.missedExpress;
      for (const delivery of express.filter(isFresh))
        this.queueNewestDeliveryCopyForAttempt(toPendingDelivery(delivery, knownAt));
    }
    // Discard the result if the window was shortened during the read, because it no longer continues the window.
    if (refill.after === undefined || refill.after !== this.horizon) return;
    // Add the missed deliveries too: the next refill may be hours away.
    const lastRead = scheduled.at(-1);
    const readTo =
      lastRead === undefined || scheduled.length < refill.limit ? QUEUE_END_POSITION : createQueuePosition(lastRead);
    const end = isQueuePositionAfter(readTo, refill.end) ? refill.end : readTo;
    const found = scheduled.filter(isFresh).map((delivery) => {
      return { ...toPendingDelivery(delivery, knownAt), due: this.dueOf(delivery) };
    });
    const missed = [...refill.missed].filter(({ delivery }) => !isLeftToAttempt(delivery));
    for (const item of [...missed, ...found])
      if (!isQueuePositionAfter(item, end)) this.queueNewestDeliveryCopyForAttempt(item);
    this.horizon = end;
  }

  private needsMoreScheduledDeliveries(room: number): boolean {
    return this.horizon !== QUEUE_END_POSITION && room > 0 && this.scheduled.size <= room / 2;
  }

  private shouldReadExpressDeliveries(): boolean {
    return !this.isExpressRead && this.express.size === 0;
  }

  private queueNewestDeliveryCopyForAttempt(item: PendingDelivery): void {
    const newest = this.removeDeliveryReturningNewestCopy(item);
    (isDeliveryInExpressQueue(newest) ? this.express : this.scheduled).addPendingDelivery(newest);
  }

  /** Removes a delivery from memory. Returns the newer of the removed and the given form. */
  private removeDeliveryReturningNewestCopy(item: PendingDelivery): PendingDelivery {
    const { scheduled, express } = this;
    return pickNewestCopyOfDelivery(item, scheduled.takeDeliveryById(item.id), express.takeDeliveryById(item.id));
  }

  private addExpressDelivery(item: PendingDelivery): void {
    if (!this.mayGo(item)) return;
    if (this.express.size < MAX_EXPRESS_DELIVERIES_PER_ENDPOINT) return this.express.addPendingDelivery(item);
    this.isExpressRead = false;
    if (this.refill !== undefined) this.refill.missedExpress = true;
  }

  private addDeliveryMissedByRefill(given: PendingDelivery): void {
    const { refill } = this;
    if (refill === undefined) return;
    const item = pickNewestCopyOfDelivery(given, refill.missed.takeDeliveryById(given.id));
    if (isQueuePositionAfter(item, refill.end)) return;
    refill.missed.addPendingDelivery(item);
    if (refill.missed.size > refill.limit) refill.end = removeLastDeliveryFromWindow(refill.missed);
  }
}

function isDeliveryInExpressQueue({ delivery }: PendingDelivery): boolean {
  return delivery.queue === getExpressQueueName(delivery.endpoint_id);
}

/** Returns the newest of several forms of one delivery; the given form if none is newer. */
function pickNewestCopyOfDelivery(given: PendingDelivery, ...others: readonly (PendingDelivery | undefined)[]) {
  return others.reduce<PendingDelivery>(
    (newest, other) => (other !== undefined && other.delivery.revision > newest.delivery.revision ? other : newest),
    given,
  );
}

/** Removes the last delivery, which stays on disk. Returns the position up to which the list is complete. */
function removeLastDeliveryFromWindow(list: DeliveryQueueByDueTime): DeliveryQueuePosition {
  const dropped = list.removeAndReturnDeliveryDueLast();
  const { due, id } = list.last ?? QUEUE_START_POSITION;
  if (dropped === undefined) return { due, id };
  // Take the earlier due time: a delivery that was returned to the window is due later in memory than in the store.
  const stored = createQueuePosition(dropped.delivery);
  return isQueuePositionAfter(stored, { due, id }) ? { due, id } : { due: stored.due, id: '' };
}

/** Deliveries by due time, each once. An array, because most are added at the end and removed from the front. */
class DeliveryQueueByDueTime {
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

  addPendingDelivery(item: PendingDelivery): void {
    if (this.ids.has(item.id)) return;
    this.ids.add(item.id);
    // Fast path: most deliveries are added at the end.
    let low = 0;
    let high = this.items.length;
    const last = this.last;
    if (last === undefined || isQueuePositionAfter(item, last)) low = high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isQueuePositionAfter(item, this.items[middle] as PendingDelivery)) low = middle + 1;
      else high = middle;
    }
    this.items.splice(low, 0, item);
  }

  takeFirstDelivery(): PendingDelivery | undefined {
    return this.removeIdOfTakenItem(this.items.shift());
  }

  removeAndReturnDeliveryDueLast(): PendingDelivery | undefined {
    return this.removeIdOfTakenItem(this.items.pop());
  }

  /** Removes and returns the first delivery for which the predicate holds. */
  takeFirstMatchingDelivery(isWanted: (item: PendingDelivery) => boolean): PendingDelivery | undefined {
    const index = this.items.findIndex(isWanted);
    return index < 0 ? undefined : this.removeIdOfTakenItem(this.items.splice(index, 1)[0]);
  }

  /** Removes and returns the delivery with this id. */
  takeDeliveryById(id: string): PendingDelivery | undefined {
    return this.ids.has(id) ? this.takeFirstMatchingDelivery((item) => item.id === id) : undefined;
  }

  hasMatchingDelivery(isWanted: (item: PendingDelivery) => boolean): boolean {
    return this.items.some(isWanted);
  }

  clearDeliveryQueue(): void {
    this.items = [];
    this.ids.clear();
  }

  private removeIdOfTakenItem(item: PendingDelivery | undefined): PendingDelivery | undefined {
    if (item !== undefined) this.ids.delete(item.id);
    return item;
  }
}

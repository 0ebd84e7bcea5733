import type { DeliveryDocument } from '../store/delivery-document.ts';
import { type QueuePosition, isAfter, positionOf } from '../store/delivery-queues.ts';

/** A delivery that waits in memory for its attempt. */
export interface PendingDelivery extends QueuePosition {
  /** Without its latest attempt: answers of receivers are too large to be kept at hand. */
  readonly delivery: DeliveryDocument;
  /** When it was known to be as stored, on the process's monotonic clock. */
  readonly knownAt: number;
  /** It must not go early: it was put back and waits for `due` in memory, whatever is stored. */
  readonly isDelayed?: true;
}

export function toPending(stored: DeliveryDocument, knownAt: number): PendingDelivery {
  const { latest_attempt, ...rest } = stored;
  const delivery = latest_attempt === undefined ? stored : rest;
  return { ...positionOf(stored), delivery, knownAt };
}

/** Deliveries in the order in which they come due, each once. An array: most are added at its end and all taken from its front. */
export class PriorityQueue {
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
    // Mostly it comes last.
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

  /** Takes out the first that is wanted. */
  take(wanted: (item: PendingDelivery) => boolean): PendingDelivery | undefined {
    const index = this.items.findIndex(wanted);
    return index < 0 ? undefined : this.forget(this.items.splice(index, 1)[0]);
  }

  /** Takes out a delivery by its id. */
  remove(id: string): PendingDelivery | undefined {
    return this.ids.has(id) ? this.take((item) => item.id === id) : undefined;
  }

  some(wanted: (item: PendingDelivery) => boolean): boolean {
    return this.items.some(wanted);
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

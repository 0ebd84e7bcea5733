import type { DeliveryDocument } from '../deliveries/delivery-document.ts';

/** A place in the order in which deliveries of an endpoint come due; ties by id. */
export interface Place {
  /** Epoch milliseconds. */
  readonly due: number;
  readonly id: string;
}
export const BEGINNING: Place = { due: -Infinity, id: '' };
export const END: Place = { due: Infinity, id: '' };

export interface Waiting extends Place {
  /** Without its latest attempt: answers of receivers are too large to be kept at hand. */
  readonly delivery: DeliveryDocument;
  /** When it was known to be as stored, on the process's monotonic clock. */
  readonly knownAt: number;
}

export function isAfter(one: Place, other: Place): boolean {
  return one.due === other.due ? one.id > other.id : one.due > other.due;
}

export function placeOf({ id, due_at, created_at }: DeliveryDocument): Place {
  return { due: Date.parse(due_at ?? created_at), id };
}

export function toWaiting(stored: DeliveryDocument, knownAt: number): Waiting {
  const { latest_attempt, ...rest } = stored;
  const delivery = latest_attempt === undefined ? stored : rest;
  return { ...placeOf(stored), delivery, knownAt };
}

/** Deliveries in the order in which they come due, each once. */
export class WaitingList {
  private items: Waiting[] = [];
  private readonly ids = new Set<string>();

  get size(): number {
    return this.items.length;
  }
  get first(): Waiting | undefined {
    return this.items[0];
  }
  get last(): Waiting | undefined {
    return this.items.at(-1);
  }

  [Symbol.iterator](): Iterator<Waiting> {
    return this.items.values();
  }

  /** Drops what is stored beyond this, whenever it is due here. */
  cut(end: Place): void {
    for (const item of this.items.filter(({ delivery }) => isAfter(placeOf(delivery), end))) {
      this.take(({ id }) => id === item.id);
    }
  }

  has(id: string): boolean {
    return this.ids.has(id);
  }

  add(item: Waiting): void {
    if (this.ids.has(item.id)) return;
    this.ids.add(item.id);
    // Mostly it comes last.
    let low = 0;
    let high = this.items.length;
    const last = this.last;
    if (last === undefined || isAfter(item, last)) low = high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isAfter(item, this.items[middle] as Waiting)) low = middle + 1;
      else high = middle;
    }
    this.items.splice(low, 0, item);
  }

  shift(): Waiting | undefined {
    return this.forget(this.items.shift());
  }

  pop(): Waiting | undefined {
    return this.forget(this.items.pop());
  }

  /** Takes out the first that is wanted. */
  take(wanted: (item: Waiting) => boolean): Waiting | undefined {
    const index = this.items.findIndex(wanted);
    return index < 0 ? undefined : this.forget(this.items.splice(index, 1)[0]);
  }

  some(wanted: (item: Waiting) => boolean): boolean {
    return this.items.some(wanted);
  }

  clear(): void {
    this.items = [];
    this.ids.clear();
  }

  private forget(item: Waiting | undefined): Waiting | undefined {
    if (item !== undefined) this.ids.delete(item.id);
    return item;
  }
}

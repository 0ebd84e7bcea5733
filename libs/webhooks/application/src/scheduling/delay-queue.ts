interface Delayed<T> {
  at: number;
  readonly item: T;
  /** Its place in the heap. */
  index: number;
}

/** Calls `ring` once, `ms` milliseconds from now. The returned function cancels the call. */
export type SetTimer = (ring: () => void, ms: number) => () => void;

/** A longer timer would not notice that the clock was set or the machine slept. */
const MAX_TIMER_MS = 1_000;

/** Wakes each item at the earliest moment asked for, with one timer for all of them. Moments are epoch milliseconds. */
export class DelayQueue<T> {
  /** A binary heap by time, with one entry for each item. */
  private readonly heap: Delayed<T>[] = [];
  private readonly entries = new Map<T, Delayed<T>>();
  private cancelTimer: (() => void) | undefined;
  private timerAt = Infinity;

  /** @param now returns the present moment */
  constructor(
    private readonly now: () => number,
    private readonly wake: (item: T) => void,
    private readonly setTimer: SetTimer,
  ) {}

  /** Number of items that wait for their moment. */
  get size(): number {
    return this.heap.length;
  }

  /** Wakes the item at this moment, unless it is to be woken before. */
  at(item: T, moment: number): void {
    const known = this.entries.get(item);
    if (known !== undefined && known.at <= moment) return;
    const entry = known ?? { at: moment, item, index: this.heap.length };
    entry.at = moment;
    this.entries.set(item, entry);
    this.rise(entry);
    this.arm();
  }

  /** Cancels the item's moment. */
  remove(item: T): void {
    const entry = this.entries.get(item);
    if (entry === undefined) return;
    this.entries.delete(item);
    const last = this.heap.pop();
    if (last === undefined || last === entry) return;
    last.index = entry.index;
    this.rise(last);
    this.sink(last);
  }

  close(): void {
    this.cancelTimer?.();
    this.heap.length = 0;
    this.entries.clear();
  }

  private arm(): void {
    const [first] = this.heap;
    if (first === undefined || first.at >= this.timerAt) return;
    this.cancelTimer?.();
    this.timerAt = first.at;
    const wait = Math.max(0, Math.min(first.at - this.now(), MAX_TIMER_MS));
    this.cancelTimer = this.setTimer(() => this.ring(), wait);
  }

  private ring(): void {
    this.timerAt = Infinity;
    const now = this.now();
    const due: T[] = [];
    for (let [first] = this.heap; first !== undefined && first.at <= now; [first] = this.heap) {
      this.remove(first.item);
      due.push(first.item);
    }
    // An item that then asks for a moment that has come waits for the next timer, so that other work has its turn before.
    for (const item of due) this.wake(item);
    this.arm();
  }

  /** Moves an entry up to where its parent is not later. */
  private rise(entry: Delayed<T>): void {
    while (entry.index > 0) {
      const above = this.heap[(entry.index - 1) >> 1] as Delayed<T>;
      if (above.at <= entry.at) break;
      this.move(above, entry.index, entry);
    }
    this.heap[entry.index] = entry;
  }

  /** Moves an entry down to where its children are not earlier. */
  private sink(entry: Delayed<T>): void {
    for (;;) {
      const [left, right] = [this.heap[2 * entry.index + 1], this.heap[2 * entry.index + 2]];
      const child = right !== undefined && right.at < (left?.at ?? Infinity) ? right : left;
      if (child === undefined || child.at >= entry.at) break;
      this.move(child, entry.index, entry);
    }
    this.heap[entry.index] = entry;
  }

  /** Moves a neighbour to a place in the heap, and the entry to where that was. */
  private move(neighbour: Delayed<T>, to: number, entry: Delayed<T>): void {
    entry.index = neighbour.index;
    neighbour.index = to;
    this.heap[to] = neighbour;
  }
}

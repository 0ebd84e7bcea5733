interface Delayed<T> {
  at: number;
  readonly item: T;
  /** Where it is in the heap. */
  index: number;
}

/** Calls `ring` once, `ms` milliseconds from now. The returned function cancels that. */
export type SetTimer = (ring: () => void, ms: number) => () => void;

export const setSystemTimer: SetTimer = (ring, ms) => {
  const timer = setTimeout(ring, ms);
  return () => clearTimeout(timer);
};

/** A timer set for longer would not notice that the clock was set or the machine slept. */
const LONGEST_TIMER_MS = 1_000;

/** Wakes each item at the earliest moment asked for, with one timer for all of them. */
export class DelayQueue<T> {
  /** A binary heap by time, with one entry for each item. */
  private readonly heap: Delayed<T>[] = [];
  private readonly entries = new Map<T, Delayed<T>>();
  private cancelTimer: (() => void) | undefined;
  private timerAt = Infinity;

  /** @param now epoch milliseconds */
  constructor(
    private readonly now: () => number,
    private readonly wake: (item: T) => void,
    private readonly setTimer: SetTimer = setSystemTimer,
  ) {}

  /** Items that wait for their moment. */
  get size(): number {
    return this.heap.length;
  }

  /** @param moment epoch milliseconds */
  at(item: T, moment: number): void {
    const known = this.entries.get(item);
    if (known !== undefined && known.at <= moment) return;
    const entry = known ?? { at: moment, item, index: this.heap.length };
    entry.at = moment;
    this.entries.set(item, entry);
    this.rise(entry);
    this.arm();
  }

  /** It is not woken any more, where its moment has not come yet. */
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
    const wait = Math.max(0, Math.min(first.at - this.now(), LONGEST_TIMER_MS));
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
    // Who asks then for a moment that has come waits for the next timer: everything else in the process has its turn before.
    for (const item of due) this.wake(item);
    this.arm();
  }

  /** Puts it where its parent is not later. */
  private rise(entry: Delayed<T>): void {
    while (entry.index > 0) {
      const above = this.heap[(entry.index - 1) >> 1] as Delayed<T>;
      if (above.at <= entry.at) break;
      this.move(above, entry.index, entry);
    }
    this.heap[entry.index] = entry;
  }

  /** Puts it where its children are not earlier. */
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

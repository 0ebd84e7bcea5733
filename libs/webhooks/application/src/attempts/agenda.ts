interface Entry<T> {
  readonly at: number;
  readonly item: T;
}

/** A timer set for longer would not notice that the clock was set or the machine slept. */
const LONGEST_TIMER_MS = 1_000;

/** Wakes each item at the earliest moment asked for, with one timer for all of them. */
export class Agenda<T> {
  /** A binary heap by time. */
  private readonly heap: Entry<T>[] = [];
  /** The moment that counts; other entries of the item in the heap are stale. */
  private readonly moments = new Map<T, number>();
  private timer: NodeJS.Timeout | undefined;
  private timerAt = Infinity;

  /** @param now epoch milliseconds */
  constructor(
    private readonly now: () => number,
    private readonly wake: (item: T) => void,
  ) {}

  /** @param moment epoch milliseconds */
  at(item: T, moment: number): void {
    const known = this.moments.get(item);
    if (known !== undefined && known <= moment) return;
    this.moments.set(item, moment);
    this.push({ at: moment, item });
    this.arm();
  }

  forget(item: T): void {
    this.moments.delete(item);
  }

  close(): void {
    clearTimeout(this.timer);
    this.heap.length = 0;
    this.moments.clear();
  }

  private arm(): void {
    const first = this.heap[0];
    if (first === undefined || first.at >= this.timerAt) return;
    clearTimeout(this.timer);
    this.timerAt = first.at;
    const wait = Math.max(0, Math.min(first.at - this.now(), LONGEST_TIMER_MS));
    this.timer = setTimeout(() => this.ring(), wait);
  }

  private ring(): void {
    this.timerAt = Infinity;
    const now = this.now();
    for (let first = this.heap[0]; first !== undefined && first.at <= now; first = this.heap[0]) {
      this.pop();
      if (this.moments.get(first.item) !== first.at) continue;
      this.moments.delete(first.item);
      this.wake(first.item);
    }
    this.arm();
  }

  private push(entry: Entry<T>): void {
    let index = this.heap.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.heap[parent] as Entry<T>;
      if (above.at <= entry.at) break;
      this.heap[index] = above;
      index = parent;
    }
    this.heap[index] = entry;
  }

  private pop(): void {
    const last = this.heap.pop();
    const size = this.heap.length;
    if (last === undefined || size === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= size) break;
      if (child + 1 < size && this.time(child + 1) < this.time(child)) child += 1;
      if (this.time(child) >= last.at) break;
      this.heap[index] = this.heap[child] as Entry<T>;
      index = child;
    }
    this.heap[index] = last;
  }

  private time(index: number): number {
    return this.heap[index]?.at ?? Infinity;
  }
}

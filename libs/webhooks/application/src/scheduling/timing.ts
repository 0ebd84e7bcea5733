import { RoundRobin } from './fair-scheduler.ts';

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
  schedule(item: T, moment: number): void {
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
    this.cancelTimer = this.setTimer(() => this.fire(), wait);
  }

  private fire(): void {
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

/** How an event loop has spent its time: both values only grow. In milliseconds. */
export interface LoopTime {
  readonly elapsed: number;
  /** The part of `elapsed` without anything to do. */
  readonly idle: number;
}

/** An endpoint whose attempts may have to wait for spare time. */
export interface PacedEndpoint {
  readonly workspace: string;
  /** True if its next attempt is made in spare time only. */
  readonly isPaced: boolean;
  readonly isFailing: boolean;
}

/** The price of an attempt in time of loop and engine, in milliseconds: more than it takes, so that others keep the rest. */
export const ATTEMPT_MS = 2;
/** The price of an attempt at an endpoint that keeps failing: more attempts would reveal no more. */
const PROBE_MS = 4;
/** The price of up to 8 deliveries that a replay takes at a time: less for each than an attempt that may hang. */
const REPLAY_MS = 6;

/**
 * Endpoints that fail, deliveries that piled up meanwhile, and replays have their turn in the time that the event loop can
 * spare: at once if there is plenty, and later, in turn, if others keep the loop busy.
 */
export class Pacing<E extends PacedEndpoint> {
  private readonly spare: SpareTime;
  private readonly waiting = new RoundRobin<E>();

  constructor(now: LoopTime) {
    this.spare = new SpareTime(now);
  }

  /** True if endpoints wait for spare time. */
  get isAwaited(): boolean {
    return !this.waiting.isEmpty;
  }

  /** Returns true if its next attempt may begin now. Otherwise {@link next} returns the endpoint later. */
  admits(endpoint: E, now: LoopTime): boolean {
    if (!endpoint.isPaced) return true;
    return this.trySpend(endpoint, endpoint.isFailing ? PROBE_MS : ATTEMPT_MS, now);
  }

  /** Returns true if its replay may take deliveries now. Otherwise {@link next} returns the endpoint later. */
  admitsReplay(endpoint: E, now: LoopTime): boolean {
    return this.trySpend(endpoint, REPLAY_MS, now);
  }

  /** Removes and returns the next endpoint that waits, if there is time to spare. */
  next(now: LoopTime): E | undefined {
    if (!this.spare.isEnough(now)) return undefined;
    return this.waiting.next(
      () => 1,
      () => 0,
    );
  }

  remove(endpoint: E): void {
    this.waiting.remove(endpoint.workspace, endpoint);
  }

  private trySpend(endpoint: E, price: number, now: LoopTime): boolean {
    if (this.spare.spend(price, now)) return true;
    this.waiting.add(endpoint.workspace, endpoint);
    return false;
  }
}

/** The part of all time that can be spent even if the loop is never idle, so that no endpoint waits for ever. */
const MIN_SPARE_SHARE = 0.05;
/** Most time saved, in milliseconds: spent at once, it is what others wait for. */
const MAX_SAVED_MS = 10 * ATTEMPT_MS;

/** The time that the event loop can spare: as long as it was idle, and a small part of all time. */
export class SpareTime {
  private saved = MAX_SAVED_MS;

  constructor(private known: LoopTime) {}

  /** Returns true if there is enough for an attempt. */
  isEnough(now: LoopTime): boolean {
    this.saved += now.idle - this.known.idle + MIN_SPARE_SHARE * (now.elapsed - this.known.elapsed);
    this.saved = Math.min(MAX_SAVED_MS, this.saved);
    this.known = now;
    return this.saved >= ATTEMPT_MS;
  }

  /** Spends this many milliseconds if there is enough for an attempt. The time to come pays off a higher price. */
  spend(price: number, now: LoopTime): boolean {
    if (!this.isEnough(now)) return false;
    this.saved -= price;
    return true;
  }
}

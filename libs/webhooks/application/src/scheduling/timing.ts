import { RoundRobin } from './fair-scheduler.ts';
import type { ProcessClock } from './steady-time.ts';

interface DelayedItem<T> {
  at: number;
  readonly item: T;
  /** Index of the entry in the heap. */
  index: number;
}

/** Calls `ring` once, after `ms` milliseconds. The returned function cancels the call. */
export type SetTimer = (ring: () => void, ms: number) => () => void;

/** Longest timer, in milliseconds. A longer timer would notice too late that the clock was set or the machine slept. */
const MAX_TIMER_DURATION_MS = 1_000;

/**
 * Wakes each item at the earliest requested time, with one timer for all items. A step of the wall clock wakes all
 * items. Times are those of this process.
 */
export class DelayQueue<T> {
  /** Binary heap ordered by time, with one entry for each item. */
  private readonly heap: DelayedItem<T>[] = [];
  private readonly entries = new Map<T, DelayedItem<T>>();
  private cancelTimer: (() => void) | undefined;
  private timerAt = Infinity;
  private knownSteps: number;

  constructor(
    private readonly time: Pick<ProcessClock, 'now' | 'steps'>,
    private readonly wake: (item: T) => void,
    private readonly setTimer: SetTimer,
  ) {
    this.knownSteps = time.steps;
  }

  /** Number of items that wait to be woken. */
  get size(): number {
    return this.heap.length;
  }

  /** Schedules the item to be woken at this time, unless it is already scheduled earlier. */
  scheduleItem(item: T, moment: number): void {
    const known = this.entries.get(item);
    if (known !== undefined && known.at <= moment) return;
    const entry = known ?? { at: moment, item, index: this.heap.length };
    entry.at = moment;
    this.entries.set(item, entry);
    this.siftUp(entry);
    this.scheduleTimerForFirstDueItem();
  }

  /** Cancels the item's wake-up. */
  cancelWakeUpOfItem(item: T): void {
    const entry = this.entries.get(item);
    if (entry === undefined) return;
    this.entries.delete(item);
    const last = this.heap.pop();
    if (last === undefined || last === entry) return;
    last.index = entry.index;
    this.siftUp(last);
    this.siftDown(last);
  }

  closeDelayQueue(): void {
    this.cancelTimer?.();
    this.heap.length = 0;
    this.entries.clear();
  }

  private scheduleTimerForFirstDueItem(): void {
    const [first] = this.heap;
    if (first === undefined || first.at >= this.timerAt) return;
    this.cancelTimer?.();
    this.timerAt = first.at;
    const wait = Math.max(0, Math.min(first.at - this.time.now(), MAX_TIMER_DURATION_MS));
    this.cancelTimer = this.setTimer(() => this.wakeDueItems(), wait);
  }

  private wakeDueItems(): void {
    this.timerAt = Infinity;
    const now = this.time.now();
    // After a step, stored times correspond to other times of this process, so every item is woken.
    const until = this.time.steps === this.knownSteps ? now : Infinity;
    this.knownSteps = this.time.steps;
    const due: T[] = [];
    for (let [first] = this.heap; first !== undefined && first.at <= until; [first] = this.heap) {
      this.cancelWakeUpOfItem(first.item);
      due.push(first.item);
    }
    // An item that is scheduled again for a past time waits for the next timer, so that other work gets its turn.
    for (const item of due) this.wake(item);
    this.scheduleTimerForFirstDueItem();
  }

  /** Moves an entry up the heap until its parent is not later. */
  private siftUp(entry: DelayedItem<T>): void {
    while (entry.index > 0) {
      const above = this.heap[(entry.index - 1) >> 1] as DelayedItem<T>;
      if (above.at <= entry.at) break;
      this.swapEntries(above, entry.index, entry);
    }
    this.heap[entry.index] = entry;
  }

  /** Moves an entry down the heap until its children are not earlier. */
  private siftDown(entry: DelayedItem<T>): void {
    for (;;) {
      const [left, right] = [this.heap[2 * entry.index + 1], this.heap[2 * entry.index + 2]];
      const child = right !== undefined && right.at < (left?.at ?? Infinity) ? right : left;
      if (child === undefined || child.at >= entry.at) break;
      this.swapEntries(child, entry.index, entry);
    }
    this.heap[entry.index] = entry;
  }

  /** Swaps an entry with its neighbor in the heap. */
  private swapEntries(neighbour: DelayedItem<T>, to: number, entry: DelayedItem<T>): void {
    entry.index = neighbour.index;
    neighbour.index = to;
    this.heap[to] = neighbour;
  }
}

/** Time that an event loop has run and been idle, in milliseconds. Both values only increase. */
export interface EventLoopTime {
  readonly elapsed: number;
  /** Idle part of `elapsed`. */
  readonly idle: number;
}

/** An endpoint whose attempts may be delayed until the process has spare time. */
export interface EndpointLimitedToSpareCapacity {
  readonly workspace: string;
  /** True if the next attempt is made in spare time only. */
  readonly isPaced: boolean;
  readonly isFailing: boolean;
}

/** Spare time charged for an attempt, in milliseconds. Higher than the real cost, so that other work has time left. */
export const SPARE_TIME_CHARGED_PER_ATTEMPT_MS = 2;
/**
 * Spare time charged for a probe of a failing endpoint, in milliseconds. Higher than for an attempt, because frequent
 * probes reveal nothing new.
 */
const SPARE_TIME_CHARGED_PER_PROBE_MS = 4;
/**
 * Spare time charged for up to 8 deliveries that a replay takes at a time, in milliseconds. Less for each delivery than
 * for an attempt, because an attempt may hang.
 */
const SPARE_TIME_CHARGED_PER_REPLAY_TURN_MS = 6;

/**
 * Runs failing endpoints, their backlogs and replays in the event loop's spare time: immediately if there is enough,
 * otherwise later and in turn.
 */
export class SpareTimePacing<E extends EndpointLimitedToSpareCapacity> {
  private readonly spare: EventLoopSpareTimeBudget;
  private readonly waiting = new RoundRobin<E>();

  constructor(now: EventLoopTime) {
    this.spare = new EventLoopSpareTimeBudget(now);
  }

  /** True if endpoints wait for spare time. */
  get isAwaited(): boolean {
    return !this.waiting.isEmpty;
  }

  /**
   * Returns true if the endpoint's next attempt may begin now. If not, {@link takeNextWaitingEndpoint} returns the
   * endpoint later.
   */
  tryReserveSpareTimeForAttempt(endpoint: E, now: EventLoopTime): boolean {
    if (!endpoint.isPaced) return true;
    return this.trySpendTimeOrQueueEndpoint(
      endpoint,
      endpoint.isFailing ? SPARE_TIME_CHARGED_PER_PROBE_MS : SPARE_TIME_CHARGED_PER_ATTEMPT_MS,
      now,
    );
  }

  /**
   * Returns true if the endpoint's replay may take deliveries now. If not, {@link takeNextWaitingEndpoint} returns the
   * endpoint later.
   */
  canReplayTakeTurn(endpoint: E, now: EventLoopTime): boolean {
    return this.trySpendTimeOrQueueEndpoint(endpoint, SPARE_TIME_CHARGED_PER_REPLAY_TURN_MS, now);
  }

  /** Removes and returns the next waiting endpoint, if there is spare time. */
  takeNextWaitingEndpoint(now: EventLoopTime): E | undefined {
    if (!this.spare.hasSpareEventLoopTimeForAttempt(now)) return undefined;
    return this.waiting.takeNextMember(
      () => 1,
      () => 0,
    );
  }

  removeWaitingEndpoint(endpoint: E): void {
    this.waiting.removeRoundRobinMember(endpoint.workspace, endpoint);
  }

  private trySpendTimeOrQueueEndpoint(endpoint: E, price: number, now: EventLoopTime): boolean {
    if (this.spare.trySpendTime(price, now)) return true;
    this.waiting.enqueueGroupMember(endpoint.workspace, endpoint);
    return false;
  }
}

/** Share of time that counts as spare even if the event loop is never idle, so that no endpoint waits forever. */
const SPARE_TIME_SHARE_WHEN_NEVER_IDLE = 0.05;
/** Most spare time saved, in milliseconds. If all of it is spent at once, other work waits for this time. */
const MAX_SPARE_TIME_MS = 10 * SPARE_TIME_CHARGED_PER_ATTEMPT_MS;

/** Spare time of the event loop: its idle time, and a small part of all time. */
export class EventLoopSpareTimeBudget {
  private saved = MAX_SPARE_TIME_MS;

  constructor(private known: EventLoopTime) {}

  /** Returns true if there is enough spare time for an attempt. */
  hasSpareEventLoopTimeForAttempt(now: EventLoopTime): boolean {
    this.saved += now.idle - this.known.idle + SPARE_TIME_SHARE_WHEN_NEVER_IDLE * (now.elapsed - this.known.elapsed);
    this.saved = Math.min(MAX_SPARE_TIME_MS, this.saved);
    this.known = now;
    return this.saved >= SPARE_TIME_CHARGED_PER_ATTEMPT_MS;
  }

  /**
   * Spends this many milliseconds if there is enough spare time for an attempt. A higher price is paid off by future
   * spare time.
   */
  trySpendTime(price: number, now: EventLoopTime): boolean {
    if (!this.hasSpareEventLoopTimeForAttempt(now)) return false;
    this.saved -= price;
    return true;
  }
}

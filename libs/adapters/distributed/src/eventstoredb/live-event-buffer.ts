import type { Position, StoredEvent } from '@tracking/ports';
import { later, matches, type LogEntry, type LogSlice } from './stored-event.ts';

/** The newest events of the log, kept in memory so that all live readers of the process take them from one subscription. */
export class LiveEventBuffer {
  private events: StoredEvent[] = [];
  private end: Position;
  private wake!: () => void;
  private isWaking = false;
  /** Resolves when something was added, or `notify` called. */
  changed!: Promise<void>;

  /**
   * @param start everything after it will be added
   * @param capacity most events kept, at least; up to twice as many
   */
  constructor(
    private start: Position,
    private readonly capacity: number,
  ) {
    this.end = start;
    this.notify();
  }

  /** Of the last entry of the log that was added. */
  get last(): Position {
    return this.end;
  }

  /** Adds what follows in the log; what was added before is left out. */
  push({ position, event }: LogEntry): void {
    if (position <= this.end) return;
    this.end = position;
    if (event !== undefined) this.events.push(event);
    // In large steps: each moves what stays.
    const surplus = this.events.length - this.capacity;
    if (surplus >= this.capacity) this.start = this.events.splice(0, surplus).at(-1)?.position ?? this.start;
    // Readers are woken once for all that one piece of the network's data brings.
    if (!this.isWaking) setImmediate(() => this.notify());
    this.isWaking = true;
  }

  /** Whether everything after this position is here. */
  covers(position: Position): boolean {
    return position >= this.start;
  }

  /** The events after a position that `covers` confirmed, at most `limit` of those that match, and how far that reaches. */
  after(position: Position, prefixes: readonly string[], limit: number): LogSlice {
    const matching: StoredEvent[] = [];
    for (let at = this.indexAfter(position); at < this.events.length; at += 1) {
      const event = this.events[at];
      if (event === undefined || !matches(event, prefixes)) continue;
      matching.push(event);
      if (matching.length >= limit) return { events: matching, position: event.position };
    }
    return { events: matching, position: later(position, this.end) };
  }

  notify(): void {
    this.isWaking = false;
    this.wake?.();
    this.changed = new Promise((resolve) => (this.wake = resolve));
  }

  private indexAfter(position: Position): number {
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.events[middle]?.position ?? '') > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

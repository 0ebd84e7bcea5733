import type { StoredEvent } from '@tracking/ports';
import { Signal } from './signal.ts';

/** The newest events of the store, kept in memory so that live readers read nothing back. */
export class LiveTail {
  private events: StoredEvent[] = [];
  /** When something was added, or whoever waits for that should look again. */
  readonly signal = new Signal();

  /**
   * @param head position of the last event stored so far
   * @param capacity most events kept
   */
  constructor(
    private head: number,
    private readonly capacity: number,
  ) {}

  get last(): number {
    return this.head;
  }

  /** Adds the events at the positions that follow the last one. */
  push(events: readonly StoredEvent[]): void {
    for (const event of events) this.events.push(event);
    this.head += events.length;
    // In large steps: each moves what stays.
    if (this.events.length >= 2 * this.capacity) this.events = this.events.slice(-this.capacity);
    this.signal.notify();
  }

  /** Whether everything after this position is here. */
  covers(position: number): boolean {
    return position >= this.head - this.events.length;
  }

  /** The events after a position that `covers` confirmed, at most `limit` of those that match, and how far that reaches. */
  after(position: number, prefixes: readonly string[], limit: number): { events: StoredEvent[]; position: number } {
    const matching: StoredEvent[] = [];
    let at = position;
    while (at < this.head && matching.length < limit) {
      const event = this.events[this.events.length - (this.head - at)];
      if (event !== undefined && prefixes.some((prefix) => event.stream.startsWith(prefix))) matching.push(event);
      at += 1;
    }
    return { events: matching, position: at };
  }
}

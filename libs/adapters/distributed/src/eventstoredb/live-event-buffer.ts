import { bytesOf, type Position, type StoredEvent } from '@tracking/ports';
import { later, matches, type LogEntry, type LogSlice } from './stored-event.ts';

/** Most bytes of events kept, as JSON. */
const MAX_BYTES = 32 * 1_048_576;

/** The newest events of the log, kept in memory so that all live readers of the process take them from one subscription. */
export class LiveEventBuffer {
  private events: StoredEvent[] = [];
  /** Size of each of the events. */
  private sizes: number[] = [];
  private bytes = 0;
  private end: Position;
  private wake!: () => void;
  private isWaking = false;
  /** Resolves when something was added, or `notify` called. */
  changed!: Promise<void>;

  /**
   * @param start everything after it will be added
   * @param capacity most events kept, at least, unless they are too large; up to twice as many
   * @param maxBytes most bytes kept; the newest half stays when they are exceeded
   */
  constructor(
    private start: Position,
    private readonly capacity: number,
    private readonly maxBytes = MAX_BYTES,
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
    if (event !== undefined) this.add(event);
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

  private add(event: StoredEvent): void {
    const size = bytesOf(event);
    this.events.push(event);
    this.sizes.push(size);
    this.bytes += size;
    if (this.events.length < 2 * this.capacity && this.bytes <= this.maxBytes) return;
    // In large steps: each moves what stays.
    let surplus = Math.max(0, this.events.length - this.capacity);
    let left = this.bytes - sum(this.sizes.slice(0, surplus));
    for (; left > this.maxBytes / 2; surplus += 1) left -= this.sizes[surplus] ?? left;
    this.start = this.events.splice(0, surplus).at(-1)?.position ?? this.start;
    this.sizes.splice(0, surplus);
    this.bytes = left;
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

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

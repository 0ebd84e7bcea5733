import { computeEventBytes, type Position, type StoredEvent } from '@tracking/ports';
import { chooseLaterLogPosition, type EventLogEntry, type EventLogSlice, hasStreamPrefix } from './log-reads.ts';

/** Maximum size of the buffered events, in bytes of JSON. */
const MAX_EVENT_BUFFER_BYTES = 32 * 1_048_576;

/** A reader that has read all buffered events. */
interface ReaderWaitingForEvents {
  /** Position that the reader has reached. */
  position: Position;
  readonly prefixes: readonly string[];
  readonly onSkipped: (position: Position) => void;
  /** Returns true if the reader has stopped. */
  readonly hasStopped: () => boolean;
  readonly proceed: () => void;
}

/** The newest events of the log in memory, so that all live readers of the process share one subscription. */
export class LiveEventBuffer {
  private events: StoredEvent[] = [];
  /** Size in bytes of each buffered event, in the order of the buffer. */
  private sizes: number[] = [];
  private bytes = 0;
  private end: Position;
  private wake!: () => void;
  private isWaking = false;
  /** Readers that sleep until an event matches. */
  private readonly waiting = new Set<ReaderWaitingForEvents>();
  /** Resolves when an entry is added or `notifyReaders` is called. */
  changed!: Promise<void>;

  /**
   * @param start position after which all entries will be added
   * @param capacity minimum number of kept events, unless they are too large; the maximum is twice as many
   * @param maxBytes maximum size of kept events; when it is exceeded, the newest half stays
   */
  constructor(
    private start: Position,
    private readonly capacity: number,
    private readonly maxBytes = MAX_EVENT_BUFFER_BYTES,
  ) {
    this.end = start;
    this.notifyReaders();
  }

  /** Position of the last entry of the log that was added. */
  get last(): Position {
    return this.end;
  }

  /** Adds the next entry of the log. Entries that were added before are ignored. */
  bufferLiveEventLogEntry({ position, event }: EventLogEntry): void {
    if (position <= this.end) return;
    this.end = position;
    if (event !== undefined) this.bufferLiveEvent(event);
    // The buffer wakes its readers once for all entries that arrive together.
    if (!this.isWaking) setImmediate(() => this.notifyReaders());
    this.isWaking = true;
  }

  /** Returns true if the buffer has all entries after the position. */
  hasBufferedAllEventsAfter(position: Position): boolean {
    return position >= this.start;
  }

  /** Returns up to `limit` matching events after a covered position, and the position that they reach. */
  readEventsAfter(position: Position, prefixes: readonly string[], limit: number): EventLogSlice {
    const matching: StoredEvent[] = [];
    for (let at = this.findIndexOfEventAfterPosition(position); at < this.events.length; at += 1) {
      const event = this.events[at];
      if (event === undefined || !hasStreamPrefix(event, prefixes)) continue;
      matching.push(event);
      if (matching.length >= limit) return { events: matching, position: event.position };
    }
    return { events: matching, position: chooseLaterLogPosition(position, this.end) };
  }

  /**
   * Resolves when an event after the position matches, or the reader stops.
   * @param position position that the reader has reached
   * @param onSkipped called with each position up to which no event matches
   * @returns the position up to which no event matches
   */
  async waitForMatchingEvent(
    position: Position,
    { prefixes, onSkipped, hasStopped }: Pick<ReaderWaitingForEvents, 'prefixes' | 'onSkipped' | 'hasStopped'>,
  ): Promise<Position> {
    const { promise, resolve: proceed } = Promise.withResolvers<void>();
    const reader: ReaderWaitingForEvents = { position, prefixes, onSkipped, hasStopped, proceed };
    this.waiting.add(reader);
    this.skipReaderOverUnmatchedEvents(reader);
    await promise;
    return reader.position;
  }

  notifyReaders(): void {
    this.isWaking = false;
    this.wake?.();
    this.changed = new Promise((resolve) => (this.wake = resolve));
    for (const reader of this.waiting) this.skipReaderOverUnmatchedEvents(reader);
  }

  /** Moves a waiting reader over events that do not match. Ends its wait at the first one that matches. */
  private skipReaderOverUnmatchedEvents(reader: ReaderWaitingForEvents): void {
    const { position, prefixes } = reader;
    if (
      reader.hasStopped() ||
      !this.hasBufferedAllEventsAfter(position) ||
      this.hasMatchingEventAfter(position, prefixes)
    ) {
      this.waiting.delete(reader);
      reader.proceed();
    } else if (this.end > position) {
      reader.position = this.end;
      reader.onSkipped(this.end);
    }
  }

  private hasMatchingEventAfter(position: Position, prefixes: readonly string[]): boolean {
    for (let at = this.events.length - 1; at >= 0; at -= 1) {
      const event = this.events[at];
      if (event === undefined || event.position <= position) return false;
      if (hasStreamPrefix(event, prefixes)) return true;
    }
    return false;
  }

  private bufferLiveEvent(event: StoredEvent): void {
    const size = computeEventBytes(event);
    this.events.push(event);
    this.sizes.push(size);
    this.bytes += size;
    if (this.events.length < 2 * this.capacity && this.bytes <= this.maxBytes) return;
    // The buffer removes many events at once, because each removal moves the remaining events in memory.
    let surplus = Math.max(0, this.events.length - this.capacity);
    let left = this.bytes - sumOfNumbers(this.sizes.slice(0, surplus));
    for (; left > this.maxBytes / 2; surplus += 1) left -= this.sizes[surplus] ?? left;
    this.start = this.events.splice(0, surplus).at(-1)?.position ?? this.start;
    this.sizes.splice(0, surplus);
    this.bytes = left;
  }

  private findIndexOfEventAfterPosition(position: Position): number {
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

function sumOfNumbers(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

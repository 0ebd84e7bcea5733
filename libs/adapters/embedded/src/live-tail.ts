export interface LogTailCacheLimits {
  /** Minimum number of newest items to keep, unless the items are large. The tail keeps at most twice as many. */
  readonly items: number;
  /** Number of characters of text to keep. The tail keeps at most twice as many. */
  readonly characters: number;
}

interface SizedLiveTailItem<T> {
  readonly item: T;
  readonly characters: number;
}

/**
 * Keeps the newest items of a log without position gaps in memory, so that readers near the end need not read the file.
 */
export class LogTailCache<T> {
  private entries: SizedLiveTailItem<T>[] = [];
  private characters = 0;
  /** Notifies waiting readers of new items, or of a reason to check again. */
  readonly signal = new ChangeSignal();

  /** @param head position of the last stored item */
  constructor(
    private head: number,
    private readonly limits: LogTailCacheLimits,
  ) {}

  get last(): number {
    return this.head;
  }

  /** Adds items at the positions after the last one. */
  appendItemsToTail(entries: readonly SizedLiveTailItem<T>[]): void {
    for (const entry of entries) {
      this.entries.push(entry);
      this.characters += entry.characters;
    }
    this.head += entries.length;
    const { items, characters } = this.limits;
    // The tail drops many items at once, because each removal moves the remaining items in memory.
    if (this.entries.length >= 2 * items || this.characters >= 2 * characters) this.dropEventsOverLimits();
    this.signal.notifyWaiters();
  }

  /** Returns true if all items after the position are in memory. */
  hasAllItemsInMemoryAfter(position: number): boolean {
    return position >= this.head - this.entries.length;
  }

  /**
   * Returns wanted items after a position for which `hasAllItemsInMemoryAfter` returned true, at most `limit`, and the
   * position reached.
   */
  listCachedItemsAfterPosition(
    position: number,
    limit: number,
    isWanted: (item: T) => boolean,
  ): { items: T[]; position: number } {
    const items: T[] = [];
    let at = position;
    while (at < this.head && items.length < limit) {
      const entry = this.entries[this.entries.length - (this.head - at)];
      if (entry !== undefined && isWanted(entry.item)) items.push(entry.item);
      at += 1;
    }
    return { items, position: at };
  }

  /** Drops all items. Call it when stored items were deleted, which must no longer be returned. */
  dropAllBufferedItems(): void {
    this.entries = [];
    this.characters = 0;
  }

  private dropEventsOverLimits(): void {
    const { items, characters } = this.limits;
    let dropped = 0;
    while (this.entries.length - dropped > items || this.characters > characters) {
      this.characters -= this.entries[dropped]?.characters ?? 0;
      dropped += 1;
    }
    this.entries = this.entries.slice(dropped);
  }
}

/**
 * Wakes all waiting readers, like a condition variable (`WakeUpSignal` supports one). Get `changed` before checking the
 * condition and await it afterwards, so that a change in between is not missed.
 */
export class ChangeSignal {
  private resolve!: () => void;
  /** Resolves at the next `notifyWaiters`. */
  changed!: Promise<void>;

  constructor() {
    this.renewChangePromise();
  }

  notifyWaiters(): void {
    this.resolve();
    this.renewChangePromise();
  }

  private renewChangePromise(): void {
    this.changed = new Promise((resolve) => (this.resolve = resolve));
  }
}

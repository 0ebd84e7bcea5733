export interface TailLimits {
  /** Newest items kept, at least where they are small; up to twice as many. */
  readonly items: number;
  /** Characters of all their texts together; up to twice as many. */
  readonly characters: number;
}

interface TailItem<T> {
  readonly item: T;
  readonly characters: number;
}

/** The newest items of a log without gaps in its positions, in memory: readers that keep up read nothing from the file. */
export class LiveTail<T> {
  private entries: TailItem<T>[] = [];
  private characters = 0;
  /** Something was added, or whoever waits for that should look again. */
  readonly signal = new ChangeSignal();

  /** @param head position of the last item stored so far */
  constructor(
    private head: number,
    private readonly limits: TailLimits,
  ) {}

  get last(): number {
    return this.head;
  }

  /** Adds the items at the positions that follow the last one. */
  push(entries: readonly TailItem<T>[]): void {
    for (const entry of entries) {
      this.entries.push(entry);
      this.characters += entry.characters;
    }
    this.head += entries.length;
    const { items, characters } = this.limits;
    // In large steps: each moves what stays.
    if (this.entries.length >= 2 * items || this.characters >= 2 * characters) this.shorten();
    this.signal.notify();
  }

  /** Whether everything after this position is here. */
  covers(position: number): boolean {
    return position >= this.head - this.entries.length;
  }

  /** The items after a position that `covers` confirmed, at most `limit` of those wanted, and how far that reaches. */
  after(position: number, limit: number, isWanted: (item: T) => boolean): { items: T[]; position: number } {
    const items: T[] = [];
    let at = position;
    while (at < this.head && items.length < limit) {
      const entry = this.entries[this.entries.length - (this.head - at)];
      if (entry !== undefined && isWanted(entry.item)) items.push(entry.item);
      at += 1;
    }
    return { items, position: at };
  }

  /** For when stored items were deleted: they must not be handed out any more. */
  clear(): void {
    this.entries = [];
    this.characters = 0;
  }

  private shorten(): void {
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
 * Wakes all who wait for a change, as a condition variable does (`WakeUp` has one waiter). Take `changed` before looking
 * and await it when there was nothing: then a change in between is not missed.
 */
export class ChangeSignal {
  private resolve!: () => void;
  /** Resolves at the next `notify`. */
  changed!: Promise<void>;

  constructor() {
    this.arm();
  }

  notify(): void {
    this.resolve();
    this.arm();
  }

  private arm(): void {
    this.changed = new Promise((resolve) => (this.resolve = resolve));
  }
}

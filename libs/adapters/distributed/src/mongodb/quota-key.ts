import type { Clock, Collection, QuotaDecision } from '@tracking/ports';

export const UNREACHABLE = Symbol('the store cannot be reached');
/** How long a copy of the record may be that says there is nothing left: bounds the reads that refusals cost. */
const REFUSAL_CACHE_MS = 100;
/**
 * Buckets of one second that count: the present one and the 60 before it. With one fewer, what was taken at the
 * beginning of a bucket and what is taken at the end of its successor a minute later would pass as a minute apart.
 */
const BUCKETS = 61;

/** Requests that all processes together took under one key. */
export interface QuotaRecord extends SlidingMinute {
  readonly id: string;
  /** Grows with every write; the guard of the next. */
  readonly version: number;
}

/** Runs an operation on the records, unless the store cannot be reached. */
type RunOnStore = <R>(operation: (records: Collection<QuotaRecord>) => Promise<R>) => Promise<R | typeof UNREACHABLE>;

/**
 * One key, as this process sees it. It reserves some of the limit in the shared record, ahead of the requests; what is
 * reserved in a second is admitted in that second or given back, so that a request never counts longer ago than it was.
 */
export class QuotaKey {
  /** The record as it was last seen in the store. */
  private stored: QuotaRecord | undefined;
  private storedAt = -Infinity;
  /** Changes that the store does not have yet: taken while it was away, or to be given back (negative). */
  private pending: readonly { readonly second: number; readonly by: number }[] = [];
  /** Reserved and not yet admitted, in the newest second. */
  private spare = 0;
  /** The minute with all that is pending. */
  private minute: SlidingMinute = emptyMinute(0);
  private turn: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  constructor(
    private readonly id: string,
    private readonly clock: Clock,
    private readonly onStore: RunOnStore,
  ) {}

  /** Whether it holds nothing that a new one would not learn from the store. */
  get idle(): boolean {
    return this.waiting === 0 && this.spare === 0 && this.pending.length === 0 && taken(this.now()) === 0;
  }

  take(limit: number): Promise<QuotaDecision> {
    return this.inTurn(() => this.decide(limit));
  }

  /** Gives back what was reserved and not admitted in a second that is over, or in any at the end. */
  giveBack(atTheEnd = false): Promise<void> {
    return this.inTurn(async () => {
      this.now();
      if (atTheEnd) this.returnSpare();
      while (this.pending.length > 0 && (await this.write(this.minute)) === 'conflict') await this.read();
    });
  }

  private inTurn<R>(work: () => Promise<R>): Promise<R> {
    this.waiting += 1;
    const done = this.turn.then(work).finally(() => (this.waiting -= 1));
    this.turn = done.catch(() => undefined);
    return done;
  }

  private async decide(limit: number): Promise<QuotaDecision> {
    if (this.stored === undefined) await this.read();
    while (!this.admit(limit)) {
      const used = taken(this.now());
      if (used < limit) await this.reserve(Math.min(limit - used, Math.max(1, Math.floor(limit / 100), this.waiting)));
      else if (this.clock().getTime() - this.storedAt < REFUSAL_CACHE_MS) return this.decision(limit, false);
      else if (!(await this.read())) return this.decision(limit, false);
    }
    return this.decision(limit, true);
  }

  private admit(limit: number): boolean {
    const used = taken(this.now()) - this.spare;
    if (this.spare === 0 || used >= limit) return false;
    this.spare -= 1;
    return true;
  }

  /** Where the store cannot be reached, this process counts locally, and tells the store later. */
  private async reserve(count: number): Promise<void> {
    const { newest } = this.now();
    const outcome = await this.write(changed(this.minute, newest, count));
    if (outcome === 'conflict') return void (await this.read());
    if (outcome === 'unknown') this.plan(newest, count);
    this.spare = count;
  }

  /** The minute as it is now. What was reserved in an earlier second is no longer there to be admitted. */
  private now(): SlidingMinute {
    const second = this.second();
    if (movedTo(this.minute, second).newest !== this.minute.newest) this.returnSpare();
    this.minute = movedTo(this.minute, second);
    return this.minute;
  }

  private returnSpare(): void {
    if (this.spare > 0) this.plan(this.minute.newest, -this.spare);
    this.spare = 0;
  }

  private plan(second: number, by: number): void {
    this.pending = [...this.pending, { second, by }];
    this.minute = changed(this.minute, second, by);
  }

  /** Answers whether the store could be reached. */
  private async read(): Promise<boolean> {
    const stored = await this.onStore((records) => records.get(this.id));
    if (stored === UNREACHABLE) return false;
    this.saw(stored);
    return true;
  }

  private async write(minute: SlidingMinute): Promise<'done' | 'conflict' | 'unknown'> {
    const version = this.stored?.version;
    const record: QuotaRecord = { id: this.id, version: (version ?? 0) + 1, ...minute };
    const done = await this.onStore((records) =>
      version === undefined ? records.insert(record) : records.replace(record, { version }),
    );
    if (done === false) return 'conflict';
    // Perhaps written. To give back twice would be to exceed the limit, to take twice is not.
    this.pending = done === UNREACHABLE ? this.pending.filter(({ by }) => by > 0) : [];
    if (done === UNREACHABLE) return 'unknown';
    this.saw(record);
    return 'done';
  }

  private saw(stored: QuotaRecord | undefined): void {
    const second = this.second();
    this.stored = stored;
    this.storedAt = this.clock().getTime();
    const { newest, counts } = movedTo(stored ?? emptyMinute(second), second);
    if (newest !== this.minute.newest) this.returnSpare();
    this.minute = this.pending.reduce<SlidingMinute>((minute, { second: at, by }) => changed(minute, at, by), {
      newest,
      counts,
    });
  }

  private second(): number {
    return Math.floor(this.clock().getTime() / 1_000);
  }

  private decision(limit: number, admitted: boolean): QuotaDecision {
    const now = this.clock().getTime() / 1_000;
    const next = freeAt(this.minute, limit - 1) ?? now;
    return {
      admitted,
      limit,
      remaining: Math.max(0, limit - taken(this.minute) + this.spare),
      resetAt: freeAt(this.minute, 0) ?? Math.floor(now),
      retryAfter: admitted ? 0 : Math.max(1, Math.ceil(next - now)),
    };
  }
}

/** Requests taken in the last minute, by second. */
interface SlidingMinute {
  /** Epoch second of the newest bucket. */
  readonly newest: number;
  /** By epoch second modulo `BUCKETS`. */
  readonly counts: readonly number[];
}

export function emptyMinute(second: number): SlidingMinute {
  return { newest: second, counts: Array.from({ length: BUCKETS }, () => 0) };
}

/** How many were taken, over all buckets. */
export function taken(minute: SlidingMinute): number {
  return minute.counts.reduce((sum, count) => sum + count, 0);
}

/**
 * Makes `second` the newest bucket, and empties those that it leaves a minute behind. A second that lies a little in the
 * past changes nothing: another process's clock is ahead. One that lies far in the past means that the clock was set
 * back: what was taken then counts as taken just now, and so for a minute at most.
 */
export function movedTo(minute: SlidingMinute, second: number): SlidingMinute {
  const { newest } = minute;
  if (second <= newest && second > newest - BUCKETS) return minute;
  if (second < newest) return changed(emptyMinute(second), second, taken(minute));
  const counts = [...minute.counts];
  for (let emptied = Math.max(newest + 1, second - BUCKETS + 1); emptied <= second; emptied += 1) {
    counts[emptied % BUCKETS] = 0;
  }
  return { newest: second, counts };
}

/** Adds to the bucket of `second`, or takes away from it; nothing happens where it has left the minute. */
export function changed(minute: SlidingMinute, second: number, by: number): SlidingMinute {
  if (second <= minute.newest - BUCKETS) return minute;
  // Later than the newest only after the clock was set back, when all that counts is in the newest.
  const bucket = Math.min(second, minute.newest) % BUCKETS;
  return { ...minute, counts: minute.counts.map((count, at) => (at === bucket ? Math.max(0, count + by) : count)) };
}

/** Epoch second from which no more than `most` count, if nothing more is taken; undefined where that is so now. */
export function freeAt(minute: SlidingMinute, most: number): number | undefined {
  let left = taken(minute);
  for (let second = minute.newest - BUCKETS + 1; second <= minute.newest && left > most; second += 1) {
    left -= minute.counts[((second % BUCKETS) + BUCKETS) % BUCKETS] ?? 0;
    if (left <= most) return second + BUCKETS;
  }
  return undefined;
}

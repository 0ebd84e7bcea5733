import type { Clock, Collection, QuotaDecision } from '@tracking/ports';
import { monotonicMs } from '@tracking/resilience';

export const QUOTA_STORE_UNREACHABLE_RESULT = Symbol('the document store cannot be reached');
/**
 * Maximum age in milliseconds of a copy of the record that is used to refuse requests. It limits the reads that
 * refusals cause.
 */
const REFUSAL_CACHE_MS = 100;
/** Age in milliseconds of a copy after which another process may have written the record. */
const QUOTA_RECORD_OUTDATED_MS = 1_000;
/**
 * Number of counted one-second buckets: the current one and the 60 before. With one fewer, two requests less than a
 * minute apart could count as a minute apart.
 */
const ONE_SECOND_BUCKET_COUNT = 61;

/** Attempts to write the record while other processes change it. After that, this process counts locally. */
const MAX_WRITE_ATTEMPTS = 20;
/**
 * Milliseconds, with the wait for earlier operations, after which an operation no longer uses the store. A request is
 * then counted locally. Otherwise, the operations of a slow store would queue without end.
 */
const MAX_STORE_USE_MS = 2_000;

/** Requests of one key admitted by all processes. */
export interface QuotaRecord extends SlidingMinuteCounts {
  readonly id: string;
  /** Version of the record. Each write increments it and succeeds only if it is unchanged. */
  readonly version: number;
}

/** Runs an operation on the records, unless the store is unreachable. */
type RunOnStore = <R>(
  operation: (records: Collection<QuotaRecord>) => Promise<R>,
) => Promise<R | typeof QUOTA_STORE_UNREACHABLE_RESULT>;

/**
 * State of one key in this process. The process reserves a part of the limit in the shared record ahead of requests. A
 * reservation is used within its second or returned, so that a request never counts as older than it is.
 */
export class KeyQuotaReserver {
  /** Record as this process last read or wrote it. */
  private stored: QuotaRecord | undefined;
  private storedAt = -Infinity;
  /** True if another process wrote the record before this process last read it. */
  private isShared = false;
  /**
   * Changes not stored yet: requests admitted while the store was unreachable, and reservations to return (negative).
   */
  private pending: readonly { readonly second: number; readonly by: number }[] = [];
  /** Number of reserved requests in the newest second that are not admitted yet. */
  private spare = 0;
  /** Counts of the last minute, including pending changes. */
  private minute: SlidingMinuteCounts = createEmptySecondCounts(0);
  private turn: Promise<unknown> = Promise.resolve();
  /** Number of operations that wait for their turn or run. */
  private waiting = 0;
  private waitingTakes = 0;
  /** Limit of the requests since the last renewal; undefined if there were none. */
  private limitInUse: number | undefined;
  private wasInUse = false;

  constructor(
    private readonly id: string,
    private readonly clock: Clock,
    private readonly onStore: RunOnStore,
  ) {}

  /** True if this object holds no information that the store lacks, so that it can be dropped. */
  get idle(): boolean {
    return (
      this.waiting === 0 &&
      this.spare === 0 &&
      this.pending.length === 0 &&
      sumMinuteCounts(this.advanceSlidingMinuteToNow()) === 0
    );
  }

  takeQuotaForRequest(limit: number): Promise<QuotaDecision> {
    this.limitInUse = limit;
    this.waitingTakes += 1;
    const deadline = monotonicMs() + MAX_STORE_USE_MS;
    return this.runInTurn(() => this.decideQuotaInTurn(limit, deadline)).finally(() => (this.waitingTakes -= 1));
  }

  /**
   * Reserves requests for a `takeQuotaForRequest` that will probably follow, so that it need not wait for the store. Never
   * rejects.
   */
  reserveExpectedRequests(limit: number): void {
    const deadline = monotonicMs() + MAX_STORE_USE_MS;
    void this.runInTurn(() => this.reserveQuotaIfNoneIsSpare(limit, deadline)).catch(() => undefined);
  }

  /**
   * Gives reserved but unused requests of past seconds back to the quota in the store. If the key was in use during
   * the last two seconds, also reserves requests of the new second in the same write, so that they need not wait for
   * the store. Call it once a second.
   */
  returnUnusedQuotaAndReserveMore(): Promise<void> {
    const { limitInUse: limit, wasInUse } = this;
    this.limitInUse = undefined;
    this.wasInUse = limit !== undefined;
    const deadline = monotonicMs() + MAX_STORE_USE_MS;
    return this.runInTurn(async () => {
      this.advanceSlidingMinuteToNow();
      if (limit !== undefined && wasInUse) await this.reserveQuotaIfNoneIsSpare(limit, deadline);
      await this.storePendingRequestQuotaChanges(deadline);
    });
  }

  /** Gives all reserved but unused requests back to the quota in the store, so that other processes can use them. */
  returnReservedRequests(): Promise<void> {
    return this.runInTurn(async () => {
      this.advanceSlidingMinuteToNow();
      this.returnSpareRequests();
      await this.storePendingRequestQuotaChanges(Infinity);
    });
  }

  /** @param deadline time in {@link monotonicMs} after which the store is no longer used */
  private async storePendingRequestQuotaChanges(deadline: number): Promise<void> {
    // Changes of seconds that no longer count change nothing.
    this.pending = this.pending.filter(({ second }) => second > this.minute.newest - ONE_SECOND_BUCKET_COUNT);
    for (let attempt = 1; attempt <= MAX_WRITE_ATTEMPTS && this.pending.length > 0; attempt += 1) {
      if (monotonicMs() >= deadline) return;
      if ((await this.writeQuotaRecord(this.minute)) !== 'conflict') return;
      await this.readAndMergeQuotaRecord();
    }
  }

  private async reserveQuotaIfNoneIsSpare(limit: number, deadline: number): Promise<void> {
    if (monotonicMs() < deadline) await this.readQuotaRecordIfOutdated();
    for (let attempt = 1; attempt <= MAX_WRITE_ATTEMPTS && monotonicMs() < deadline; attempt += 1) {
      const count = this.computeRequestCountToReserve(limit, sumMinuteCounts(this.advanceSlidingMinuteToNow()));
      if (this.spare > 0 || count <= 0) return;
      if ((await this.reserveRequests(count, false)) === 'unknown') return;
    }
  }

  private computeRequestCountToReserve(limit: number, used: number): number {
    return Math.min(limit - used, Math.max(1, Math.floor(limit / 100), this.waitingTakes));
  }

  private runInTurn<R>(work: () => Promise<R>): Promise<R> {
    this.waiting += 1;
    const done = this.turn.then(work).finally(() => (this.waiting -= 1));
    this.turn = done.catch(() => undefined);
    return done;
  }

  private async decideQuotaInTurn(limit: number, deadline: number): Promise<QuotaDecision> {
    if (monotonicMs() < deadline) await this.readQuotaRecordIfOutdated();
    for (let attempt = 1; !this.trySpendReservedRequest(limit); attempt += 1) {
      const used = sumMinuteCounts(this.advanceSlidingMinuteToNow());
      const count = this.computeRequestCountToReserve(limit, used);
      const isLocal = attempt > MAX_WRITE_ATTEMPTS || monotonicMs() >= deadline;
      if (used < limit) await this.reserveRequests(count, isLocal);
      else if (isLocal || this.isQuotaRecordRecent()) return this.createQuotaDecision(limit, false);
      else if (!(await this.readAndMergeQuotaRecord())) return this.createQuotaDecision(limit, false);
    }
    return this.createQuotaDecision(limit, true);
  }

  private isQuotaRecordRecent(): boolean {
    // A negative age means that the clock was set back.
    return Math.abs(this.clock().getTime() - this.storedAt) < REFUSAL_CACHE_MS;
  }

  private trySpendReservedRequest(limit: number): boolean {
    const used = sumMinuteCounts(this.advanceSlidingMinuteToNow()) - this.spare;
    if (this.spare === 0 || used >= limit) return false;
    this.spare -= 1;
    return true;
  }

  /**
   * Reserves requests. If the store is unreachable, this process counts locally and writes the changes later. It then
   * reserves only for waiting requests, because it could not return unused ones.
   * @param isLocal true to count locally in any case
   */
  private async reserveRequests(count: number, isLocal: boolean): Promise<'done' | 'conflict' | 'unknown'> {
    const { newest } = this.advanceSlidingMinuteToNow();
    const minute = addToCountOfGivenSecond(this.minute, newest, count);
    const outcome = isLocal ? 'unknown' : await this.writeQuotaRecord(minute);
    if (outcome === 'conflict') {
      await this.readAndMergeQuotaRecord();
      return outcome;
    }
    const reserved = outcome === 'done' || isLocal ? count : Math.min(count, this.waitingTakes);
    if (outcome === 'unknown') this.addPendingQuotaChange(newest, reserved);
    // A reservation of a past second would count a request as older than it is.
    if (this.advanceSlidingMinuteToNow().newest === newest) this.spare = reserved;
    else this.addPendingQuotaChange(newest, -reserved);
    return outcome;
  }

  /** Advances the minute to the current time. Reservations of earlier seconds are no longer usable. */
  private advanceSlidingMinuteToNow(): SlidingMinuteCounts {
    const second = this.getCurrentSecond();
    if (advanceSlidingMinute(this.minute, second).newest !== this.minute.newest) this.returnSpareRequests();
    this.minute = advanceSlidingMinute(this.minute, second);
    return this.minute;
  }

  private returnSpareRequests(): void {
    if (this.spare > 0) this.addPendingQuotaChange(this.minute.newest, -this.spare);
    this.spare = 0;
  }

  private addPendingQuotaChange(second: number, by: number): void {
    this.pending = [...this.pending, { second, by }];
    this.minute = addToCountOfGivenSecond(this.minute, second, by);
  }

  /** Reads the record if a write of this process would probably conflict, because another process has written since. */
  private async readQuotaRecordIfOutdated(): Promise<void> {
    const isOld = Math.abs(this.clock().getTime() - this.storedAt) > QUOTA_RECORD_OUTDATED_MS;
    if (this.stored === undefined || (this.spare === 0 && this.isShared && isOld)) await this.readAndMergeQuotaRecord();
  }

  /** Reads the record. Returns false if the store is unreachable. */
  private async readAndMergeQuotaRecord(): Promise<boolean> {
    const stored = await this.onStore((records) => records.get(this.id));
    if (stored === QUOTA_STORE_UNREACHABLE_RESULT) return false;
    this.isShared = stored?.version !== this.stored?.version;
    this.mergeStoredQuotaRecord(stored);
    return true;
  }

  private async writeQuotaRecord(minute: SlidingMinuteCounts): Promise<'done' | 'conflict' | 'unknown'> {
    const version = this.stored?.version;
    const record: QuotaRecord = { id: this.id, version: (version ?? 0) + 1, ...minute };
    const done = await this.onStore((records) =>
      version === undefined ? records.insert(record) : records.replace(record, { version }),
    );
    if (done === false) return 'conflict';
    // The write may have succeeded. A reservation that is returned twice would exceed the limit; a reservation that is
    // counted twice would not.
    this.pending = done === QUOTA_STORE_UNREACHABLE_RESULT ? this.pending.filter(({ by }) => by > 0) : [];
    if (done === QUOTA_STORE_UNREACHABLE_RESULT) return 'unknown';
    this.mergeStoredQuotaRecord(record);
    return 'done';
  }

  private mergeStoredQuotaRecord(stored: QuotaRecord | undefined): void {
    const second = this.getCurrentSecond();
    this.stored = stored;
    this.storedAt = this.clock().getTime();
    const { newest, counts } = advanceSlidingMinute(stored ?? createEmptySecondCounts(second), second);
    if (newest !== this.minute.newest) this.returnSpareRequests();
    this.minute = this.pending.reduce<SlidingMinuteCounts>(
      (minute, { second: at, by }) => addToCountOfGivenSecond(minute, at, by),
      {
        newest,
        counts,
      },
    );
  }

  private getCurrentSecond(): number {
    return Math.floor(this.clock().getTime() / 1_000);
  }

  private createQuotaDecision(limit: number, admitted: boolean): QuotaDecision {
    const now = this.clock().getTime() / 1_000;
    const next = findNextSecondBelowRequestLimit(this.minute, limit - 1) ?? now;
    return {
      admitted,
      limit,
      remaining: Math.max(0, limit - sumMinuteCounts(this.minute) + this.spare),
      resetAt: findNextSecondBelowRequestLimit(this.minute, 0) ?? Math.floor(now),
      retryAfter: admitted ? 0 : Math.max(1, Math.ceil(next - now)),
    };
  }
}

/** Admitted requests of the last minute, by second. */
interface SlidingMinuteCounts {
  /** Epoch second of the newest bucket. */
  readonly newest: number;
  /** Counts by epoch second modulo `ONE_SECOND_BUCKET_COUNT`. */
  readonly counts: readonly number[];
}

export function createEmptySecondCounts(second: number): SlidingMinuteCounts {
  return { newest: second, counts: Array.from({ length: ONE_SECOND_BUCKET_COUNT }, () => 0) };
}

/** Returns the total of all buckets. */
export function sumMinuteCounts(minute: SlidingMinuteCounts): number {
  return minute.counts.reduce((sum, count) => sum + count, 0);
}

/**
 * Makes `second` the newest bucket and clears buckets older than a minute. A slightly earlier second changes nothing,
 * because another process's clock may be ahead. A much earlier second means that the clock was set back: all counted
 * requests then count as admitted now, for at most a minute.
 */
export function advanceSlidingMinute(minute: SlidingMinuteCounts, second: number): SlidingMinuteCounts {
  const { newest } = minute;
  if (second <= newest && second > newest - ONE_SECOND_BUCKET_COUNT) return minute;
  if (second < newest) return addToCountOfGivenSecond(createEmptySecondCounts(second), second, sumMinuteCounts(minute));
  const counts = [...minute.counts];
  for (let emptied = Math.max(newest + 1, second - ONE_SECOND_BUCKET_COUNT + 1); emptied <= second; emptied += 1) {
    counts[emptied % ONE_SECOND_BUCKET_COUNT] = 0;
  }
  return { newest: second, counts };
}

/** Changes the count of `second`; does nothing if it is more than a minute ago. */
export function addToCountOfGivenSecond(minute: SlidingMinuteCounts, second: number, by: number): SlidingMinuteCounts {
  if (second <= minute.newest - ONE_SECOND_BUCKET_COUNT) return minute;
  // A second after the newest one occurs only if the clock was set back, when all counts are in the newest bucket.
  const bucket = Math.min(second, minute.newest) % ONE_SECOND_BUCKET_COUNT;
  return { ...minute, counts: minute.counts.map((count, at) => (at === bucket ? Math.max(0, count + by) : count)) };
}

/**
 * Returns the epoch second from which at most `most` requests count if none is added; undefined if that is true now.
 */
export function findNextSecondBelowRequestLimit(minute: SlidingMinuteCounts, most: number): number | undefined {
  let left = sumMinuteCounts(minute);
  for (let second = minute.newest - ONE_SECOND_BUCKET_COUNT + 1; second <= minute.newest && left > most; second += 1) {
    left -=
      minute.counts[((second % ONE_SECOND_BUCKET_COUNT) + ONE_SECOND_BUCKET_COUNT) % ONE_SECOND_BUCKET_COUNT] ?? 0;
    if (left <= most) return second + ONE_SECOND_BUCKET_COUNT;
  }
  return undefined;
}

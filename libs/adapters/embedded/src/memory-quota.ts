import { UnavailableError, type Clock, type RequestQuota, type QuotaDecision } from '@tracking/ports';

/**
 * Number of counted one-second buckets: the current one and the 60 before. With one fewer, two requests less than a
 * minute apart could count as a minute apart.
 */
const ONE_SECOND_BUCKET_COUNT = 61;

/** Admitted requests of one key. */
interface RequestCountsBySecond {
  /** Counts by epoch second modulo `ONE_SECOND_BUCKET_COUNT`. */
  readonly counts: Uint32Array;
  /** Epoch second of the newest bucket. */
  newest: number;
  total: number;
}

/** Request quotas of a single process. */
export class InMemoryRequestQuota implements RequestQuota {
  private readonly keys = new Map<string, RequestCountsBySecond>();
  private sweptAt = 0;
  private closed = false;

  constructor(private readonly clock: Clock = () => new Date()) {}

  async takeQuotaForRequest(key: string, limit: number): Promise<QuotaDecision> {
    if (this.closed) throw new UnavailableError('quota', 'closed');
    const milliseconds = this.clock().getTime();
    const now = Math.floor(milliseconds / 1_000);
    this.dropIdleQuotaKeys(now);
    let taken = this.keys.get(key);
    if (taken === undefined)
      this.keys.set(key, (taken = { counts: new Uint32Array(ONE_SECOND_BUCKET_COUNT), newest: now, total: 0 }));
    dropExpiredRequestCounts(taken, now);
    const admitted = taken.total < limit;
    if (admitted) {
      taken.counts[now % ONE_SECOND_BUCKET_COUNT] = (taken.counts[now % ONE_SECOND_BUCKET_COUNT] ?? 0) + 1;
      taken.total += 1;
    }
    return Promise.resolve({
      admitted,
      limit,
      remaining: Math.max(0, limit - taken.total),
      resetAt: findSecondBelowRequestLimit(taken, 0) ?? now,
      retryAfter: admitted
        ? 0
        : Math.ceil((findSecondBelowRequestLimit(taken, limit - 1) ?? now) - milliseconds / 1_000),
    });
  }

  close(): Promise<void> {
    this.closed = true;
    this.keys.clear();
    return Promise.resolve();
  }

  /** Once a minute, drops keys without requests in the last minute. */
  private dropIdleQuotaKeys(now: number): void {
    if (Math.abs(now - this.sweptAt) < 60) return;
    this.sweptAt = now;
    for (const [key, taken] of this.keys) if (now - taken.newest >= ONE_SECOND_BUCKET_COUNT) this.keys.delete(key);
  }
}

/** Makes `now` the newest bucket and clears buckets older than a minute. */
function dropExpiredRequestCounts(taken: RequestCountsBySecond, now: number): void {
  if (now < taken.newest) countAllRequestsAsNewAfterClockSetBack(taken, now);
  for (let second = Math.max(taken.newest + 1, now - ONE_SECOND_BUCKET_COUNT + 1); second <= now; second += 1) {
    taken.total -= taken.counts[second % ONE_SECOND_BUCKET_COUNT] ?? 0;
    taken.counts[second % ONE_SECOND_BUCKET_COUNT] = 0;
  }
  taken.newest = now;
}

/** After the clock was set back, all counted requests count as admitted now, for at most a minute. */
function countAllRequestsAsNewAfterClockSetBack(taken: RequestCountsBySecond, now: number): void {
  taken.counts.fill(0);
  taken.counts[now % ONE_SECOND_BUCKET_COUNT] = taken.total;
  taken.newest = now;
}

/** Returns the epoch second from which at most `most` requests count if none is added. */
function findSecondBelowRequestLimit(taken: RequestCountsBySecond, most: number): number | undefined {
  let left = taken.total;
  for (let second = taken.newest - ONE_SECOND_BUCKET_COUNT + 1; second <= taken.newest && left > most; second += 1) {
    left -= taken.counts[((second % ONE_SECOND_BUCKET_COUNT) + ONE_SECOND_BUCKET_COUNT) % ONE_SECOND_BUCKET_COUNT] ?? 0;
    if (left <= most) return second + ONE_SECOND_BUCKET_COUNT;
  }
  return undefined;
}

/**
 * Buckets of one second that count: the present one and the 60 before it. With one fewer, what was taken at the
 * beginning of a bucket and what is taken at the end of its successor a minute later would pass as a minute apart.
 */
const BUCKETS = 61;

/** What was taken in the last minute, by second. */
export interface SlidingMinute {
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

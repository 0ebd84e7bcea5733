/**
 * How often durations fell into each bucket, by its number; buckets without any are left out. Up to 15 ms each whole
 * millisecond has a bucket of its own, from there on a doubling has eight: what is read of it is at most an eighth too long.
 */
export type LatencyBuckets = Readonly<Record<string, number>>;

const EXACT = 16;
const PER_DOUBLING = 8;

/** @param ms whole milliseconds */
export function latencyBucket(ms: number): number {
  if (ms < EXACT) return Math.max(0, ms);
  const doublings = Math.floor(Math.log2(ms)) - 3;
  return EXACT + (doublings - 1) * PER_DOUBLING + (Math.floor(ms / 2 ** doublings) - PER_DOUBLING);
}

/** The longest duration of a bucket, in whole milliseconds. */
export function longestOf(bucket: number): number {
  if (bucket < EXACT) return bucket;
  const doublings = Math.floor((bucket - EXACT) / PER_DOUBLING) + 1;
  const step = (bucket - EXACT) % PER_DOUBLING;
  return (PER_DOUBLING + step + 1) * 2 ** doublings - 1;
}

/**
 * The duration that this part of all does not exceed, in milliseconds; null without any.
 * @param part from 0 to 1, @param max the longest of all
 */
export function percentile(buckets: LatencyBuckets, part: number, max: number): number | null {
  const sorted = Object.entries(buckets)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .sort(([one], [other]) => one - other);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  let left = Math.ceil(total * part);
  for (const [bucket, count] of sorted) {
    left -= count;
    if (left <= 0) return Math.min(longestOf(bucket), max);
  }
  return null;
}

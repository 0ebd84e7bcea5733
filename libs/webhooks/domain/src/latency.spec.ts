import { latencyBucket, longestOf, percentile } from './latency.ts';

test('each duration lies in a bucket, whose longest is at most an eighth longer', () => {
  let before = -1;
  const wrong: number[] = [];
  for (let ms = 0; ms <= 100_000; ms += 1) {
    const bucket = latencyBucket(ms);
    const longest = longestOf(bucket);
    const isNext = bucket === before || bucket === before + 1;
    if (!isNext || longest < ms || longest > Math.max(ms, ms * 1.125)) wrong.push(ms);
    before = bucket;
  }
  expect(wrong).toEqual([]);
});

test('percentiles are those of the durations, within a bucket', () => {
  const buckets: Record<string, number> = {};
  for (let ms = 1; ms <= 1_000; ms += 1) buckets[latencyBucket(ms)] = (buckets[latencyBucket(ms)] ?? 0) + 1;
  expect(percentile(buckets, 0.5, 1_000)).toBe(511);
  expect(percentile(buckets, 0.95, 1_000)).toBe(959);
  expect(percentile(buckets, 0.99, 1_000)).toBe(1_000);
  expect(percentile({ 3: 1 }, 0.5, 3)).toBe(3);
  expect(percentile({}, 0.5, 0)).toBeNull();
});

import {
  type CountedAttempt,
  HourlyAttemptCounter,
  startOfNextHour,
  startOfHour,
  computeLatencyBucket,
  getMaxLatencyOfBucket,
  computePercentile,
} from './hour-counts.ts';

const at = (minute: number) => `2026-11-23T14:${String(minute).padStart(2, '0')}:00.000Z`;
const good = (minute: number, duration_ms = 10): CountedAttempt => ({
  at: at(minute),
  duration_ms,
  status_code: 200,
  error: null,
});
const bad = (minute: number, message: string, more: Partial<CountedAttempt> = {}): CountedAttempt => ({
  ...good(minute),
  status_code: 500,
  error: { code: 'unexpected_status', message },
  ...more,
});
const counts = (attempts: readonly CountedAttempt[]) => {
  const counter = new HourlyAttemptCounter();
  for (const attempt of attempts) counter.countDeliveryAttempt(attempt);
  return counter.counts;
};

test('an hour starts at the UTC hour', () => {
  expect(startOfHour('2026-12-31T23:59:59.999Z')).toBe('2026-12-31T23:00:00.000Z');
  expect(startOfNextHour('2026-12-31T23:00:00.000Z')).toBe('2027-01-01T00:00:00.000Z');
});

const ATTEMPTS = [good(5, 3), good(20, 40), bad(7, 'a'), bad(9, 'b', { dead_lettered: true }), bad(9, 'c')];

test('attempts are counted by their outcome', () => {
  expect(counts(ATTEMPTS)).toEqual({
    succeeded: 2,
    failed: 3,
    dead_lettered: 1,
    discarded: 0,
    latency: { 3: 1, 10: 3, 26: 1 },
    longest_ms: 40,
    last_success_at: at(20),
    last_error: { at: at(9), code: 'unexpected_status', message: 'c', status_code: 500 },
  });
});

test('attempts are counted alike in any order', () => {
  expect(counts(ATTEMPTS.toReversed())).toEqual(counts(ATTEMPTS));
});

test('later attempts are added to the stored counts', () => {
  const counter = new HourlyAttemptCounter(counts(ATTEMPTS.slice(0, 2)));
  for (const attempt of ATTEMPTS.slice(2)) counter.countDeliveryAttempt(attempt);
  expect(counter.counts).toEqual(counts(ATTEMPTS));
});

test('each duration lies in a bucket whose longest is at most 12.5% longer', () => {
  let before = -1;
  const wrong: number[] = [];
  for (let ms = 0; ms <= 100_000; ms += 1) {
    const bucket = computeLatencyBucket(ms);
    const longest = getMaxLatencyOfBucket(bucket);
    const isNext = bucket === before || bucket === before + 1;
    if (!isNext || longest < ms || longest > Math.max(ms, ms * 1.125)) wrong.push(ms);
    before = bucket;
  }
  expect(wrong).toEqual([]);
});

test('percentiles are those of the durations, within a bucket', () => {
  const buckets: Record<string, number> = {};
  for (let ms = 1; ms <= 1_000; ms += 1)
    buckets[computeLatencyBucket(ms)] = (buckets[computeLatencyBucket(ms)] ?? 0) + 1;
  expect(computePercentile(buckets, 0.5, 1_000)).toBe(511);
  expect(computePercentile(buckets, 0.95, 1_000)).toBe(959);
  expect(computePercentile(buckets, 0.99, 1_000)).toBe(1_000);
  expect(computePercentile({ 3: 1 }, 0.5, 3)).toBe(3);
  expect(computePercentile({}, 0.5, 0)).toBeNull();
});

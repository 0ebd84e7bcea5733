import {
  DEFAULT_RETRY_POLICY,
  computeBackoffMs,
  computeNextAttemptTime,
  computeRetryWindowEnd,
} from './retry-schedule.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;
const withoutJitter = () => 0.5;

describe('the retry schedule', () => {
  test('waits 5 s first, three times as long each time, and 24 h at most', () => {
    const waits = [1, 2, 3, 4, 9, 10, 11, 50].map((failures) =>
      computeBackoffMs(DEFAULT_RETRY_POLICY, failures, withoutJitter),
    );
    expect(waits).toEqual([5, 15, 45, 135, 32_805, 86_400, 86_400, 86_400].map((seconds) => seconds * SECOND));
  });

  test('varies each delay by up to 10 % either way', () => {
    expect(computeBackoffMs(DEFAULT_RETRY_POLICY, 1, () => 0)).toBe(4_500);
    expect(computeBackoffMs(DEFAULT_RETRY_POLICY, 1, () => 1 - Number.EPSILON)).toBe(5_500);
  });

  test('counts from the end of the attempt', () => {
    const endedAt = 1_000_000;
    expect(
      computeNextAttemptTime(DEFAULT_RETRY_POLICY, { failures: 1, endedAt, windowEndsAt: Infinity }, withoutJitter),
    ).toBe(endedAt + 5 * SECOND);
  });

  test('makes the last attempt exactly 72 h after the first began, without jitter', () => {
    const firstAttemptAt = Date.parse('2026-03-01T08:00:00.000Z');
    const end = computeRetryWindowEnd(DEFAULT_RETRY_POLICY, firstAttemptAt, []);
    expect(new Date(end).toISOString()).toBe('2026-03-04T08:00:00.000Z');
    for (const random of [() => 0, () => 0.999]) {
      expect(
        computeNextAttemptTime(DEFAULT_RETRY_POLICY, { failures: 12, endedAt: end - HOUR, windowEndsAt: end }, random),
      ).toBe(end);
    }
  });

  test('extends the window by an endpoint’s pauses, without limit while one is open', () => {
    const first = Date.parse('2026-03-01T00:00:00.000Z');
    const pause = { from: '2026-03-02T00:00:00.000Z', to: '2026-03-02T10:00:00.000Z' };
    expect(computeRetryWindowEnd(DEFAULT_RETRY_POLICY, first, [pause])).toBe(first + 82 * HOUR);
    expect(computeRetryWindowEnd(DEFAULT_RETRY_POLICY, first, [{ ...pause, to: null }])).toBe(Infinity);
  });

  test('has thirteen attempts by default', () => {
    let attempts = 1;
    const end = computeRetryWindowEnd(DEFAULT_RETRY_POLICY, 0, []);
    for (let at = 0; at < end; attempts += 1)
      at = computeNextAttemptTime(
        DEFAULT_RETRY_POLICY,
        { failures: attempts, endedAt: at, windowEndsAt: end },
        withoutJitter,
      );
    expect(attempts).toBe(13);
  });
});

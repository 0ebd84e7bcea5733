import { jest } from '@jest/globals';
import { LostResponses } from './lost-responses.ts';

describe('LostResponses', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it.each([
    ['one broker that went', [2], 0, false],
    ['a few that are far apart', [1, 1, 1, 1, 1], 6_000, false],
    ['several within seconds', [1, 1, 1], 3_000, true],
    ['many at once', [200], 0, true],
  ])('are many or not: %s', (_what, counts, apartMs, many) => {
    const lost = new LostResponses();
    expect(lost.areMany).toBe(false);
    for (const [index, count] of counts.entries()) {
      if (index > 0) jest.advanceTimersByTime(apartMs);
      lost.add(count);
    }
    expect(lost.areMany).toBe(many);
    jest.advanceTimersByTime(10_000);
    expect(lost.areMany).toBe(false);
  });
});

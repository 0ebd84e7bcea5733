import { addCount, emptyMinute, secondBelow, advanceTo, totalCount } from './quota-key.ts';

describe('a sliding minute', () => {
  const T = 1_000_000;

  it('counts a request for 60 more seconds', () => {
    const minute = addCount(emptyMinute(T), T, 5);
    expect(totalCount(minute)).toBe(5);
    expect(totalCount(advanceTo(minute, T + 60))).toBe(5);
    expect(totalCount(advanceTo(minute, T + 61))).toBe(0);
    expect(totalCount(advanceTo(minute, T + 100_000))).toBe(0);
  });

  it('returns when how many requests are available again', () => {
    const minute = addCount(advanceTo(addCount(emptyMinute(T), T, 5), T + 20), T + 20, 3);
    expect(secondBelow(minute, 8)).toBeUndefined();
    expect(secondBelow(minute, 7)).toBe(T + 61);
    expect(secondBelow(minute, 3)).toBe(T + 61);
    expect(secondBelow(minute, 2)).toBe(T + 81);
    expect(secondBelow(minute, 0)).toBe(T + 81);
  });

  it('does not change for a clock slightly behind', () => {
    const minute = addCount(emptyMinute(T), T, 5);
    expect(advanceTo(minute, T - 2)).toEqual(minute);
  });

  it('counts all requests as admitted now after the clock was set back far', () => {
    const minute = advanceTo(addCount(advanceTo(addCount(emptyMinute(T), T, 5), T + 9), T + 9, 1), T - 300);
    expect(totalCount(minute)).toBe(6);
    expect(secondBelow(minute, 0)).toBe(T - 300 + 61);
  });

  it('ignores returned requests older than a minute, and never counts below zero', () => {
    const minute = addCount(emptyMinute(T), T, 5);
    expect(addCount(minute, T - 61, -5)).toEqual(minute);
    expect(totalCount(addCount(minute, T, -9))).toBe(0);
    expect(totalCount(addCount(minute, T + 7, -2))).toBe(3);
  });
});

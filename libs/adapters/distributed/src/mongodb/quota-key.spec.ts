import { addCount, emptyMinute, secondBelow, advanceTo, totalCount } from './quota-key.ts';

describe('a sliding minute', () => {
  const T = 1_000_000;

  it('given what was taken in a second, counts it for 60 more', () => {
    const minute = addCount(emptyMinute(T), T, 5);
    expect(totalCount(minute)).toBe(5);
    expect(totalCount(advanceTo(minute, T + 60))).toBe(5);
    expect(totalCount(advanceTo(minute, T + 61))).toBe(0);
    expect(totalCount(advanceTo(minute, T + 100_000))).toBe(0);
  });

  it('given several seconds, says when how much is free again', () => {
    const minute = addCount(advanceTo(addCount(emptyMinute(T), T, 5), T + 20), T + 20, 3);
    expect(secondBelow(minute, 8)).toBeUndefined();
    expect(secondBelow(minute, 7)).toBe(T + 61);
    expect(secondBelow(minute, 3)).toBe(T + 61);
    expect(secondBelow(minute, 2)).toBe(T + 81);
    expect(secondBelow(minute, 0)).toBe(T + 81);
  });

  it('given a clock a little behind, stays where it is', () => {
    const minute = addCount(emptyMinute(T), T, 5);
    expect(advanceTo(minute, T - 2)).toEqual(minute);
  });

  it('given a clock that was set back far, counts all as taken now', () => {
    const minute = advanceTo(addCount(advanceTo(addCount(emptyMinute(T), T, 5), T + 9), T + 9, 1), T - 300);
    expect(totalCount(minute)).toBe(6);
    expect(secondBelow(minute, 0)).toBe(T - 300 + 61);
  });

  it('given back what has left the minute, changes nothing; never counts below none', () => {
    const minute = addCount(emptyMinute(T), T, 5);
    expect(addCount(minute, T - 61, -5)).toEqual(minute);
    expect(totalCount(addCount(minute, T, -9))).toBe(0);
    expect(totalCount(addCount(minute, T + 7, -2))).toBe(3);
  });
});

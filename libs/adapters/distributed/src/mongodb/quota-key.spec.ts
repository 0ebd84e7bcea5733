import { changed, emptyMinute, freeAt, movedTo, taken } from './quota-key.ts';

describe('a sliding minute', () => {
  const T = 1_000_000;

  it('given what was taken in a second, counts it for 60 more', () => {
    const minute = changed(emptyMinute(T), T, 5);
    expect(taken(minute)).toBe(5);
    expect(taken(movedTo(minute, T + 60))).toBe(5);
    expect(taken(movedTo(minute, T + 61))).toBe(0);
    expect(taken(movedTo(minute, T + 100_000))).toBe(0);
  });

  it('given several seconds, says when how much is free again', () => {
    const minute = changed(movedTo(changed(emptyMinute(T), T, 5), T + 20), T + 20, 3);
    expect(freeAt(minute, 8)).toBeUndefined();
    expect(freeAt(minute, 7)).toBe(T + 61);
    expect(freeAt(minute, 3)).toBe(T + 61);
    expect(freeAt(minute, 2)).toBe(T + 81);
    expect(freeAt(minute, 0)).toBe(T + 81);
  });

  it('given a clock a little behind, stays where it is', () => {
    const minute = changed(emptyMinute(T), T, 5);
    expect(movedTo(minute, T - 2)).toEqual(minute);
  });

  it('given a clock that was set back far, counts all as taken now', () => {
    const minute = movedTo(changed(movedTo(changed(emptyMinute(T), T, 5), T + 9), T + 9, 1), T - 300);
    expect(taken(minute)).toBe(6);
    expect(freeAt(minute, 0)).toBe(T - 300 + 61);
  });

  it('given back what has left the minute, changes nothing; never counts below none', () => {
    const minute = changed(emptyMinute(T), T, 5);
    expect(changed(minute, T - 61, -5)).toEqual(minute);
    expect(taken(changed(minute, T, -9))).toBe(0);
    expect(taken(changed(minute, T + 7, -2))).toBe(3);
  });
});

import type { Collection } from '@tracking/ports';
import {
  addToCount,
  createEmptyMinute,
  findSecondBelow,
  advanceMinute,
  QuotaKey,
  type QuotaRecord,
  sumCounts,
} from './quota-key.ts';

describe('a sliding minute', () => {
  const T = 1_000_000;

  it('counts a request for 60 more seconds', () => {
    const minute = addToCount(createEmptyMinute(T), T, 5);
    expect(sumCounts(minute)).toBe(5);
    expect(sumCounts(advanceMinute(minute, T + 60))).toBe(5);
    expect(sumCounts(advanceMinute(minute, T + 61))).toBe(0);
    expect(sumCounts(advanceMinute(minute, T + 100_000))).toBe(0);
  });

  it('returns when how many requests are available again', () => {
    const minute = addToCount(advanceMinute(addToCount(createEmptyMinute(T), T, 5), T + 20), T + 20, 3);
    expect(findSecondBelow(minute, 8)).toBeUndefined();
    expect(findSecondBelow(minute, 7)).toBe(T + 61);
    expect(findSecondBelow(minute, 3)).toBe(T + 61);
    expect(findSecondBelow(minute, 2)).toBe(T + 81);
    expect(findSecondBelow(minute, 0)).toBe(T + 81);
  });

  it('does not change for a clock slightly behind', () => {
    const minute = addToCount(createEmptyMinute(T), T, 5);
    expect(advanceMinute(minute, T - 2)).toEqual(minute);
  });

  it('counts all requests as admitted now after the clock was set back far', () => {
    const minute = advanceMinute(
      addToCount(advanceMinute(addToCount(createEmptyMinute(T), T, 5), T + 9), T + 9, 1),
      T - 300,
    );
    expect(sumCounts(minute)).toBe(6);
    expect(findSecondBelow(minute, 0)).toBe(T - 300 + 61);
  });

  it('ignores returned requests older than a minute, and never counts below zero', () => {
    const minute = addToCount(createEmptyMinute(T), T, 5);
    expect(addToCount(minute, T - 61, -5)).toEqual(minute);
    expect(sumCounts(addToCount(minute, T, -9))).toBe(0);
    expect(sumCounts(addToCount(minute, T + 7, -2))).toBe(3);
  });
});

it('a key whose record always changes before it is written counts locally after some attempts', async () => {
  let inserts = 0;
  const insert = () => Promise.resolve((inserts += 1) > 1_000);
  const records = { get: () => Promise.resolve(undefined), insert } as unknown as Collection<QuotaRecord>;
  const now = new Date();
  const key = new QuotaKey(
    'k',
    () => now,
    (operation) => operation(records),
  );
  expect(await key.take(1)).toMatchObject({ admitted: true });
  expect(await key.take(1)).toMatchObject({ admitted: false });
  await key.returnReservedRequests();
  expect(inserts).toBeLessThan(100);
});

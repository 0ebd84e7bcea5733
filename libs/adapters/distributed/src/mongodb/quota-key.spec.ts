import type { Collection } from '@tracking/ports';
import {
  addToCountOfGivenSecond,
  createEmptySecondCounts,
  findNextSecondBelowRequestLimit,
  advanceSlidingMinute,
  KeyQuotaReserver,
  type QuotaRecord,
  QUOTA_STORE_UNREACHABLE_RESULT,
  sumMinuteCounts,
} from './quota-key.ts';

describe('a sliding minute', () => {
  const T = 1_000_000;

  it('counts a request for 60 more seconds', () => {
    const minute = addToCountOfGivenSecond(createEmptySecondCounts(T), T, 5);
    expect(sumMinuteCounts(minute)).toBe(5);
    expect(sumMinuteCounts(advanceSlidingMinute(minute, T + 60))).toBe(5);
    expect(sumMinuteCounts(advanceSlidingMinute(minute, T + 61))).toBe(0);
    expect(sumMinuteCounts(advanceSlidingMinute(minute, T + 100_000))).toBe(0);
  });

  it('returns when how many requests are available again', () => {
    const minute = addToCountOfGivenSecond(
      advanceSlidingMinute(addToCountOfGivenSecond(createEmptySecondCounts(T), T, 5), T + 20),
      T + 20,
      3,
    );
    expect(findNextSecondBelowRequestLimit(minute, 8)).toBeUndefined();
    expect(findNextSecondBelowRequestLimit(minute, 7)).toBe(T + 61);
    expect(findNextSecondBelowRequestLimit(minute, 3)).toBe(T + 61);
    expect(findNextSecondBelowRequestLimit(minute, 2)).toBe(T + 81);
    expect(findNextSecondBelowRequestLimit(minute, 0)).toBe(T + 81);
  });

  it('does not change for a clock slightly behind', () => {
    const minute = addToCountOfGivenSecond(createEmptySecondCounts(T), T, 5);
    expect(advanceSlidingMinute(minute, T - 2)).toEqual(minute);
  });

  it('counts all requests as admitted now after the clock was set back far', () => {
    const minute = advanceSlidingMinute(
      addToCountOfGivenSecond(
        advanceSlidingMinute(addToCountOfGivenSecond(createEmptySecondCounts(T), T, 5), T + 9),
        T + 9,
        1,
      ),
      T - 300,
    );
    expect(sumMinuteCounts(minute)).toBe(6);
    expect(findNextSecondBelowRequestLimit(minute, 0)).toBe(T - 300 + 61);
  });

  it('ignores returned requests older than a minute, and never counts below zero', () => {
    const minute = addToCountOfGivenSecond(createEmptySecondCounts(T), T, 5);
    expect(addToCountOfGivenSecond(minute, T - 61, -5)).toEqual(minute);
    expect(sumMinuteCounts(addToCountOfGivenSecond(minute, T, -9))).toBe(0);
    expect(sumMinuteCounts(addToCountOfGivenSecond(minute, T + 7, -2))).toBe(3);
  });
});

it('a key whose record always changes before it is written counts locally after some attempts', async () => {
  let inserts = 0;
  const insert = () => Promise.resolve((inserts += 1) > 1_000);
  const records = { get: () => Promise.resolve(undefined), insert } as unknown as Collection<QuotaRecord>;
  const now = new Date();
  const key = new KeyQuotaReserver(
    'k',
    () => now,
    (operation) => operation(records),
  );
  expect(await key.takeQuotaForRequest(1)).toMatchObject({ admitted: true });
  expect(await key.takeQuotaForRequest(1)).toMatchObject({ admitted: false });
  await key.returnReservedRequests();
  expect(inserts).toBeLessThan(100);
});

describe('a key whose record takes a while to write', () => {
  const LIMIT = 100;
  let now = Date.parse('2026-03-01T12:00:00.250Z');
  let stored: QuotaRecord | undefined;
  let operations = 0;
  /** Milliseconds that the next write takes. */
  let nextWriteMs = 0;

  const write = (record: QuotaRecord, version: number | undefined) => {
    operations += 1;
    now += nextWriteMs;
    nextWriteMs = 0;
    if (stored?.version !== version) return Promise.resolve(false);
    stored = record;
    return Promise.resolve(true);
  };
  const records = {
    get: () => Promise.resolve(((operations += 1), stored)),
    insert: (record: QuotaRecord) => write(record, undefined),
    replace: (record: QuotaRecord, guard: { readonly version: number }) => write(record, guard.version),
  } as unknown as Collection<QuotaRecord>;
  const open = () =>
    new KeyQuotaReserver(
      'k',
      () => new Date(now),
      (operation) => operation(records),
    );
  const countOperations = async (work: () => Promise<unknown>) => {
    const before = operations;
    await work();
    return operations - before;
  };
  beforeEach(() => {
    stored = undefined;
    now += 600_000;
  });

  /** Takes once in each of two seconds, and renews the reservation at the start of the third. */
  async function useForTwoSeconds(key: KeyQuotaReserver): Promise<void> {
    for (let second = 1; second <= 2; second += 1) {
      await key.takeQuotaForRequest(LIMIT);
      now += 1_000;
      await key.returnUnusedQuotaAndReserveMore();
    }
  }

  it('admits without the store in a second whose reservation was renewed', async () => {
    const key = open();
    await useForTwoSeconds(key);
    expect(await countOperations(() => key.takeQuotaForRequest(LIMIT))).toBe(0);
  });

  it('returns a renewed reservation after a second without requests', async () => {
    const key = open();
    await useForTwoSeconds(key);
    expect(sumMinuteCounts(stored ?? createEmptySecondCounts(0))).toBe(3);
    now += 1_000;
    await key.returnUnusedQuotaAndReserveMore();
    expect(sumMinuteCounts(stored ?? createEmptySecondCounts(0))).toBe(2);
  });

  it('renews the reservation although another process changed the record', async () => {
    const [key, other] = [open(), open()];
    await key.takeQuotaForRequest(LIMIT);
    await other.takeQuotaForRequest(LIMIT);
    await useForTwoSeconds(key);
    expect(await countOperations(() => key.takeQuotaForRequest(LIMIT))).toBe(0);
  });

  it('counts a request in its own second although the reservation was stored in an earlier one', async () => {
    const key = open();
    nextWriteMs = 20_000;
    key.reserveExpectedRequests(LIMIT);
    await key.returnUnusedQuotaAndReserveMore();
    expect((await key.takeQuotaForRequest(LIMIT)).admitted).toBe(true);
    await key.returnReservedRequests();
    const { newest, counts } = stored ?? createEmptySecondCounts(0);
    expect(newest).toBe(Math.floor(now / 1_000));
    expect(sumMinuteCounts({ newest, counts })).toBe(1);
    expect(findNextSecondBelowRequestLimit({ newest, counts }, 0)).toBe(newest + 61);
  });

  it('reads the record before it writes if two processes take turns, so that writes do not conflict', async () => {
    const [key, other] = [open(), open()];
    for (const each of [key, other, key, other]) {
      await each.takeQuotaForRequest(LIMIT);
      now += 5_000;
    }
    expect(await countOperations(() => key.takeQuotaForRequest(LIMIT))).toBe(2);
    now += 5_000;
    expect(await countOperations(() => other.takeQuotaForRequest(LIMIT))).toBe(2);
  });

  it('admits with one write if only one process is left', async () => {
    const [key, other] = [open(), open()];
    for (const each of [key, other, key, key]) {
      await each.takeQuotaForRequest(LIMIT);
      now += 5_000;
    }
    expect(await countOperations(() => key.takeQuotaForRequest(LIMIT))).toBe(1);
  });

  it('admits without the store after it was announced', async () => {
    const key = open();
    key.reserveExpectedRequests(LIMIT);
    await key.returnUnusedQuotaAndReserveMore();
    expect(await countOperations(() => key.takeQuotaForRequest(LIMIT))).toBe(0);
  });

  it('reserves the usual number when many requests are announced at the same time', async () => {
    const key = open();
    for (let request = 0; request < LIMIT; request += 1) key.reserveExpectedRequests(LIMIT);
    await key.returnUnusedQuotaAndReserveMore();
    expect(sumMinuteCounts(stored ?? createEmptySecondCounts(0))).toBe(1);
  });

  describe('while the store is away', () => {
    const SECONDS = 50;
    /** Requests that a process reserves together: 1 % of the limit. */
    const MOST_RESERVED = 10;
    let away: 'silent' | 'performing' | undefined;
    const openOnStoreThatIsAway = () =>
      new KeyQuotaReserver(
        'k',
        () => new Date(now),
        async (operation) => {
          if (away === 'silent') return QUOTA_STORE_UNREACHABLE_RESULT;
          const result = await operation(records);
          return away === undefined ? result : QUOTA_STORE_UNREACHABLE_RESULT;
        },
      );

    /** Admits one request in each second while the store is away, and lets another process admit one. */
    async function countStoredAfterwards(how: 'silent' | 'performing'): Promise<number> {
      const [key, other] = [openOnStoreThatIsAway(), open()];
      away = how;
      for (let second = 0; second < SECONDS; second += 1) {
        expect((await key.takeQuotaForRequest(100 * MOST_RESERVED)).admitted).toBe(true);
        now += 1_000;
        await key.returnUnusedQuotaAndReserveMore();
      }
      await other.takeQuotaForRequest(LIMIT);
      await other.returnReservedRequests();
      away = undefined;
      await key.returnReservedRequests();
      return sumMinuteCounts(stored ?? createEmptySecondCounts(0));
    }

    it('counts only admitted requests', async () => {
      expect(await countStoredAfterwards('silent')).toBe(SECONDS + 1);
    });

    it('counts every admitted request although the store performed writes without a response', async () => {
      expect(await countStoredAfterwards('performing')).toBeGreaterThanOrEqual(SECONDS + 1);
    });
  });

  it('never admits more than the limit when it is announced again and again', async () => {
    const [key, other] = [open(), open()];
    let admitted = 0;
    for (let request = 0; request < 2 * LIMIT; request += 1) {
      const each = request % 2 === 0 ? key : other;
      each.reserveExpectedRequests(LIMIT);
      if ((await each.takeQuotaForRequest(LIMIT)).admitted) admitted += 1;
      if (request % 10 === 0)
        await Promise.all([key.returnUnusedQuotaAndReserveMore(), other.returnUnusedQuotaAndReserveMore()]);
      if (request % 20 === 0) now += 1_000;
    }
    expect(admitted).toBeLessThanOrEqual(LIMIT);
    expect(admitted).toBeGreaterThanOrEqual(LIMIT - 2);
  });
});

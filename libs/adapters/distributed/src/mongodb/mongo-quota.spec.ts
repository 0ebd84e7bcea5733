import { jest } from '@jest/globals';
import type { Collection, DocumentStore } from '@tracking/ports';
import { pauseFor } from '@tracking/resilience';
import { MongoQuota } from './mongo-quota.ts';
import type { QuotaRecord } from './quota-key.ts';

/** A document store that answers after the given times. @param searchMs time of the search for old records */
function createSlowStore(latencyMs: number, searchMs = latencyMs) {
  let stored: QuotaRecord | undefined;
  const answer = async <T>(operation: () => T, ms = latencyMs) => {
    await pauseFor(ms);
    return operation();
  };
  const write = (record: QuotaRecord, version: number | undefined) =>
    answer(() => {
      if (stored?.version !== version) return false;
      stored = record;
      return true;
    });
  const records = {
    get: () => answer(() => stored),
    find: () => answer(() => [], searchMs),
    insert: (record: QuotaRecord) => write(record, undefined),
    replace: (record: QuotaRecord, guard: { readonly version: number }) => write(record, guard.version),
    writeMany: () => answer(() => undefined),
  } as unknown as Collection<QuotaRecord>;
  const store = { collection: () => Promise.resolve(records) } as unknown as DocumentStore;
  return { store, readStored: () => stored };
}

describe('the quota with a slow document store', () => {
  beforeEach(() => void jest.useFakeTimers({ now: Date.parse('2026-03-01T12:00:00.250Z') }));
  afterEach(() => void jest.useRealTimers());

  it.each([
    { processes: 1, latencyMs: 990 },
    { processes: 2, latencyMs: 500 },
    { processes: 2, latencyMs: 900 },
    { processes: 3, latencyMs: 700 },
  ])('of $processes processes answers within 4 s if an operation takes $latencyMs ms', async (slow) => {
    const { store } = createSlowStore(slow.latencyMs);
    const quotas = Array.from({ length: slow.processes }, () => new MongoQuota(store));
    let unanswered = 0;
    let slowestMs = 0;
    let elapsedMs = 0;
    for (; elapsedMs < 60_000; elapsedMs += 100) {
      const startedAtMs = elapsedMs;
      for (const quota of quotas) {
        unanswered += 1;
        quota.reserveExpectedRequests('k', 6_000);
        void quota.takeQuotaForRequest('k', 6_000).then(() => {
          unanswered -= 1;
          slowestMs = Math.max(slowestMs, elapsedMs - startedAtMs);
        });
      }
      await jest.advanceTimersByTimeAsync(100);
    }
    for (; elapsedMs < 64_000; elapsedMs += 100) await jest.advanceTimersByTimeAsync(100);
    expect(unanswered).toBe(0);
    expect(slowestMs).toBeLessThanOrEqual(4_000);
  });

  it('counts in the store while the search for old records takes long', async () => {
    const { store, readStored } = createSlowStore(1, 60_000);
    const quota = new MongoQuota(store);
    // The first search begins with the next second.
    await jest.advanceTimersByTimeAsync(2_000);
    const decision = quota.takeQuotaForRequest('k', 1);
    await jest.advanceTimersByTimeAsync(100);
    expect(await decision).toMatchObject({ admitted: true });
    expect(readStored()).toMatchObject({ id: 'k', version: 1 });
  });
});

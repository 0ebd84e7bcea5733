import type { Lease } from '@tracking/ports';
import { eventually, RecordedMetrics, silentLogger } from '@tracking/testing';
import { BacklogDiscarder, type BacklogDiscarderDependencies } from './discard-jobs.ts';

const PAGES = 40;
const MS_PER_PAGE = 30;

test('the backlog of a deleted endpoint is discarded 50 deliveries at a time, in 20% of the time', async () => {
  let now = 0;
  let left = PAGES;
  let isMarked = true;
  const limits: number[] = [];
  const rests: number[] = [];
  const never = new AbortController().signal;
  const discarder = new BacklogDiscarder({
    endpoints: {
      listDeletedEndpointsWithBacklog: () => Promise.resolve(isMarked ? [{ id: 'whe_1' }] : []),
      clearBacklog: async () => void (isMarked = false),
    },
    queues: {
      discardPending: async (_endpoint: object, _at: string, limit: number) => {
        limits.push(limit);
        now += MS_PER_PAGE;
        return left-- > 0 ? limit : 0;
      },
    },
    replays: { cancelRunning: () => Promise.resolve() },
    clock: () => new Date(),
    leases: {
      acquire: async () =>
        ({ lost: never, handOverRequested: never, release: async () => undefined }) as Partial<Lease>,
    },
    logger: silentLogger,
    metrics: new RecordedMetrics(),
    pacing: { elapsed: () => now, rest: async (ms: number) => void rests.push(ms) },
  } as unknown as BacklogDiscarderDependencies);
  discarder.job.startRounds();
  await eventually(() => expect(isMarked).toBe(false));
  await discarder.job.stopRounds();
  expect(new Set(limits)).toEqual(new Set([50]));
  // The last page finds that no delivery is left.
  expect(rests).toEqual(Array.from({ length: PAGES + 1 }, () => 4 * MS_PER_PAGE));
});

import type { Lease } from '@tracking/ports';
import { eventually, RecordedMetrics, silentLogger } from '@tracking/testing';
import { HourRecountRequestStore } from '../stats/hour-log.ts';
import {
  DeletedEndpointBacklogDiscarder,
  type BacklogDiscarderDependencies,
  DeadLetterDiscarder,
} from './discard-jobs.ts';

const PAGES = 40;
const MS_PER_PAGE = 30;

const never = new AbortController().signal;
const leases = {
  acquireLease: async () =>
    ({ lost: never, handOverRequested: never, releaseLease: async () => undefined }) as Partial<Lease>,
};

test('the backlog of a deleted endpoint is discarded 50 deliveries at a time, in 20% of the time', async () => {
  let now = 0;
  let left = PAGES;
  let isMarked = true;
  const limits: number[] = [];
  const rests: number[] = [];
  const discarder = new DeletedEndpointBacklogDiscarder({
    endpoints: {
      listDeletedEndpointsWithBacklog: () => Promise.resolve(isMarked ? [{ id: 'whe_1' }] : []),
      removeBacklogMark: async () => void (isMarked = false),
    },
    queues: {
      discardPendingDeliveries: async (_endpoint: object, _at: string, limit: number) => {
        limits.push(limit);
        now += MS_PER_PAGE;
        return left-- > 0 ? limit : 0;
      },
    },
    replays: { cancelRunningReplay: () => Promise.resolve() },
    clock: () => new Date(),
    leases,
    logger: silentLogger,
    metrics: new RecordedMetrics(),
    pacing: { elapsed: () => now, rest: async (ms: number) => void rests.push(ms) },
  } as unknown as BacklogDiscarderDependencies);
  discarder.job.startJobRounds();
  await eventually(() => expect(isMarked).toBe(false));
  await discarder.job.stopJobRounds();
  expect(new Set(limits)).toEqual(new Set([50]));
  // The last page finds that no delivery is left.
  expect(rests).toEqual(Array.from({ length: PAGES + 1 }, () => 4 * MS_PER_PAGE));
});

test('a page whose dead letters were discarded before a crash is recounted before it is counted as done', async () => {
  const [endpoint_id, replay_id] = ['whe_1', 'rpl_1'];
  const steps: unknown[] = [];
  const running = [{ id: replay_id, endpoint_id, under_way: [{ id: 'dlv_1' }, { id: 'dlv_2' }] }];
  const discarded = { endpoint_id, replay_id, status: 'discarded', discarded_at: '2026-11-23T14:55:00.000Z' };
  const discarder = new DeadLetterDiscarder({
    store: {
      listRunningDiscardJobs: () => Promise.resolve([...running]),
      storeReplayOutcomeCounts: async (_: object, outcomes: object) => {
        running.pop();
        steps.push(outcomes);
      },
    },
    queries: { findDeliveriesByIds: () => Promise.resolve([{ ...discarded }, { ...discarded }]) },
    recounts: new HourRecountRequestStore({
      upsert: async ({ hour, part }: { readonly hour: string; readonly part: string }) => void steps.push([part, hour]),
    } as unknown as HourRecountRequestStore['documents']),
    leases,
    logger: silentLogger,
    metrics: new RecordedMetrics(),
  } as unknown as ConstructorParameters<typeof DeadLetterDiscarder>[0]);
  discarder.job.startJobRounds();
  await eventually(() => expect(running).toEqual([]));
  await discarder.job.stopJobRounds();
  expect(steps).toEqual([['discards', '2026-11-23T14:00:00.000Z'], { done: 2, failed: 0 }]);
});

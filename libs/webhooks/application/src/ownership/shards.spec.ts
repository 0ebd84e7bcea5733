import type { Lease, Query } from '@tracking/ports';
import { LeaderElectedJob } from '@tracking/resilience';
import { eventually, silentLogger } from '@tracking/testing';
import { ENDPOINT_SHARD_COUNT } from '@tracking/webhooks-domain';
import { OwnerWakeUpStore, ShardLeases, type WakeUpDocument } from './shards.ts';

const NEVER = new AbortController().signal;
const LEASE = { lost: NEVER, handOverRequested: NEVER, isLeaseHeld: () => true, releaseLease: () => Promise.resolve() };

test('a failure to acquire a shard is counted and logged, and the shard is acquired afterwards', async () => {
  const failed = new Set<string>();
  const counted: string[] = [];
  const logged: object[] = [];
  const log = (fields: object) => void logged.push(fields);
  const shards = new ShardLeases({
    leases: {
      acquireLease: (name) => {
        if (name !== 'webhooks-shard-03' || failed.has(name)) return Promise.resolve(LEASE as unknown as Lease);
        failed.add(name);
        return Promise.reject(new Error('the store is away'));
      },
    },
    logger: { debug: log, info: log, warn: log, error: log },
    countRetry: (what) => void counted.push(what),
  });
  shards.startAcquiringShardLeases({
    acquired: () => undefined,
    lost: () => undefined,
    handOver: () => Promise.resolve(),
  });
  await eventually(() => expect(shards.count).toBe(ENDPOINT_SHARD_COUNT));
  await shards.releaseShards();
  expect(counted).toEqual(['acquiring a shard']);
  expect(logged).toEqual([{ reason: 'Error: the store is away', shard: 3 }]);
});

let stored: Map<string, WakeUpDocument>;
let wakeUps: OwnerWakeUpStore;
beforeEach(() => {
  stored = new Map();
  wakeUps = new OwnerWakeUpStore({
    upsert: async (document: WakeUpDocument) => void stored.set(document.id, document),
    writeMany: async (writes: readonly { readonly document: WakeUpDocument }[]) => {
      for (const { document } of writes) stored.set(document.id, document);
    },
    find: async ({ filter, limit }: Query) =>
      [...stored.values()]
        .filter(({ shard }) => (filter['shard'] as { in: readonly number[] }).in.includes(shard))
        .slice(0, limit),
    delete: async (id: string, { token }: { readonly token: string }) =>
      stored.get(id)?.token === token && stored.delete(id),
  } as unknown as ConstructorParameters<typeof OwnerWakeUpStore>[0]);
});

test('a round reads every wake-up, even if many others are always requested again', async () => {
  const ids = Array.from({ length: 1_001 }, (_, n) => `whe_${String(n).padStart(4, '0')}`);
  const shards = Array.from({ length: ENDPOINT_SHARD_COUNT }, (_, shard) => shard);
  await wakeUps.requestOwnerWakeUps(ids);
  const reloaded: string[] = [];
  await wakeUps.processWakeUps(shards, [], async (id) => {
    reloaded.push(id);
    if (id !== ids.at(-1)) await wakeUps.requestOwnerWakeUps([id]);
    return true;
  });
  expect(reloaded).toEqual(ids);
  expect(stored.size).toBe(1_000);
});

describe('a wake-up of a job', () => {
  const NEVER_MS = 2 ** 31 - 1;
  let started: LeaderElectedJob[];
  beforeEach(() => void (started = []));
  afterEach(() => Promise.all(started.map((job) => job.stopJobRounds())));

  /** Starts a process's job, which runs only when woken after its first round. */
  function startJob(holdsLease: boolean) {
    let rounds = 0;
    const lease = { ...LEASE, isLeaseHeld: () => holdsLease } as unknown as Lease;
    const job = new LeaderElectedJob({
      leases: { acquireLease: async () => lease },
      lease: 'a-job',
      logger: silentLogger,
      countRetry: () => undefined,
      description: 'running a job',
      intervalMs: NEVER_MS,
      runJobRound: async () => void (rounds += 1),
    });
    job.startJobRounds();
    started.push(job);
    return { job, countRounds: () => rounds };
  }
  const reloadNothing = () => Promise.reject(new Error('no endpoint has a wake-up'));

  test('stays stored until the process that runs the job, which may own no shard, has read it', async () => {
    const [other, holder] = [startJob(false), startJob(true)];
    await eventually(() => expect(holder.countRounds()).toBe(1));
    await wakeUps.requestJobWakeUp(other.job);
    await wakeUps.processWakeUps([1, 2], [other.job], reloadNothing);
    expect([...stored.keys()]).toEqual(['a-job']);
    expect(holder.countRounds()).toBe(1);
    await wakeUps.processWakeUps([], [holder.job], reloadNothing);
    await eventually(() => expect(holder.countRounds()).toBe(2));
    expect(stored.size).toBe(0);
  });

  test('is not stored by the process that runs the job', async () => {
    const { job, countRounds } = startJob(true);
    await eventually(() => expect(countRounds()).toBe(1));
    await wakeUps.requestJobWakeUp(job);
    await eventually(() => expect(countRounds()).toBe(2));
    expect(stored.size).toBe(0);
  });
});

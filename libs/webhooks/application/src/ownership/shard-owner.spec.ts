import type { Lease } from '@tracking/ports';
import { eventually, silentLogger } from '@tracking/testing';
import { computeShardOfEndpoint } from '@tracking/webhooks-domain';
import { EndpointShardOwner, type ShardOwnerDependencies } from './shard-owner.ts';
import { ShardLeases } from './shards.ts';

const [FIRST, LATE] = ['whe_a', 'whe_b'];
const leaseName = (endpointId: string) =>
  `webhooks-shard-${String(computeShardOfEndpoint(endpointId)).padStart(2, '0')}`;

const readAtOnce = (id: string) => Promise.resolve({ endpoint: { id } });

/**
 * An endpoint of each of two shards has pending deliveries. The second shard is acquired this many microtasks after the
 * first is read.
 */
function owner(microtasks: number, { pending = [FIRST, LATE] as readonly string[], readClient = readAtOnce } = {}) {
  const read: string[] = [];
  const firstIsRead = Promise.withResolvers<void>();
  const lease: Lease = {
    name: '',
    epoch: 1,
    lost: new AbortController().signal,
    handOverRequested: new AbortController().signal,
    isLeaseHeld: () => true,
    releaseLease: () => Promise.resolve(),
  };
  const shards = new ShardLeases({
    logger: silentLogger,
    countRetry: () => undefined,
    leases: {
      async acquireLease(name: string) {
        if (name === leaseName(LATE)) {
          await firstIsRead.promise;
          for (let n = 0; n < microtasks; n += 1) await Promise.resolve();
        } else if (name !== leaseName(FIRST)) await new Promise(() => undefined);
        return lease;
      },
    },
  });
  const parts = {
    shards,
    queues: {
      async *listEndpointsWithPendingDeliveries() {
        yield* await Promise.resolve(pending);
        firstIsRead.resolve();
      },
    },
    replays: {
      async *listReplayingEndpoints() {
        yield* await Promise.resolve([]);
      },
    },
    replaying: { readRunningReplayOfEndpoint: () => Promise.resolve() },
    clients: { readEndpointAndCacheClient: readClient },
    endpoints: {
      all: [],
      getEndpointOwnedByProcess: () => undefined,
      dropIdleEndpoints: () => undefined,
      notifyEndpointObservers: () => undefined,
      getOrCreateOwnedEndpoint: ({ id }: { id: string }) => ({ id, markPendingDeliveriesForReread: () => undefined }),
      loadHealthAndNextDeliveries: ({ id }: { id: string }) => Promise.resolve(void read.push(id)),
    },
    wakeUps: { processWakeUps: () => Promise.resolve() },
    logger: silentLogger,
    countRetry: () => undefined,
    pollMs: 1_000,
  };
  const made = new EndpointShardOwner(parts as unknown as ShardOwnerDependencies);
  made.startOwningShards();
  return { read, stop: () => made.stopAcquiringShards() };
}

test('deliveries of a shard are read whenever it is acquired, even while the read of other shards ends', async () => {
  const owners = Array.from({ length: 40 }, (_, microtasks) => owner(microtasks));
  try {
    await eventually(() => {
      for (const { read } of owners) expect(read).toEqual([FIRST, LATE]);
    });
  } finally {
    for (const { stop } of owners) void stop();
  }
});

test('pending deliveries of several endpoints are read at the same time', async () => {
  const ofFirstShard = (id: string) => computeShardOfEndpoint(id) === computeShardOfEndpoint(FIRST);
  const pending = Array.from({ length: 2_000 }, (_, n) => `whe_${n}`)
    .filter(ofFirstShard)
    .slice(0, 20);
  const waiting: (() => void)[] = [];
  const readClient = async (id: string) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { endpoint: { id } };
  };
  const { read, stop } = owner(0, { pending, readClient });
  try {
    await eventually(() => expect(waiting).toHaveLength(16));
    for (const resolve of waiting.splice(0)) resolve();
    await eventually(() => expect(waiting).toHaveLength(4));
    for (const resolve of waiting.splice(0)) resolve();
    await eventually(() => expect(read.toSorted()).toEqual(pending.toSorted()));
  } finally {
    void stop();
  }
});

import type { Lease } from '@tracking/ports';
import { eventually } from '@tracking/testing';
import { ENDPOINT_SHARD_COUNT } from '@tracking/webhooks-domain';
import { ShardLeases } from './shards.ts';

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

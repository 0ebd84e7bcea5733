import { randomUUID } from 'node:crypto';
import type { Collection, CollectionSpec, CountRetry, Document, Lease, Leases, Logger } from '@tracking/ports';
import { retry } from '@tracking/resilience';
import { SHARD_COUNT, shardOf } from '@tracking/webhooks-domain';

interface ShardLeasesDependencies {
  readonly leases: Leases;
  readonly logger: Logger;
  readonly countRetry: CountRetry;
}

interface ShardObserver {
  acquired(shard: number): void;
  lost(shard: number): void;
}

/** The leases of the shards that this process owns. Only the owner of a shard attempts deliveries to its endpoints. */
export class ShardLeases {
  private readonly held = new Map<number, Lease>();
  private readonly stopping = new AbortController();
  private readonly loops: Promise<void>[] = [];

  constructor(private readonly dependencies: ShardLeasesDependencies) {}

  get count(): number {
    return this.held.size;
  }
  /** Numbers of the shards that this process currently owns. */
  get all(): readonly number[] {
    return [...this.leases.keys()];
  }
  /** Leases of the currently owned shards, by shard number. */
  get leases(): ReadonlyMap<number, Lease> {
    return new Map([...this.held].filter(([, lease]) => lease.isHeld()));
  }

  owns(endpointId: string): boolean {
    return this.leaseOf(endpointId) !== undefined;
  }

  /** Returns the lease under which this process currently owns the endpoint; undefined if it does not. */
  leaseOf(endpointId: string): Lease | undefined {
    const lease = this.held.get(shardOf(endpointId));
    return lease?.isHeld() === true ? lease : undefined;
  }

  start(observer: ShardObserver): void {
    for (let shard = 0; shard < SHARD_COUNT; shard += 1) this.loops.push(this.holdShard(shard, observer));
  }

  /**
   * Stops acquiring shards. Held shards stay held until {@link release}, so that no other process starts before all
   * work here is done.
   */
  stop(): void {
    this.stopping.abort();
  }

  async release(): Promise<void> {
    this.stop();
    await Promise.all(this.loops);
    const leases = [...this.held.values()];
    this.held.clear();
    await Promise.allSettled(leases.map((lease) => lease.release()));
  }

  private async holdShard(shard: number, observer: ShardObserver): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const lease = await this.acquire(shard).catch(() => undefined);
      if (lease === undefined) return;
      this.held.set(shard, lease);
      observer.acquired(shard);
      await waitForAbort(lease.lost, signal);
      if (!lease.lost.aborted) return;
      this.held.delete(shard);
      observer.lost(shard);
    }
  }

  /** @throws when this process stops */
  private acquire(shard: number): Promise<Lease> {
    const { leases, logger, countRetry } = this.dependencies;
    const { signal } = this.stopping;
    const name = `webhooks-shard-${String(shard).padStart(2, '0')}`;
    const onFailure = (error: unknown) => {
      if (signal.aborted) return;
      countRetry('acquiring a shard');
      logger.warn({ reason: String(error), shard }, 'webhooks: could not acquire a shard; trying again');
    };
    return retry(() => leases.acquire(name, signal), { signal, firstPauseMs: 500, maxPauseMs: 2_000, onFailure });
  }
}

function waitForAbort(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const any = AbortSignal.any([...signals]);
    if (any.aborted) return resolve();
    any.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** A wake-up: stored data of the endpoint changed, and its owner, another process, has to read it again. */
export interface WakeUpDocument extends Document {
  readonly shard: number;
  /** Token of the latest change. The owner deletes a wake-up only if the token has not changed since it was read. */
  readonly token: string;
}

export const WAKE_UPS: CollectionSpec = {
  name: 'webhook_nudges',
  indexes: [{ name: 'shard', fields: ['shard'] }],
};

const WAKE_UPS_PER_READ = 500;

/** Wake-ups between processes. A process that stores data about an endpoint wakes the endpoint's owner. */
export class OwnerWakeUps {
  constructor(private readonly documents: Collection<WakeUpDocument>) {}

  /** Requests wake-ups, which are stored when this resolves. Call it after the change is stored. */
  async request(endpointIds: readonly string[]): Promise<void> {
    await this.documents.writeMany(
      endpointIds.map((id) => ({ kind: 'upsert', document: { id, shard: shardOf(id), token: randomUUID() } })),
    );
  }

  /**
   * Processes the wake-ups of these shards.
   * @param reload reloads an endpoint and returns whether this process still owns it; if so, its wake-up is deleted
   */
  async process(shards: readonly number[], reload: (endpointId: string) => Promise<boolean>): Promise<void> {
    if (shards.length === 0) return;
    const left = await this.documents.find({ filter: { shard: { in: shards } }, limit: WAKE_UPS_PER_READ });
    for (const { id, token } of left) {
      if (await reload(id)) await this.documents.delete(id, { token });
    }
  }
}

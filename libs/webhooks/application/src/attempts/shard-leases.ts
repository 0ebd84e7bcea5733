import type { CountRetry, Lease, Leases, Logger } from '@tracking/ports';
import { retry } from '@tracking/resilience';
import { SHARD_COUNT, shardOf } from '@tracking/webhooks-domain';

export interface ShardLeasesParts {
  readonly leases: Leases;
  readonly logger: Logger;
  readonly countRetry: CountRetry;
  acquired(shard: number): void;
  lost(shard: number): void;
}

/** The leases of the shards that this process owns: it alone attempts deliveries to their endpoints. */
export class ShardLeases {
  private readonly held = new Map<number, Lease>();
  private readonly stopping = new AbortController();
  private readonly loops: Promise<void>[] = [];

  constructor(private readonly parts: ShardLeasesParts) {}

  get count(): number {
    return this.held.size;
  }
  /** Owned at this moment. */
  get all(): readonly number[] {
    return [...this.leases.keys()];
  }
  get leases(): ReadonlyMap<number, Lease> {
    return new Map([...this.held].filter(([, lease]) => lease.isHeld()));
  }

  owns(endpointId: string): boolean {
    return this.leaseOf(endpointId) !== undefined;
  }

  /** Under which this endpoint is owned at this moment. */
  leaseOf(endpointId: string): Lease | undefined {
    const lease = this.held.get(shardOf(endpointId));
    return lease?.isHeld() === true ? lease : undefined;
  }

  start(): void {
    for (let shard = 0; shard < SHARD_COUNT; shard += 1) this.loops.push(this.hold(shard));
  }

  /** Takes no more; what is held stays held until {@link release}, so that nobody else begins before all is done here. */
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

  private async hold(shard: number): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const lease = await this.acquire(shard).catch(() => undefined);
      if (lease === undefined) return;
      this.held.set(shard, lease);
      this.parts.acquired(shard);
      await either(lease.lost, signal);
      if (!lease.lost.aborted) return;
      this.held.delete(shard);
      this.parts.lost(shard);
    }
  }

  /** @throws when this process stops */
  private acquire(shard: number): Promise<Lease> {
    const { leases, logger, countRetry } = this.parts;
    const { signal } = this.stopping;
    const name = `webhooks-shard-${String(shard).padStart(2, '0')}`;
    const onFailure = (error: unknown) => {
      if (signal.aborted) return;
      countRetry('acquiring a shard');
      logger.warn({ reason: String(error), shard }, 'webhooks: could not acquire a shard; trying again');
    };
    return retry(() => leases.acquire(name, signal), { signal, firstPauseMs: 500, longestPauseMs: 2_000, onFailure });
  }
}

function either(one: AbortSignal, other: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const either = AbortSignal.any([one, other]);
    if (either.aborted) return resolve();
    either.addEventListener('abort', () => resolve(), { once: true });
  });
}

import { setTimeout as pause } from 'node:timers/promises';
import type { CountRetry, Lease, Leases, Logger } from '@tracking/ports';
import { SHARD_COUNT, shardOf } from '@tracking/webhooks-domain';

const RETRY_MS = 1_000;

/** The shards of endpoints that this process owns: it alone attempts deliveries to those endpoints. */
export class Shards {
  private readonly held = new Map<number, Lease>();
  private readonly stopping = new AbortController();
  private readonly loops: Promise<void>[] = [];

  constructor(
    private readonly leases: Leases,
    private readonly logger: Logger,
    private readonly countRetry: CountRetry,
    private readonly acquired: (shard: number) => void,
    private readonly lost: (shard: number) => void,
  ) {}

  get count(): number {
    return this.held.size;
  }
  get all(): readonly number[] {
    return [...this.held.keys()];
  }

  owns(endpointId: string): boolean {
    return this.held.has(shardOf(endpointId));
  }

  /** Of the lease under which this endpoint is owned. */
  epochOf(endpointId: string): number {
    return this.held.get(shardOf(endpointId))?.epoch ?? 0;
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
    const name = `webhooks-shard-${String(shard).padStart(2, '0')}`;
    while (!signal.aborted) {
      try {
        const lease = await this.leases.acquire(name, signal);
        this.held.set(shard, lease);
        this.acquired(shard);
        await either(lease.lost, signal);
        if (!lease.lost.aborted) return;
        this.held.delete(shard);
        this.lost(shard);
      } catch (error) {
        if (signal.aborted) return;
        this.countRetry('acquiring a shard');
        this.logger.warn({ reason: String(error), shard }, 'webhooks: could not acquire a shard; trying again');
        await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}

function either(one: AbortSignal, other: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (one.aborted || other.aborted) return resolve();
    const done = () => {
      one.removeEventListener('abort', done);
      other.removeEventListener('abort', done);
      resolve();
    };
    one.addEventListener('abort', done);
    other.addEventListener('abort', done);
  });
}

import { randomUUID } from 'node:crypto';
import type { Collection, CollectionSpec, CountRetry, Document, Lease, LeaseSource, Logger } from '@tracking/ports';
import { type LeaderElectedJob, retry, waitForAbort } from '@tracking/resilience';
import { ENDPOINT_SHARD_COUNT, computeShardOfEndpoint } from '@tracking/webhooks-domain';

interface ShardLeasesDependencies {
  readonly leases: LeaseSource;
  readonly logger: Logger;
  readonly countRetry: CountRetry;
}

interface ShardObserver {
  acquired(shard: number): void;
  lost(shard: number): void;
  /**
   * Ends the work on a shard that another process should own, or that this process stops owning. The shard is released
   * when this resolves, and is no longer among the owned shards.
   */
  handOver(shard: number): Promise<void>;
}

/** Returns the name of a shard's lease. */
export function createShardLeaseName(shard: number): string {
  return `webhooks-shard-${String(shard).padStart(2, '0')}`;
}

/** The leases of the shards that this process owns. Only the owner of a shard attempts deliveries to its endpoints. */
export class ShardLeases {
  private readonly held = new Map<number, Lease>();
  /** Leases of shards whose work is ending. */
  private readonly handingOver = new Set<Lease>();
  private readonly stopping = new AbortController();
  private readonly releasing = new AbortController();
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
    return new Map([...this.held].filter(([, lease]) => this.isShardLeaseOwned(lease)));
  }

  ownsShardOf(endpointId: string): boolean {
    return this.getLeaseOfEndpoint(endpointId) !== undefined;
  }

  /** Returns the lease under which this process currently owns the endpoint; undefined if it does not. */
  getLeaseOfEndpoint(endpointId: string): Lease | undefined {
    const lease = this.held.get(computeShardOfEndpoint(endpointId));
    return lease !== undefined && this.isShardLeaseOwned(lease) ? lease : undefined;
  }

  startAcquiringShardLeases(observer: ShardObserver): void {
    for (let shard = 0; shard < ENDPOINT_SHARD_COUNT; shard += 1) this.loops.push(this.holdShardLease(shard, observer));
  }

  /** Stops acquiring shards, and hands each held shard over as soon as its work has ended. */
  stopAcquiringShardLeases(): void {
    this.stopping.abort();
  }

  /** Releases the shards that are still held, even if their work has not ended. */
  async releaseShards(): Promise<void> {
    this.stopAcquiringShardLeases();
    this.releasing.abort();
    await Promise.all(this.loops);
  }

  private async holdShardLease(shard: number, observer: ShardObserver): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const lease = await this.acquireShard(shard).catch(() => undefined);
      if (lease === undefined) return;
      this.held.set(shard, lease);
      observer.acquired(shard);
      await waitForAbort(lease.lost, lease.handOverRequested, signal);
      if (!lease.lost.aborted) await this.handShardOver(shard, lease, observer);
      this.held.delete(shard);
      if (this.handingOver.delete(lease)) await lease.releaseLease().catch(() => undefined);
      else observer.lost(shard);
    }
  }

  private async handShardOver(shard: number, lease: Lease, observer: ShardObserver): Promise<void> {
    this.handingOver.add(lease);
    const ended = observer.handOver(shard).catch((error: unknown) => {
      const fields = { reason: String(error), shard };
      this.dependencies.logger.warn(fields, 'webhooks: a shard was handed over before all of its work had ended');
    });
    await Promise.race([ended, waitForAbort(lease.lost, this.releasing.signal)]);
  }

  private isShardLeaseOwned(lease: Lease): boolean {
    return !this.handingOver.has(lease) && lease.isLeaseHeld();
  }

  /** @throws when this process stops */
  private acquireShard(shard: number): Promise<Lease> {
    const { leases, logger, countRetry } = this.dependencies;
    const { signal } = this.stopping;
    const name = createShardLeaseName(shard);
    const onFailure = (error: unknown) => {
      if (signal.aborted) return;
      countRetry('acquiring a shard');
      logger.warn({ reason: String(error), shard }, 'webhooks: could not acquire a shard; trying again');
    };
    return retry(() => leases.acquireLease(name, signal), { signal, firstPauseMs: 500, maxPauseMs: 2_000, onFailure });
  }
}

/**
 * A wake-up of an endpoint or a job. The stored data of the endpoint changed, and its owner, another process, has to
 * read it again; or another process has to run the job. The id is that of the endpoint, or the name of the job's lease.
 */
export interface WakeUpDocument extends Document {
  /** Shard of the endpoint; `JOBS_SHARD` for a job. */
  readonly shard: number;
  /** Token of the latest change. The owner deletes a wake-up only if the token has not changed since it was read. */
  readonly token: string;
}

export const WAKE_UPS_COLLECTION_SPEC: CollectionSpec = {
  name: 'webhook_nudges',
  indexes: [{ name: 'shard', fields: ['shard'] }],
};

/**
 * Maximum number of wake-ups in one read. Higher than the number of endpoints that a process delivers to: otherwise
 * wake-ups that are requested again and again could keep the others waiting forever.
 */
const WAKE_UPS_PER_READ = 20_000;
/** Number of wake-ups that are processed at the same time. */
const WAKE_UPS_AT_ONCE = 16;
/** Shard of the wake-ups of jobs. Every process reads them. */
const JOBS_SHARD = -1;

/**
 * Stored wake-ups, for owners that no message reached and for jobs of other processes. Each process regularly reads the
 * wake-ups of its shards and of jobs, with one request.
 */
export class OwnerWakeUpStore {
  constructor(private readonly documents: Collection<WakeUpDocument>) {}

  /** Requests wake-ups, which are stored when this resolves. Call it after the change is stored. */
  async requestOwnerWakeUps(endpointIds: readonly string[]): Promise<void> {
    await this.documents.writeMany(
      endpointIds.map((id) => ({
        kind: 'upsert',
        document: { id, shard: computeShardOfEndpoint(id), token: randomUUID() },
      })),
    );
  }

  /**
   * Wakes a job in the process that runs it. If another process runs it, the wake-up is stored when this resolves. Call
   * it after the work of the job is stored.
   * @throws UnavailableError
   */
  async requestJobWakeUp(job: LeaderElectedJob): Promise<void> {
    job.wakeJob();
    if (job.isLeaseHeld) return;
    await this.documents.upsert({ id: job.leaseName, shard: JOBS_SHARD, token: randomUUID() });
  }

  /**
   * Processes the wake-ups of these shards, and of the jobs that this process runs.
   * @param reload reloads an endpoint and returns whether this process still owns it; if so, its wake-up is deleted
   */
  async processWakeUps(
    shards: readonly number[],
    jobs: readonly LeaderElectedJob[],
    reload: (endpointId: string) => Promise<boolean>,
  ): Promise<void> {
    const filter = { shard: { in: [JOBS_SHARD, ...shards] } };
    const stored = await this.documents.find({ filter, limit: WAKE_UPS_PER_READ });
    const processWakeUp = async ({ id, shard, token }: WakeUpDocument) => {
      const isProcessed = shard === JOBS_SHARD ? wakeHeldJob(jobs, id) : await reload(id);
      if (isProcessed) await this.documents.delete(id, { token });
    };
    for (let at = 0; at < stored.length; at += WAKE_UPS_AT_ONCE)
      await Promise.all(stored.slice(at, at + WAKE_UPS_AT_ONCE).map(processWakeUp));
  }
}

/** Wakes the job with this lease if this process runs it. Returns true if it does. */
function wakeHeldJob(jobs: readonly LeaderElectedJob[], leaseName: string): boolean {
  const job = jobs.find((each) => each.leaseName === leaseName && each.isLeaseHeld);
  job?.wakeJob();
  return job !== undefined;
}

import type { CountRetry, Logger } from '@tracking/ports';
import { pause, retry } from '@tracking/resilience';
import { shardOf } from '@tracking/webhooks-domain';
import type { EndpointClients } from '../endpoints/endpoint-clients.ts';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { BacklogDiscarder } from '../replays/discard-jobs.ts';
import type { ReplayStore } from '../replays/replay-store.ts';
import type { ReplayRunner } from '../replays/replay-runner.ts';
import type { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import type { DeliveryDocument } from '../store/delivery-document.ts';
import type { DeliveryQueues } from '../store/delivery-queues.ts';
import type { OwnedEndpoints } from './owned-endpoints.ts';
import type { OwnerWakeUps, ShardLeases } from './shards.ts';

export interface ShardOwnerDependencies {
  readonly shards: ShardLeases;
  readonly endpoints: OwnedEndpoints;
  readonly queues: DeliveryQueues;
  readonly backlogs: Pick<BacklogDiscarder, 'request'>;
  readonly wakeUps: OwnerWakeUps;
  readonly replays: ReplayStore;
  readonly replaying: ReplayRunner;
  readonly clients: EndpointClients;
  readonly logger: Logger;
  readonly countRetry: CountRetry;
  readonly pollMs: number;
}

/** Deliveries that were just stored, with their endpoints. */
export interface StoredDeliveries {
  readonly matches: readonly { readonly endpoint: EndpointDocument; readonly delivery: DeliveryDocument }[];
  /**
   * True if all deliveries are newly stored. If false, some deliveries may already be attempted, so each is read again
   * before its attempt.
   */
  readonly areNew: boolean;
}

/**
 * Ensures that each endpoint is attempted by one process, and that this process knows the pending work of its shards'
 * endpoints. The process learns about work in three ways: its own recorded deliveries are handed over in memory;
 * wake-ups report what other processes recorded or changed; and a process that takes over a shard reads all pending
 * work of the shard.
 */
export class ShardOwner {
  /** Acquired shards whose pending work has been read. */
  private readonly known = new Set<number>();
  /** Acquired shards whose pending work is being read. */
  private unknown = new Set<number>();
  private readonly stopping = new AbortController();
  private takingOver: Promise<void> | undefined;
  private polling: Promise<void> = Promise.resolve();

  constructor(private readonly dependencies: ShardOwnerDependencies) {}

  start(): void {
    this.dependencies.shards.start({
      acquired: () => void (this.takingOver ??= this.takeOver()),
      lost: (shard) => this.dropShard(shard),
    });
    this.polling = this.poll();
  }

  /** Hands deliveries to the endpoints that this process owns, and wakes the owners of all other endpoints. */
  async handOver({ matches, areNew }: StoredDeliveries): Promise<void> {
    const { clients, endpoints } = this.dependencies;
    const ofOthers: string[] = [];
    for (const [endpoint, some] of Map.groupBy(matches, (match) => match.endpoint)) {
      const owned = this.open(endpoint, this.known.has(shardOf(endpoint.id)));
      if (owned === undefined) {
        ofOthers.push(endpoint.id);
        continue;
      }
      clients.cacheEndpoint(endpoint);
      const knownAt = areNew ? performance.now() : -Infinity;
      for (const { delivery } of some) owned.add(delivery, knownAt, endpoints.getFreeCapacity(owned));
      endpoints.notifyChanged(owned);
    }
    await this.notify(ofOthers);
  }

  /**
   * Returns true unless this process owns the endpoint and cannot send its deliveries soon: the circuit is open or the
   * window lacks pending deliveries.
   */
  isKeepingUp(endpointId: string): boolean {
    const { shards, endpoints } = this.dependencies;
    return !shards.owns(endpointId) || (endpoints.get(endpointId)?.isKeepingUp ?? true);
  }

  /** Returns true if this process knows that the endpoint's circuit is open: recent attempts all failed. */
  isFailing(endpointId: string): boolean {
    const { shards, endpoints } = this.dependencies;
    return shards.owns(endpointId) && endpoints.get(endpointId)?.isFailing === true;
  }

  /** Notifies the owners of these endpoints (this process or others) that stored data of the endpoints changed. */
  async notify(endpointIds: readonly string[]): Promise<void> {
    const { shards, wakeUps } = this.dependencies;
    const others = endpointIds.filter((id) => !shards.owns(id));
    if (others.length > 0) await wakeUps.request(others);
    for (const id of endpointIds) await this.reload(id);
  }

  /** Stops acquiring shards. Held shards stay held until {@link release}. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.dependencies.shards.stop();
    await Promise.all([this.polling, this.takingOver]);
  }

  release(): Promise<void> {
    return this.dependencies.shards.release();
  }

  /** Opens an endpoint. Returns undefined if another process owns it. */
  private open(endpoint: EndpointDocument, empty: boolean): OwnedEndpoint | undefined {
    const lease = this.dependencies.shards.leaseOf(endpoint.id);
    return lease && this.dependencies.endpoints.open(endpoint, lease, empty);
  }

  /** Reads the stored data of an endpoint again. No-op if another process owns the endpoint. */
  private async reload(endpointId: string): Promise<OwnedEndpoint | undefined> {
    const { shards, endpoints, backlogs, clients, replaying } = this.dependencies;
    if (!shards.owns(endpointId)) return undefined;
    const endpoint = (await clients.read(endpointId))?.endpoint;
    if (endpoint === undefined || !shards.owns(endpointId)) return undefined;
    if (endpoint.deleted) {
      const known = endpoints.get(endpointId);
      known?.setEndpoint(endpoint);
      if (known !== undefined) endpoints.drop(known);
      await backlogs.request(endpointId);
      return undefined;
    }
    const owned = this.open(endpoint, false);
    if (owned === undefined) return undefined;
    owned.reread();
    await replaying.refresh(owned);
    endpoints.notifyChanged(owned);
    return owned;
  }

  /**
   * Reads all pending work of newly acquired shards. Shards that are acquired during a round are read in the next
   * round.
   */
  private async takeOver(): Promise<void> {
    const { signal } = this.stopping;
    const { logger, countRetry } = this.dependencies;
    const onFailure = (error: unknown) => {
      countRetry('reading pending deliveries');
      logger.warn({ reason: String(error) }, 'webhooks: could not read pending deliveries; trying again');
    };
    // Wait for one turn of the event loop: shards are mostly acquired together, and one round reads them all.
    await new Promise(setImmediate);
    await retry(() => this.readAcquiredShards(), { signal, firstPauseMs: 500, maxPauseMs: 2_000, onFailure }).catch(
      () => undefined,
    );
  }

  private async readAcquiredShards(): Promise<void> {
    const { signal } = this.stopping;
    const { shards, queues, replays } = this.dependencies;
    while (!signal.aborted) {
      this.unknown = new Set(shards.all.filter((shard) => !this.known.has(shard)));
      if (this.unknown.size === 0) {
        // Reset without an await in between, so that every shard acquired later starts a new round.
        this.takingOver = undefined;
        return;
      }
      await this.reloadEndpointsOfAcquiredShards(queues.endpoints());
      await this.reloadEndpointsOfAcquiredShards(replays.listReplayingEndpoints());
      if (signal.aborted) return;
      for (const shard of this.unknown) this.known.add(shard);
    }
  }

  /** Reloads the endpoints whose shard is being read. */
  private async reloadEndpointsOfAcquiredShards(endpointIds: AsyncIterable<string>): Promise<void> {
    for await (const endpointId of endpointIds) {
      if (this.stopping.signal.aborted) return;
      const owned = this.unknown.has(shardOf(endpointId)) ? await this.reload(endpointId) : undefined;
      if (owned !== undefined) await this.dependencies.endpoints.fillEndpoint(owned);
    }
  }

  private dropShard(shard: number): void {
    const { endpoints, logger } = this.dependencies;
    this.known.delete(shard);
    this.unknown.delete(shard);
    for (const owned of endpoints.all) if (shardOf(owned.id) === shard) endpoints.drop(owned);
    logger.warn({ shard }, 'webhooks: this process lost a shard; another process takes the shard over');
  }

  private async poll(): Promise<void> {
    const { shards, wakeUps, endpoints, logger, countRetry, pollMs } = this.dependencies;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        await wakeUps.process(shards.all, async (id) => {
          await this.reload(id);
          return shards.owns(id);
        });
        endpoints.dropIdleEndpoints();
      } catch (error) {
        countRetry('checking for wake-ups');
        logger.warn({ reason: String(error) }, 'webhooks: could not check for wake-ups');
      }
      await pause(pollMs, signal);
    }
  }
}

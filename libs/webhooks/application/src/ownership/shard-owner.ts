import type { CountRetry, Logger } from '@tracking/ports';
import { type LeaderElectedJob, pauseFor, retry } from '@tracking/resilience';
import { computeShardOfEndpoint } from '@tracking/webhooks-domain';
import type { EndpointClients } from '../endpoints/endpoint-clients.ts';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { DeletedEndpointBacklogDiscarder } from '../replays/discard-jobs.ts';
import type { ReplayStore } from '../replays/replay-store.ts';
import type { ReplayRunner } from '../replays/replay-runner.ts';
import type { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import type { EndpointAttemptCounter } from '../stats/stats-keeper.ts';
import type { DeliveryDocument, PayloadStore } from '../store/delivery-document.ts';
import type { DeliveryQueues } from '../store/delivery-queues.ts';
import type { OwnedEndpoints } from './owned-endpoints.ts';
import type {
  HandedOverDeliveries,
  EndpointOwnerProcessNotifier,
  NotOwnedEndpointIds,
  ShardOwnerOperations,
} from './owner-messages.ts';
import type { OwnerWakeUpStore, ShardLeases } from './shards.ts';

/**
 * Maximum milliseconds until a shard that another process should own is handed over. Attempts that take longer are
 * canceled, and the next owner repeats them.
 */
const MAX_SHARD_HAND_OVER_MS = 10_000;
/** Number of endpoints of acquired shards that are read at the same time. */
const ENDPOINTS_PER_RELOAD = 16;

export interface ShardOwnerDependencies {
  readonly shards: ShardLeases;
  readonly endpoints: OwnedEndpoints;
  readonly queues: DeliveryQueues;
  readonly backlogs: Pick<DeletedEndpointBacklogDiscarder, 'requestBacklogDiscard'>;
  readonly wakeUps: OwnerWakeUpStore;
  /** Jobs that stored wake-ups can wake. */
  readonly jobs: readonly LeaderElectedJob[];
  readonly messages: EndpointOwnerProcessNotifier;
  readonly payloads: Pick<PayloadStore, 'cachePayloadBody'>;
  readonly stats: Pick<EndpointAttemptCounter, 'writeStatsOfShard'>;
  readonly replays: ReplayStore;
  readonly replaying: ReplayRunner;
  readonly clients: EndpointClients;
  readonly logger: Logger;
  readonly countRetry: CountRetry;
  readonly pollMs: number;
}

/** Deliveries that were just stored, with their endpoints. */
export interface StoredDeliveriesWithEndpoints {
  readonly matches: readonly { readonly endpoint: EndpointDocument; readonly delivery: DeliveryDocument }[];
  /**
   * Time at which none of the deliveries was stored yet, on the process's monotonic clock. The endpoints were read later.
   * -Infinity if some deliveries may already be attempted, so that each is read again before its attempt.
   */
  readonly unstoredAt: number;
}

/**
 * Ensures that each endpoint is attempted by one process, and that this process knows the pending work of its shards'
 * endpoints. The process learns about work in three ways: its own recorded deliveries are handed over in memory;
 * messages, or else stored wake-ups, report what other processes recorded or changed; and a process that takes over a
 * shard reads all pending work of the shard.
 */
export class EndpointShardOwner implements ShardOwnerOperations {
  /** Acquired shards whose pending work has been read. */
  private readonly known = new Set<number>();
  /** Acquired shards whose pending work is being read. */
  private unknown = new Set<number>();
  private readonly stopping = new AbortController();
  private takingOver: Promise<void> | undefined;
  private polling: Promise<void> = Promise.resolve();

  constructor(private readonly dependencies: ShardOwnerDependencies) {}

  startOwningShards(): void {
    this.dependencies.shards.startAcquiringShardLeases({
      acquired: () => void (this.takingOver ??= this.readWorkOfAcquiredShards()),
      lost: (shard) => void this.dropEndpointsOfShard(shard),
      handOver: (shard) => this.handShardOver(shard),
    });
    this.polling = this.pollEndpointWakeUps();
  }

  /** Hands deliveries to the endpoints that this process owns, and to the owners of all other endpoints. */
  async handOverDeliveries(stored: StoredDeliveriesWithEndpoints): Promise<void> {
    const ofOthers = this.addDeliveriesToOwnedEndpoints(stored);
    await this.dependencies.messages.sendDeliveriesToOwners(ofOthers);
    // This process may have become the owner meanwhile.
    const endpointIds = new Set(ofOthers.map(({ endpoint_id }) => endpoint_id));
    await Promise.all([...endpointIds].map((id) => this.reloadEndpoint(id)));
  }

  async takeDeliveries({ deliveries, payloads }: HandedOverDeliveries): Promise<NotOwnedEndpointIds> {
    const { shards, clients, payloads: bodies } = this.dependencies;
    const ids = new Set(deliveries.map(({ endpoint_id }) => endpoint_id));
    const endpoints = new Map<string, EndpointDocument>();
    const readEndpoint = async (id: string) => {
      if (!shards.ownsShardOf(id)) return;
      const client = clients.getCachedEndpointClientIfFresh(id) ?? (await clients.readEndpointAndCacheClient(id));
      if (client !== undefined && !client.endpoint.deleted) endpoints.set(id, client.endpoint);
      else await this.reloadEndpoint(id);
    };
    await Promise.all([...ids].map(readEndpoint));
    for (const [id, body] of Object.entries(payloads)) bodies.cachePayloadBody(id, body);
    const matches = deliveries.flatMap((delivery) => {
      const endpoint = endpoints.get(delivery.endpoint_id);
      return endpoint === undefined ? [] : [{ endpoint, delivery }];
    });
    // The message may be late, so the deliveries may already be attempted.
    this.addDeliveriesToOwnedEndpoints({ matches, unstoredAt: -Infinity });
    return { refused: [...ids].filter((id) => !shards.ownsShardOf(id)) };
  }

  async reload({ endpoint_ids }: { readonly endpoint_ids: readonly string[] }): Promise<NotOwnedEndpointIds> {
    await Promise.all(endpoint_ids.map((id) => this.reloadEndpoint(id)));
    return { refused: endpoint_ids.filter((id) => !this.dependencies.shards.ownsShardOf(id)) };
  }

  /** Adds deliveries to the endpoints that this process owns. @returns the deliveries of all other endpoints */
  private addDeliveriesToOwnedEndpoints({
    matches,
    unstoredAt,
  }: StoredDeliveriesWithEndpoints): readonly DeliveryDocument[] {
    const { clients, endpoints } = this.dependencies;
    const ofOthers: DeliveryDocument[] = [];
    for (const [endpoint, some] of Map.groupBy(matches, (match) => match.endpoint)) {
      const owned = this.openEndpointOfHeldShard(endpoint, this.known.has(computeShardOfEndpoint(endpoint.id)));
      if (owned === undefined) {
        ofOthers.push(...some.map(({ delivery }) => delivery));
        continue;
      }
      clients.cacheEndpoint(endpoint, unstoredAt);
      for (const { delivery } of some)
        owned.queueStoredDelivery(delivery, unstoredAt, endpoints.computeMaxDeliveriesHeldInMemory(owned));
      endpoints.notifyEndpointObservers(owned);
    }
    return ofOthers;
  }

  /**
   * Returns true unless this process owns the endpoint and cannot send its deliveries soon: the circuit is open or the
   * window lacks pending deliveries.
   */
  isEndpointKeepingUp(endpointId: string): boolean {
    const { shards, endpoints } = this.dependencies;
    return !shards.ownsShardOf(endpointId) || (endpoints.getEndpointOwnedByProcess(endpointId)?.isKeepingUp ?? true);
  }

  /** Returns true if this process knows that the endpoint's circuit is open: recent attempts all failed. */
  isEndpointFailing(endpointId: string): boolean {
    const { shards, endpoints } = this.dependencies;
    return shards.ownsShardOf(endpointId) && endpoints.getEndpointOwnedByProcess(endpointId)?.isFailing === true;
  }

  /** Notifies the owners of these endpoints (this process or others) that stored data of the endpoints changed. */
  async notifyOwningProcesses(endpointIds: readonly string[]): Promise<void> {
    const { shards, messages } = this.dependencies;
    await messages.requestEndpointReloads(endpointIds.filter((id) => !shards.ownsShardOf(id)));
    await Promise.all(endpointIds.map((id) => this.reloadEndpoint(id)));
  }

  /** Stops acquiring shards, and hands each held shard over as soon as its work has ended. */
  async stopAcquiringShards(): Promise<void> {
    this.stopping.abort();
    this.dependencies.shards.stopAcquiringShardLeases();
    await Promise.all([this.polling, this.takingOver]);
  }

  /** Releases the shards that are still held, even if their work has not ended. */
  releaseShards(): Promise<void> {
    return this.dependencies.shards.releaseShards();
  }

  /** Opens an endpoint. Returns undefined if another process owns it. */
  private openEndpointOfHeldShard(endpoint: EndpointDocument, empty: boolean): OwnedEndpoint | undefined {
    const lease = this.dependencies.shards.getLeaseOfEndpoint(endpoint.id);
    return lease && this.dependencies.endpoints.getOrCreateOwnedEndpoint(endpoint, lease, empty);
  }

  /** Reads the stored data of an endpoint again. No-op if another process owns the endpoint. */
  private async reloadEndpoint(endpointId: string): Promise<OwnedEndpoint | undefined> {
    const { shards, endpoints, backlogs, clients, replaying } = this.dependencies;
    if (!shards.ownsShardOf(endpointId)) return undefined;
    const endpoint = (await clients.readEndpointAndCacheClient(endpointId))?.endpoint;
    if (endpoint === undefined || !shards.ownsShardOf(endpointId)) return undefined;
    if (endpoint.deleted) {
      const known = endpoints.getEndpointOwnedByProcess(endpointId);
      known?.setEndpointUnlessOutdated(endpoint);
      if (known !== undefined) void endpoints.stopOwningEndpoint(known);
      await backlogs.requestBacklogDiscard(endpointId);
      return undefined;
    }
    const owned = this.openEndpointOfHeldShard(endpoint, false);
    if (owned === undefined) return undefined;
    owned.markPendingDeliveriesForReread();
    await replaying.readRunningReplayOfEndpoint(owned);
    endpoints.notifyEndpointObservers(owned);
    return owned;
  }

  /**
   * Reads all pending work of newly acquired shards. Shards that are acquired during a round are read in the next
   * round.
   */
  private async readWorkOfAcquiredShards(): Promise<void> {
    const { signal } = this.stopping;
    const { logger, countRetry } = this.dependencies;
    const onFailure = (error: unknown) => {
      countRetry('reading pending deliveries');
      logger.warn({ reason: String(error) }, 'webhooks: could not read pending deliveries; trying again');
    };
    // Wait for one turn of the event loop: shards are mostly acquired together, and one round reads them all.
    await new Promise(setImmediate);
    await retry(() => this.loadEndpointsOfAcquiredShards(), {
      signal,
      firstPauseMs: 500,
      maxPauseMs: 2_000,
      onFailure,
    }).catch(() => undefined);
  }

  private async loadEndpointsOfAcquiredShards(): Promise<void> {
    const { signal } = this.stopping;
    const { shards, queues, replays } = this.dependencies;
    while (!signal.aborted) {
      this.unknown = new Set(shards.all.filter((shard) => !this.known.has(shard)));
      if (this.unknown.size === 0) {
        // Reset without an await in between, so that every shard acquired later starts a new round.
        this.takingOver = undefined;
        return;
      }
      await this.reloadEndpointsOfAcquiredShards(queues.listEndpointsWithPendingDeliveries());
      await this.reloadEndpointsOfAcquiredShards(replays.listReplayingEndpoints());
      if (signal.aborted) return;
      for (const shard of this.unknown) this.known.add(shard);
    }
  }

  /** Reloads the endpoints whose shard is being read, some at a time. */
  private async reloadEndpointsOfAcquiredShards(endpointIds: AsyncIterable<string>): Promise<void> {
    const { endpoints } = this.dependencies;
    const reloadAndFill = async (endpointId: string) => {
      const owned = await this.reloadEndpoint(endpointId);
      if (owned !== undefined) await endpoints.loadHealthAndNextDeliveries(owned);
    };
    let batch: string[] = [];
    for await (const endpointId of endpointIds) {
      if (this.stopping.signal.aborted) return;
      if (!this.unknown.has(computeShardOfEndpoint(endpointId))) continue;
      batch.push(endpointId);
      if (batch.length < ENDPOINTS_PER_RELOAD) continue;
      await Promise.all(batch.map(reloadAndFill));
      batch = [];
    }
    await Promise.all(batch.map(reloadAndFill));
  }

  /** Ends the work on a shard. Attempts in progress are completed and stored, then its statistics are written. */
  private async handShardOver(shard: number): Promise<void> {
    const waiting = new AbortController();
    const dropped = this.dropEndpointsOfShard(shard);
    // A process that stops releases its shards at the end of its own limit.
    if (this.stopping.signal.aborted) await dropped;
    else await Promise.race([dropped, pauseFor(MAX_SHARD_HAND_OVER_MS, waiting.signal)]);
    waiting.abort();
    await this.dependencies.stats.writeStatsOfShard(shard);
  }

  /** Drops the endpoints of a shard. Resolves when the outcomes of all attempts in progress are stored. */
  private async dropEndpointsOfShard(shard: number): Promise<void> {
    const { endpoints } = this.dependencies;
    this.known.delete(shard);
    this.unknown.delete(shard);
    const ofShard = [...endpoints.all].filter(({ id }) => computeShardOfEndpoint(id) === shard);
    await Promise.all(ofShard.map((owned) => endpoints.stopOwningEndpoint(owned)));
  }

  private async pollEndpointWakeUps(): Promise<void> {
    const { shards, wakeUps, jobs, endpoints, logger, countRetry, pollMs } = this.dependencies;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        await wakeUps.processWakeUps(shards.all, jobs, async (id) => {
          await this.reloadEndpoint(id);
          return shards.ownsShardOf(id);
        });
        endpoints.dropIdleEndpoints();
      } catch (error) {
        countRetry('checking for wake-ups');
        logger.warn({ reason: String(error) }, 'webhooks: could not check for wake-ups');
      }
      await pauseFor(pollMs, signal);
    }
  }
}

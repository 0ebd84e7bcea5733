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

export interface ShardOwnerParts {
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
  /** Otherwise some may have been stored before, and attempted: each is read again before it is sent. */
  readonly areNew: boolean;
}

/**
 * Ensures that each endpoint is attempted by one process, and that this one knows what there is to do for the endpoints of
 * its shards. It learns that in three ways: deliveries that this process recorded are handed over in memory; a wake-up tells
 * it what other processes recorded or changed; and when it takes over a shard it reads everything that waits.
 */
export class ShardOwner {
  /** Acquired shards of which everything that waits is known. */
  private readonly known = new Set<number>();
  /** Acquired shards that are being read at the moment. */
  private unknown = new Set<number>();
  private readonly stopping = new AbortController();
  private takingOver: Promise<void> | undefined;
  private polling: Promise<void> = Promise.resolve();

  constructor(private readonly parts: ShardOwnerParts) {}

  start(): void {
    this.parts.shards.start({
      acquired: () => void (this.takingOver ??= this.takeOver()),
      lost: (shard) => this.dropShard(shard),
    });
    this.polling = this.poll();
  }

  /** Takes over the deliveries of this process's endpoints, and wakes the owners of the others. */
  async handOver({ matches, areNew }: StoredDeliveries): Promise<void> {
    const { clients, endpoints } = this.parts;
    const ofOthers: string[] = [];
    for (const [endpoint, some] of Map.groupBy(matches, (match) => match.endpoint)) {
      const owned = this.open(endpoint, this.known.has(shardOf(endpoint.id)));
      if (owned === undefined) {
        ofOthers.push(endpoint.id);
        continue;
      }
      clients.remember(endpoint);
      const knownAt = areNew ? performance.now() : -Infinity;
      for (const { delivery } of some) owned.add(delivery, knownAt, endpoints.room(owned));
      endpoints.changed(owned);
    }
    await this.notify(ofOthers);
  }

  /** Returns true if its circuit is closed and its window holds all that waits, as far as this process knows. */
  keepsUp(endpointId: string): boolean {
    const { shards, endpoints } = this.parts;
    return !shards.owns(endpointId) || (endpoints.get(endpointId)?.keepsUp ?? true);
  }

  /** Returns true if only failures came back from it lately, as far as this process knows. */
  isFailing(endpointId: string): boolean {
    const { shards, endpoints } = this.parts;
    return shards.owns(endpointId) && endpoints.get(endpointId)?.isFailing === true;
  }

  /** Tells the owners of these endpoints, this process or others, that something stored about them changed. */
  async notify(endpointIds: readonly string[]): Promise<void> {
    const { shards, wakeUps } = this.parts;
    const others = endpointIds.filter((id) => !shards.owns(id));
    if (others.length > 0) await wakeUps.request(others);
    for (const id of endpointIds) await this.reload(id);
  }

  /** Takes no more shards; those held stay held until {@link release}. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.parts.shards.stop();
    await Promise.all([this.polling, this.takingOver]);
  }

  release(): Promise<void> {
    return this.parts.shards.release();
  }

  /** Returns undefined for an endpoint of another process. */
  private open(endpoint: EndpointDocument, empty: boolean): OwnedEndpoint | undefined {
    const lease = this.parts.shards.leaseOf(endpoint.id);
    return lease && this.parts.endpoints.open(endpoint, lease, empty);
  }

  /** Reads again what is stored about an endpoint. No-op for an endpoint of another process. */
  private async reload(endpointId: string): Promise<OwnedEndpoint | undefined> {
    const { shards, endpoints, backlogs, clients, replaying } = this.parts;
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
    endpoints.changed(owned);
    return owned;
  }

  /** Reads everything that waits in shards that were acquired; shards acquired meanwhile take another round. */
  private async takeOver(): Promise<void> {
    const { signal } = this.stopping;
    const { logger, countRetry } = this.parts;
    const onFailure = (error: unknown) => {
      countRetry('reading what waits');
      logger.warn({ reason: String(error) }, 'webhooks: could not read what waits; trying again');
    };
    // Shards are mostly acquired together: one round for all of them.
    await new Promise(setImmediate);
    await retry(() => this.readUnknown(), { signal, firstPauseMs: 500, maxPauseMs: 2_000, onFailure }).catch(
      () => undefined,
    );
  }

  private async readUnknown(): Promise<void> {
    const { signal } = this.stopping;
    const { shards, queues, replays } = this.parts;
    while (!signal.aborted) {
      this.unknown = new Set(shards.all.filter((shard) => !this.known.has(shard)));
      if (this.unknown.size === 0) {
        // In the same turn: a shard that is acquired from here on begins another round.
        this.takingOver = undefined;
        return;
      }
      await this.reloadUnknown(queues.endpoints());
      await this.reloadUnknown(replays.endpoints());
      if (signal.aborted) return;
      for (const shard of this.unknown) this.known.add(shard);
    }
  }

  /** Reloads those of these endpoints whose shard is being read. */
  private async reloadUnknown(endpointIds: AsyncIterable<string>): Promise<void> {
    for await (const endpointId of endpointIds) {
      if (this.stopping.signal.aborted) return;
      const owned = this.unknown.has(shardOf(endpointId)) ? await this.reload(endpointId) : undefined;
      if (owned !== undefined) await this.parts.endpoints.fill(owned);
    }
  }

  private dropShard(shard: number): void {
    const { endpoints, logger } = this.parts;
    this.known.delete(shard);
    this.unknown.delete(shard);
    for (const owned of endpoints.all) if (shardOf(owned.id) === shard) endpoints.drop(owned);
    logger.warn({ shard }, 'webhooks: a shard was lost; another process takes it over');
  }

  private async poll(): Promise<void> {
    const { shards, wakeUps, endpoints, logger, countRetry, pollMs } = this.parts;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        await wakeUps.process(shards.all, async (id) => {
          await this.reload(id);
          return shards.owns(id);
        });
        endpoints.tidy();
      } catch (error) {
        countRetry('looking for what other processes left');
        logger.warn({ reason: String(error) }, 'webhooks: could not look for what other processes left');
      }
      await pause(pollMs, signal);
    }
  }
}

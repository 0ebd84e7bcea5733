import type { CountRetry, Lease, Leases, Logger } from '@tracking/ports';
import { pause, retry } from '@tracking/resilience';
import { shardOf } from '@tracking/webhooks-domain';
import type { EndpointClients } from '../endpoints/endpoint-clients.ts';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { BacklogDiscarding } from '../replays/discarding.ts';
import type { ReplayStore } from '../replays/replay-store.ts';
import type { DeliveryDocument } from '../store/delivery-document.ts';
import type { DeliveryQueues } from '../store/delivery-queues.ts';
import type { OwnerWakeUps } from '../store/owner-wake-ups.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { OwnedEndpoint, RunningReplay } from './owned-endpoint.ts';
import type { OwnedEndpoints } from './owned-endpoints.ts';
import { toPending } from './priority-queue.ts';
import { ShardLeases } from './shard-leases.ts';

export interface ShardOwnerParts {
  readonly leases: Leases;
  readonly endpoints: OwnedEndpoints;
  readonly queues: DeliveryQueues;
  readonly backlogs: Pick<BacklogDiscarding, 'request'>;
  readonly wakeUps: OwnerWakeUps;
  readonly replays: ReplayStore;
  /** The replay that runs for an endpoint, as it is stored. */
  openReplay(owned: OwnedEndpoint): Promise<RunningReplay | undefined>;
  readonly clients: EndpointClients;
  readonly dispatcher: Dispatcher;
  readonly logger: Logger;
  readonly countRetry: CountRetry;
  readonly pollMs: number;
}

/** Deliveries that were just stored, with their endpoints. */
export interface StoredDeliveries {
  readonly matches: readonly { readonly endpoint: EndpointDocument; readonly delivery: DeliveryDocument }[];
  /** Otherwise some may have been stored before, and attempted: each is looked at before it is sent. */
  readonly areNew: boolean;
}

/**
 * Sees to it that each endpoint is attempted by one process, and that this one knows what there is to do for the endpoints
 * of its shards. It learns that in three ways: what this process recorded is handed over in memory; of what other processes
 * recorded or changed it is told by a wake-up; and when it takes over a shard it looks through everything that waits.
 */
export class ShardOwner {
  private readonly shards: ShardLeases;
  /** Shards taken over of which everything that waits is known. */
  private readonly known = new Set<number>();
  /** Those being looked through at the moment. */
  private unknown = new Set<number>();
  private readonly stopping = new AbortController();
  private takingOver: Promise<void> | undefined;
  private polling: Promise<void> = Promise.resolve();

  constructor(private readonly parts: ShardOwnerParts) {
    const { leases, logger, countRetry } = parts;
    this.shards = new ShardLeases({
      leases,
      logger,
      countRetry,
      acquired: () => void (this.takingOver ??= this.takeOver()),
      lost: (shard) => this.lose(shard),
    });
  }

  get shardCount(): number {
    return this.shards.count;
  }

  start(): void {
    this.shards.start();
    this.polling = this.poll();
  }

  /** The leases of the shards that this process owns at this moment, by their numbers. */
  get leases(): ReadonlyMap<number, Lease> {
    return this.shards.leases;
  }

  /** Takes over the deliveries of this process's endpoints, and wakes the owners of the others. */
  async handOver({ matches, areNew }: StoredDeliveries): Promise<void> {
    const ofOthers: string[] = [];
    for (const [endpoint, some] of Map.groupBy(matches, (match) => match.endpoint)) {
      const owned = this.open(endpoint, this.known.has(shardOf(endpoint.id)));
      if (owned === undefined) {
        ofOthers.push(endpoint.id);
        continue;
      }
      this.parts.clients.note(endpoint);
      this.take(
        owned,
        some.map(({ delivery }) => delivery),
        areNew,
      );
    }
    await this.notify(ofOthers);
  }

  /** Whether its circuit is closed and its window holds all that waits, as far as this process knows. */
  keepsUp(endpointId: string): boolean {
    return !this.shards.owns(endpointId) || (this.parts.endpoints.get(endpointId)?.keepsUp ?? true);
  }

  /** Whether nothing but failures came back from it lately, as far as this process knows. */
  isFailing(endpointId: string): boolean {
    return this.shards.owns(endpointId) && this.parts.endpoints.get(endpointId)?.isFailing === true;
  }

  /** Tells the owners of these endpoints that something stored about them changed, be it this process or another. */
  async notify(endpointIds: readonly string[]): Promise<void> {
    const others = endpointIds.filter((id) => !this.shards.owns(id));
    if (others.length > 0) await this.parts.wakeUps.request(others);
    for (const id of endpointIds) await this.reload(id);
  }

  /** Takes no more shards and begins no more attempts; the shards are held until {@link release}. Waits for what is under way. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.shards.stop();
    await Promise.all([this.polling, this.takingOver, this.parts.dispatcher.stop()]);
  }

  release(): Promise<void> {
    return this.shards.release();
  }

  private take(owned: OwnedEndpoint, deliveries: readonly DeliveryDocument[], areNew: boolean): void {
    const { endpoints, dispatcher } = this.parts;
    const knownAt = areNew ? performance.now() : -Infinity;
    for (const delivery of deliveries) {
      if (!owned.busy.has(delivery.id)) owned.window.add(toPending(delivery, knownAt), endpoints.room(owned));
    }
    dispatcher.serve(owned);
  }

  /** Undefined where it is not this process's. */
  private open(endpoint: EndpointDocument, empty: boolean): OwnedEndpoint | undefined {
    const lease = this.shards.leaseOf(endpoint.id);
    return lease && this.parts.endpoints.open(endpoint, lease, empty);
  }

  /** Reads anew what is stored about an endpoint; nothing happens where it is not this process's. */
  private async reload(endpointId: string): Promise<OwnedEndpoint | undefined> {
    if (!this.shards.owns(endpointId)) return undefined;
    const { endpoints, backlogs, clients, dispatcher } = this.parts;
    const endpoint = (await clients.read(endpointId))?.endpoint;
    if (endpoint === undefined || !this.shards.owns(endpointId)) return undefined;
    const known = endpoints.get(endpointId);
    if (endpoint.deleted) {
      known?.setEndpoint(endpoint);
      if (known !== undefined) dispatcher.abandon(known);
      await backlogs.request(endpointId);
      return undefined;
    }
    const owned = this.open(endpoint, false);
    if (owned === undefined) return undefined;
    owned.window.forget();
    await owned.readReplay(() => this.parts.openReplay(owned));
    dispatcher.serve(owned);
    return owned;
  }

  /** Finds everything that waits in shards that were acquired; those acquired meanwhile take another round. */
  private async takeOver(): Promise<void> {
    const { signal } = this.stopping;
    const { logger, countRetry } = this.parts;
    const onFailure = (error: unknown) => {
      countRetry('reading what waits');
      logger.warn({ reason: String(error) }, 'webhooks: could not read what waits; trying again');
    };
    // Shards are mostly acquired together: one round for all of them.
    await new Promise(setImmediate);
    await retry(() => this.findPending(), { signal, firstPauseMs: 500, longestPauseMs: 2_000, onFailure }).catch(
      () => undefined,
    );
  }

  private async findPending(): Promise<void> {
    const { signal } = this.stopping;
    const { queues, replays } = this.parts;
    while (!signal.aborted) {
      this.unknown = new Set(this.shards.all.filter((shard) => !this.known.has(shard)));
      if (this.unknown.size === 0) {
        // At once: whoever acquires a shard from here on begins anew.
        this.takingOver = undefined;
        return;
      }
      await this.reloadUnknown(queues.endpoints());
      await this.reloadUnknown(replays.endpoints());
      if (signal.aborted) return;
      for (const shard of this.unknown) this.known.add(shard);
    }
  }

  /** Of these endpoints those of shards of which it is not known what waits. */
  private async reloadUnknown(endpointIds: AsyncIterable<string>): Promise<void> {
    for await (const endpointId of endpointIds) {
      if (this.stopping.signal.aborted) return;
      const owned = this.unknown.has(shardOf(endpointId)) ? await this.reload(endpointId) : undefined;
      if (owned !== undefined) await this.parts.dispatcher.fill(owned);
    }
  }

  private lose(shard: number): void {
    this.known.delete(shard);
    this.unknown.delete(shard);
    for (const owned of this.parts.endpoints.all) if (shardOf(owned.id) === shard) this.parts.dispatcher.abandon(owned);
    this.parts.logger.warn({ shard }, 'webhooks: a shard was lost; another process takes it over');
  }

  private async poll(): Promise<void> {
    const { wakeUps, endpoints, logger, countRetry, pollMs } = this.parts;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        await wakeUps.take(this.shards.all, async (id) => {
          await this.reload(id);
          return this.shards.owns(id);
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

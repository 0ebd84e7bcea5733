import { setTimeout as pause } from 'node:timers/promises';
import type { CountRetry, Leases, Logger } from '@tracking/ports';
import { shardOf } from '@tracking/webhooks-domain';
import type { DeliveryDocument } from '../deliveries/delivery-document.ts';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { Receivers } from '../endpoints/receivers.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Lane } from './lane.ts';
import type { Lanes } from './lanes.ts';
import type { Nudges } from './nudges.ts';
import type { Queues } from './queues.ts';
import { Shards } from './shards.ts';
import { type Place, toWaiting } from './waiting-list.ts';

export interface OwnerParts {
  readonly leases: Leases;
  readonly lanes: Lanes;
  readonly queues: Queues;
  readonly nudges: Nudges;
  readonly receivers: Receivers;
  readonly dispatcher: Dispatcher;
  readonly logger: Logger;
  readonly countRetry: CountRetry;
  readonly now: () => Date;
  readonly pollMs: number;
}

const RETRY_MS = 1_000;

/**
 * Sees to it that each endpoint is attempted by one process, and that this one knows what there is to do for its own:
 * what it recorded itself comes straight from memory, what others recorded or changed by a nudge, and what was there
 * before by a look at everything that waits, when it takes over a shard.
 */
export class Owner {
  private readonly shards: Shards;
  /** Shards taken over of which everything that waits is known. */
  private readonly known = new Set<number>();
  /** Those being looked through at the moment. */
  private unknown = new Set<number>();
  private readonly stopping = new AbortController();
  private takingOver: Promise<void> | undefined;
  private polling: Promise<void> = Promise.resolve();

  constructor(private readonly parts: OwnerParts) {
    this.shards = new Shards(
      parts.leases,
      parts.logger,
      parts.countRetry,
      () => (this.takingOver ??= this.takeOver()),
      (shard) => this.lose(shard),
    );
  }

  get shardCount(): number {
    return this.shards.count;
  }

  start(): void {
    this.shards.start();
    this.polling = this.poll();
  }

  /**
   * Hands over deliveries that were just stored. Answers false where another process has to be told instead.
   * @param areNew otherwise some may have been stored before, and attempted: each is looked at first
   */
  offer(endpoint: EndpointDocument, deliveries: readonly DeliveryDocument[], areNew = true): boolean {
    if (!this.shards.owns(endpoint.id)) return false;
    const { lanes, dispatcher, receivers } = this.parts;
    receivers.note(endpoint);
    const lane = this.open(endpoint, this.known.has(shardOf(endpoint.id)));
    const knownAt = areNew ? performance.now() : -Infinity;
    for (const delivery of deliveries) {
      if (!lane.busy.has(delivery.id)) lane.backlog.add(toWaiting(delivery, knownAt), lanes.room(lane));
    }
    dispatcher.serve(lane);
    return true;
  }

  /** Says that some were just stored that are due from then on, which are to be read later. Answers as {@link offer}. */
  leave(endpoint: EndpointDocument, from: Place): boolean {
    if (!this.shards.owns(endpoint.id)) return false;
    const { lanes, dispatcher } = this.parts;
    const lane = lanes.get(endpoint.id) ?? this.open(endpoint, false);
    lane.backlog.leave(from);
    dispatcher.serve(lane);
    return true;
  }

  /**
   * Whether an endpoint of this process's is known to be behind with what waits for it. By the events' times: where clocks
   * differ, what waits for it is bundled sooner or later than it need be, and delivered all the same.
   */
  isBehind(endpointId: string): boolean {
    const { lanes, now } = this.parts;
    return this.shards.owns(endpointId) && (lanes.get(endpointId)?.isBehind(now().getTime()) ?? false);
  }

  /** Tells the owners of these endpoints that something stored about them changed, be it this process or another. */
  async tell(endpointIds: readonly string[]): Promise<void> {
    const others = endpointIds.filter((id) => !this.shards.owns(id));
    if (others.length > 0) await this.parts.nudges.leave(others);
    for (const id of endpointIds) await this.look(id);
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

  private open(endpoint: EndpointDocument, empty: boolean): Lane {
    return this.parts.lanes.open(endpoint, this.shards.epochOf(endpoint.id), empty);
  }

  /** Looks at what is stored about an endpoint; nothing happens where it is not this process's. */
  private async look(endpointId: string): Promise<Lane | undefined> {
    if (!this.shards.owns(endpointId)) return undefined;
    const { lanes, queues, receivers, dispatcher, now } = this.parts;
    const endpoint = (await receivers.read(endpointId))?.endpoint;
    if (endpoint === undefined || !this.shards.owns(endpointId)) return undefined;
    const known = lanes.get(endpointId);
    if (endpoint.deleted) {
      known?.setEndpoint(endpoint);
      if (known !== undefined) dispatcher.abandon(known);
      await queues.discard(endpointId, now().toISOString());
      return undefined;
    }
    const lane = this.open(endpoint, false);
    lane.backlog.forget();
    dispatcher.serve(lane);
    return lane;
  }

  /** Finds everything that waits in shards that were acquired; those acquired meanwhile take another round. */
  private async takeOver(): Promise<void> {
    const { signal } = this.stopping;
    const { logger, countRetry, queues, dispatcher } = this.parts;
    // Shards are mostly acquired together: one round for all of them.
    await new Promise(setImmediate);
    while (!signal.aborted) {
      this.unknown = new Set(this.shards.all.filter((shard) => !this.known.has(shard)));
      if (this.unknown.size === 0) break;
      try {
        for await (const endpointId of queues.endpoints()) {
          if (signal.aborted) return;
          const lane = this.unknown.has(shardOf(endpointId)) ? await this.look(endpointId) : undefined;
          if (lane !== undefined) await dispatcher.fill(lane);
        }
        for (const shard of this.unknown) this.known.add(shard);
      } catch (error) {
        countRetry('reading what waits');
        logger.warn({ reason: String(error) }, 'webhooks: could not read what waits; trying again');
        await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    this.takingOver = undefined;
  }

  private lose(shard: number): void {
    this.known.delete(shard);
    this.unknown.delete(shard);
    for (const lane of this.parts.lanes.all) if (shardOf(lane.id) === shard) this.parts.dispatcher.abandon(lane);
    this.parts.logger.warn({ shard }, 'webhooks: a shard was lost; another process takes it over');
  }

  private async poll(): Promise<void> {
    const { nudges, lanes, logger, countRetry, pollMs } = this.parts;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        await nudges.take(this.shards.all, async (id) => void (await this.look(id)));
        lanes.tidy();
      } catch (error) {
        countRetry('looking for what other processes left');
        logger.warn({ reason: String(error) }, 'webhooks: could not look for what other processes left');
      }
      await pause(pollMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

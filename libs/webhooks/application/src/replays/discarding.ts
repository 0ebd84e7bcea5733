import { retryCounter } from '@tracking/ports';
import type { Clock, Collection, Leases, Logger, Metrics } from '@tracking/ports';
import { LeaderElectedJob, pause } from '@tracking/resilience';
import { discarded } from '@tracking/webhooks-domain';
import { giveReasons } from '../store/dead-letter-reasons.ts';
import { type DeliveryDocument, toDocument } from '../store/delivery-document.ts';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import type { Recounts } from '../stats/hour-document.ts';
import type { ReplayDocument } from './replay-document.ts';
import { ReplaySource, type ReplaySourceParts } from './replay-source.ts';
import type { ReplayStore } from './replay-store.ts';

/** Of one discard before it is the next one's turn. */
const AT_ONCE = 200;
const JOBS_AT_ONCE = 100;
/** How often it is looked for discards that other processes were asked for. */
const EVERY_MS = 1_000;
/** For each millisecond of work it rests as long: deliveries go first. */
const REST = 1;

export interface DiscardingParts extends ReplaySourceParts {
  readonly store: ReplayStore;
  readonly endpoints: EndpointStore;
  readonly recounts: Recounts;
  readonly deliveries: Collection<DeliveryDocument>;
  readonly clock: Clock;
  readonly leases: Leases;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Gives up dead letters, a page of each discard in turn. What a page takes is stored before it is given up, and counted
 * behind it: whoever goes on after a crash counts each once.
 */
export class Discarding {
  readonly job: LeaderElectedJob;
  private hasGivenReasons = false;

  constructor(private readonly parts: DiscardingParts) {
    const { leases, logger, metrics } = parts;
    this.job = new LeaderElectedJob({
      leases,
      lease: 'webhooks-discards',
      logger,
      countRetry: retryCounter(metrics),
      what: 'discarding dead letters',
      everyMs: EVERY_MS,
      round: (ending) => this.round(ending),
    });
  }

  private async round(ending: AbortSignal): Promise<void> {
    if (!this.hasGivenReasons) await giveReasons(this.parts.deliveries, ending);
    this.hasGivenReasons = !ending.aborted;
    for (;;) {
      const running = await this.parts.store.discards(JOBS_AT_ONCE);
      if (running.length === 0) return;
      for (const replay of running) {
        if (ending.aborted) return;
        const started = performance.now();
        await this.goOn(replay);
        await pause(REST * (performance.now() - started), ending);
      }
    }
  }

  private async goOn(replay: ReplayDocument): Promise<void> {
    const taken = replay.under_way.length > 0 ? replay : await this.take(replay);
    if (taken !== undefined && taken.under_way.length > 0) await this.discard(taken);
  }

  /** Undefined where it was canceled meanwhile. */
  private async take(replay: ReplayDocument): Promise<ReplayDocument | undefined> {
    const { store, endpoints, clock } = this.parts;
    const endpoint = await endpoints.get(replay.endpoint_id);
    if (endpoint === undefined) throw new Error(`${replay.endpoint_id} has dead letters and is not stored`);
    const { found, cursor, ended } = await new ReplaySource(replay, this.parts).next(endpoint, AT_ONCE);
    const isCompleted = ended && found.length === 0;
    return store.advance(replay, {
      cursor,
      under_way: found.map(({ id, event_id }) => ({ id, event_id })),
      matched: replay.matched + found.length,
      ...(isCompleted && ({ status: 'completed', completed_at: clock().toISOString() } as const)),
    });
  }

  private async discard(taken: ReplayDocument): Promise<void> {
    const { store, queries, deliveries, recounts, clock } = this.parts;
    const ids = taken.under_way.map(({ id }) => id);
    for (;;) {
      const now = await queries.existing(ids);
      const dead = now.filter(({ status }) => status === 'dead_lettered');
      if (dead.length === 0) {
        const done = now.filter(({ status, replay_id }) => status === 'discarded' && replay_id === taken.id).length;
        return store.settle(taken, { done, failed: ids.length - done });
      }
      const at = clock().toISOString();
      await recounts.beforeDiscards([taken.endpoint_id], at);
      // One that changes meanwhile, as when the topic is told of it, is found again.
      await deliveries.writeMany(
        dead.map((each) => {
          const document = toDocument(discarded(each, at, taken.id));
          return { kind: 'upsert', document, guard: { revision: each.revision } };
        }),
      );
    }
  }
}

import { ENVIRONMENTS, type Timestamp } from '@tracking/contracts';
import {
  type Clock,
  type Collection,
  type Counter,
  type Document,
  type Filter,
  type Leases,
  type Logger,
  type Metrics,
  retryCounter,
} from '@tracking/ports';
import { LeaderElectedJob, pause } from '@tracking/resilience';
import type { EndpointDocument } from './endpoints/endpoint-document.ts';
import type { EndpointStore } from './endpoints/endpoint-store.ts';
import type { Retention } from './settings.ts';
import {
  type AttemptDocument,
  type DeliveryDocument,
  type PayloadDocument,
  attemptIds,
  eventOfPayload,
} from './store/delivery-document.ts';
import type { RetentionWatermark } from './store/delivery-queries.ts';
import { firstOfEach } from './store/delivery-queues.ts';
import type { ReplayStore } from './replays/replay-store.ts';
import type { EndpointStatistics } from './stats/statistics.ts';

const AT_ONCE = 100;
/** Bodies looked at in a round, of all that are stored. */
const BODIES_PER_ROUND = 1_000;
/** For each millisecond of work it rests so many: old logs are never in the way of deliveries. */
const REST = 4;
const ORDER = ['created_at', 'id'] as const;

export interface LogSweeperParts {
  readonly deliveries: Collection<DeliveryDocument>;
  readonly attempts: Collection<AttemptDocument>;
  readonly payloads: Collection<PayloadDocument>;
  readonly replays: ReplayStore;
  readonly statistics: Pick<EndpointStatistics, 'forget'>;
  readonly endpoints: EndpointStore;
  /** How endpoints have been answering, by their ids. */
  readonly health: Pick<Collection<Document>, 'delete'>;
  readonly watermark: RetentionWatermark;
  readonly retention: Retention;
  readonly everyMs: number;
  readonly clock: Clock;
  readonly leases: Leases;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Deletes what is over its retention: deliveries that came to their end so long ago, with their attempts, and bodies with
 * the last delivery that refers to them. What waits for anything stays, however old it is. Told by the clocks of whoever
 * attempted and recorded: retention is in days, and it does not matter to the second when it ends.
 */
export class LogSweeper {
  readonly job: LeaderElectedJob;
  private readonly deleted: Counter;
  /** Id of the body that was looked at last. */
  private lastBody: string | undefined;

  constructor(private readonly parts: LogSweeperParts) {
    const { everyMs, leases, logger, metrics } = parts;
    this.deleted = metrics.counter(
      'webhook_deliveries_deleted_total',
      'Deliveries deleted at the end of their retention',
    );
    this.job = new LeaderElectedJob({
      leases,
      lease: 'webhooks-log-sweeper',
      logger,
      countRetry: retryCounter(metrics),
      what: 'deleting old deliveries',
      everyMs,
      // What was published while nothing ran here is recorded before the watermark is raised.
      waitsFirst: true,
      round: (ending) => this.sweep(ending),
    });
  }

  private async sweep(ending: AbortSignal): Promise<void> {
    const { deliveriesMs, deadLettersMs } = this.parts.retention;
    const now = this.parts.clock().getTime();
    const ago = (ms: number): Timestamp => new Date(now - ms).toISOString();
    const kept = [
      ['succeeded', ago(deliveriesMs)],
      ['discarded', ago(deliveriesMs)],
      ['dead_lettered', ago(deadLettersMs)],
    ] as const;
    await this.parts.replays.sweep(ago(deliveriesMs), ending);
    await this.parts.statistics.forget(ago(deliveriesMs));
    const byScope = ['workspace_id', 'environment', 'status', ...ORDER] as const;
    for await (const { workspace_id } of firstOfEach(this.parts.deliveries, byScope)) {
      for (const environment of ENVIRONMENTS) {
        for (const [status, before] of kept) await this.sweepLog({ workspace_id, environment, status }, before, ending);
      }
    }
    await this.sweepBodies(ago(Math.max(deliveriesMs, deadLettersMs)), ending);
    await this.sweepEndpoints(ago(deliveriesMs), ending);
  }

  /**
   * Deletes bodies to which no delivery refers, as a crash or the deletion of an endpoint leaves them. Looks at a part of all
   * bodies each time. Bodies of that age are not sent again: neither recording nor a replay reaches back so far.
   */
  private async sweepBodies(before: Timestamp, ending: AbortSignal): Promise<void> {
    for (let looked = 0; looked < BODIES_PER_ROUND && !ending.aborted; looked += AT_ONCE) {
      const started = performance.now();
      const resume = this.lastBody === undefined ? {} : { after: [this.lastBody] };
      const page = await this.parts.payloads.find({ filter: {}, sort: { fields: ['id'] }, limit: AT_ONCE, ...resume });
      this.lastBody = page.at(-1)?.id;
      await this.deleteUnneeded(page.filter(({ created_at }) => created_at < before).map(({ id }) => id));
      if (this.lastBody === undefined) return;
      await pause(REST * (performance.now() - started), ending);
    }
  }

  /** One part of the log in the order in which it was made, up to what cannot have ended so long ago. */
  private async sweepLog(part: Filter, before: Timestamp, ending: AbortSignal): Promise<void> {
    let after: readonly string[] | undefined;
    for (;;) {
      if (ending.aborted) return;
      const started = performance.now();
      const filter = { ...part, created_at: { lt: before } };
      const resume = after === undefined ? {} : { after };
      const page = await this.parts.deliveries.find({ filter, sort: { fields: ORDER }, limit: AT_ONCE, ...resume });
      const last = page.at(-1);
      if (last === undefined) return;
      after = [last.created_at, last.id];
      await this.delete(
        page.filter(({ queue, completed_at, event_created_at }) => {
          return queue === undefined && completed_at !== null && completed_at < before && event_created_at < before;
        }),
        before,
      );
      await pause(REST * (performance.now() - started), ending);
    }
  }

  /** Each step leaves nothing behind that a later round does not find. */
  private async delete(old: readonly DeliveryDocument[], before: Timestamp): Promise<void> {
    if (old.length === 0) return;
    const { deliveries, attempts } = this.parts;
    await this.parts.watermark.raise(before);
    const attempted = old.flatMap(({ id, attempts_count }) => attemptIds(id, attempts_count));
    await attempts.writeMany(attempted.map((id) => ({ kind: 'delete', id })));
    // Not those of which a person has asked for another attempt meanwhile.
    await deliveries.writeMany(old.map(({ id, revision }) => ({ kind: 'delete', id, guard: { revision } })));
    this.deleted.add(old.length);
    await this.deleteUnneeded([...new Set(old.map(({ payload_id }) => payload_id))]);
  }

  /** Deletes those of the bodies to which no delivery refers. */
  private async deleteUnneeded(payloadIds: readonly string[]): Promise<void> {
    const unneeded: string[] = [];
    for (const payload_id of payloadIds) {
      const event_id = eventOfPayload(payload_id);
      const [needed] = await this.parts.deliveries.find({ filter: { event_id, payload_id }, limit: 1 });
      if (needed === undefined) unneeded.push(payload_id);
    }
    await this.parts.payloads.writeMany(unneeded.map((id) => ({ kind: 'delete', id })));
  }

  /** Removes deleted endpoints with their health, once none of their deliveries and replays is left: those refer to them. */
  private async sweepEndpoints(before: Timestamp, ending: AbortSignal): Promise<void> {
    const { endpoints, health } = this.parts;
    let last: EndpointDocument | undefined;
    while (!ending.aborted) {
      const page = await endpoints.deletedBefore(before, AT_ONCE, last);
      last = page.at(-1);
      if (last === undefined) return;
      for (const endpoint of page) {
        if (await this.isReferredTo(endpoint)) continue;
        // The endpoint last: after an interruption it is found again.
        await health.delete(endpoint.id);
        await endpoints.forget(endpoint);
      }
    }
  }

  private async isReferredTo({ id }: EndpointDocument): Promise<boolean> {
    const deliveries = await this.parts.deliveries.find({ filter: { endpoint_id: id }, limit: 1 });
    return deliveries.length > 0 || (await this.parts.replays.hasAny(id));
  }
}

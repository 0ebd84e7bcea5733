import { ENVIRONMENTS, type WorkspaceScope, type Timestamp } from '@tracking/contracts';
import {
  type Clock,
  type Collection,
  type Counter,
  type Document,
  type Filter,
  type LeaseSource,
  type Logger,
  type Metrics,
  createRetryCounter,
} from '@tracking/ports';
import { BackgroundWorkThrottle, LeaderElectedJob } from '@tracking/resilience';
import type { EndpointDocument } from './endpoints/endpoint-document.ts';
import type { EndpointStore } from './endpoints/endpoint-store.ts';
import type { ReplayStore } from './replays/replay-store.ts';
import type { DeliveryLogRetentionPeriods } from './settings.ts';
import type { EndpointStatisticsServices } from './stats/statistics.ts';
import {
  type AttemptDocument,
  type DeliveryDocument,
  type PayloadDocument,
  listAttemptIds,
  getPayloadEventId,
  toDeliveryShardValuesOfScopes,
} from './store/delivery-document.ts';
import type { RetentionWatermarkStore } from './store/delivery-queries.ts';
import { readFirstDocumentPerValue } from './store/delivery-queues.ts';

const PAGE_SIZE = 100;
/** Number of stored bodies checked in a round. */
const BODIES_CHECKED_PER_SWEEP = 1_000;
/** Maximum bytes of bodies in one read. A body can be as large as its shipment. */
const DELIVERY_BODY_BYTES_PER_READ = 4 * 1024 * 1024;
/** Largest share of time that the sweep may use, so that it does not slow down deliveries. */
const MAX_SWEEP_SHARE = 0.2;
const DELIVERY_CREATION_ORDER_FIELDS = ['created_at', 'id'] as const;

export interface LogSweeperDependencies {
  readonly deliveries: Collection<DeliveryDocument>;
  readonly attempts: Collection<AttemptDocument>;
  readonly payloads: Collection<PayloadDocument>;
  readonly replays: ReplayStore;
  readonly statistics: Pick<EndpointStatisticsServices, 'deleteHours'>;
  readonly endpoints: EndpointStore;
  /** Health of the endpoints, by endpoint id. */
  readonly health: Pick<Collection<Document>, 'delete'>;
  readonly watermark: RetentionWatermarkStore;
  readonly retention: DeliveryLogRetentionPeriods;
  readonly everyMs: number;
  readonly clock: Clock;
  readonly leases: LeaseSource;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Limits the sweep's share of time by pausing after each page; 20% by default. */
  readonly pace?: BackgroundWorkThrottle;
}

/**
 * Deletes records at the end of their retention: deliveries that ended that long ago, their attempts, and bodies with
 * the last delivery that refers to them. A pending delivery is kept, however old it is. Times come from the clocks of
 * the recording and attempting processes; clock differences do not matter, because retention is in days.
 */
export class ExpiredDeliverySweeper {
  readonly job: LeaderElectedJob;
  private readonly deleted: Counter;
  private readonly pace: BackgroundWorkThrottle;
  /** Id of the body checked last. */
  private lastBody: string | undefined;

  constructor(private readonly dependencies: LogSweeperDependencies) {
    const {
      everyMs,
      leases,
      logger,
      metrics,
      pace = new BackgroundWorkThrottle({ share: MAX_SWEEP_SHARE }),
    } = dependencies;
    this.pace = pace;
    this.deleted = metrics.createCounter(
      'webhook_deliveries_deleted_total',
      'Deliveries deleted at the end of their retention',
    );
    this.job = new LeaderElectedJob({
      leases,
      lease: 'webhooks-log-sweeper',
      logger,
      countRetry: createRetryCounter(metrics),
      description: 'deleting old deliveries',
      intervalMs: everyMs,
      // Record the events that were published while no process ran before raising the watermark.
      startsWithWait: true,
      runJobRound: (ending) => this.deleteExpiredDeliveries(ending),
    });
  }

  private async deleteExpiredDeliveries(ending: AbortSignal): Promise<void> {
    const { deliveriesMs, deadLettersMs } = this.dependencies.retention;
    const now = this.dependencies.clock().getTime();
    const ago = (ms: number): Timestamp => new Date(now - ms).toISOString();
    const kept = [
      ['succeeded', ago(deliveriesMs)],
      ['discarded', ago(deliveriesMs)],
      ['dead_lettered', ago(deadLettersMs)],
    ] as const;
    await this.dependencies.replays.deleteEndedReplays(ago(deliveriesMs), this.pace, ending);
    await this.dependencies.statistics.deleteHours(ago(deliveriesMs), this.pace, ending);
    const byScope = ['workspace_id', 'environment', 'status', ...DELIVERY_CREATION_ORDER_FIELDS] as const;
    for await (const { workspace_id } of readFirstDocumentPerValue(this.dependencies.deliveries, byScope)) {
      for (const environment of ENVIRONMENTS) {
        for (const [status, before] of kept)
          await this.sweepDeliveryLog({ workspace_id, environment, status }, before, ending);
      }
      if (ending.aborted) return;
    }
    await this.deleteUnreferencedBodies(ago(Math.max(deliveriesMs, deadLettersMs)), ending);
    await this.removeDeletedEndpointsWithoutDeliveries(ago(deliveriesMs), ending);
  }

  /**
   * Deletes bodies that no delivery refers to, such as those left by a crash or by deleting an endpoint. Each run
   * checks some of the bodies. Bodies older than the retention are never sent again, so deleting them is safe.
   */
  private async deleteUnreferencedBodies(before: Timestamp, ending: AbortSignal): Promise<void> {
    for (let checked = 0; checked < BODIES_CHECKED_PER_SWEEP && !ending.aborted;) {
      const found = await this.pace.runWorkThenRest(() => this.sweepPageOfDeliveryBodies(before), ending);
      if (found === 0) return;
      checked += found;
    }
  }

  /** Checks the next bodies. @returns the number of bodies checked; 0 at the end */
  private async sweepPageOfDeliveryBodies(before: Timestamp): Promise<number> {
    const resume = this.lastBody === undefined ? {} : { after: [this.lastBody] };
    const query = { filter: {}, sort: { fields: ['id'] }, limit: PAGE_SIZE, ...resume };
    const { documents: found } = await this.dependencies.payloads.findWithinByteLimit(
      query,
      DELIVERY_BODY_BYTES_PER_READ,
    );
    this.lastBody = found.at(-1)?.id;
    const old = found.filter(({ created_at }) => created_at < before);
    await this.deleteUnreferencedPayloads(new Map(old.map(({ id }) => [id, undefined])));
    return found.length;
  }

  /**
   * Sweeps one part of the log in order of creation, up to deliveries that are too young to have ended before the
   * limit.
   */
  private async sweepDeliveryLog(part: Filter, before: Timestamp, ending: AbortSignal): Promise<void> {
    let last: DeliveryDocument | undefined;
    while (!ending.aborted) {
      last = await this.pace.runWorkThenRest(() => this.sweepPageOfDeliveryLog(part, before, last), ending);
      if (last === undefined) return;
    }
  }

  /** @returns the last delivery of the page; undefined at the end */
  private async sweepPageOfDeliveryLog(
    part: Filter,
    before: Timestamp,
    last: DeliveryDocument | undefined,
  ): Promise<DeliveryDocument | undefined> {
    const filter = { ...part, created_at: { lt: before } };
    const resume = last === undefined ? {} : { after: [last.created_at, last.id] };
    const page = await this.dependencies.deliveries.find({
      filter,
      sort: { fields: DELIVERY_CREATION_ORDER_FIELDS },
      limit: PAGE_SIZE,
      ...resume,
    });
    const old = page.filter(({ queue, completed_at, event_created_at }) => {
      return queue === undefined && completed_at !== null && completed_at < before && event_created_at < before;
    });
    await this.deleteDeliveries(old, before);
    return page.at(-1);
  }

  /** Deletes deliveries. After an interruption of any step, a later round finds the rest. */
  private async deleteDeliveries(old: readonly DeliveryDocument[], before: Timestamp): Promise<void> {
    if (old.length === 0) return;
    const { deliveries, attempts } = this.dependencies;
    await this.dependencies.watermark.raiseRetentionWatermark(before);
    const attempted = old.flatMap(({ id, attempts_count }) => listAttemptIds(id, attempts_count));
    await attempts.writeMany(attempted.map((id) => ({ kind: 'delete', id })));
    // Keep a delivery if a user requested another attempt after the page was read.
    await deliveries.writeMany(
      old.map(({ id, revision, workspace_id, environment }) => {
        return { kind: 'delete', id, guard: { workspace_id, environment, revision } };
      }),
    );
    this.deleted.add(old.length);
    await this.deleteUnreferencedPayloads(new Map(old.map((delivery) => [delivery.payload_id, delivery])));
  }

  /**
   * Deletes bodies that no delivery refers to.
   * @param scopes scope of each body, by id; undefined if it is not known
   */
  private async deleteUnreferencedPayloads(scopes: ReadonlyMap<string, WorkspaceScope | undefined>): Promise<void> {
    const unneeded: string[] = [];
    for (const [payload_id, scope] of scopes) {
      const filter = { event_id: getPayloadEventId(payload_id), payload_id };
      const within = scope && { shards: toDeliveryShardValuesOfScopes(scope) };
      const [needed] = await this.dependencies.deliveries.find({ filter, limit: 1, ...within });
      if (needed === undefined) unneeded.push(payload_id);
    }
    await this.dependencies.payloads.writeMany(unneeded.map((id) => ({ kind: 'delete', id })));
  }

  /**
   * Deletes deleted endpoints and their health once none of their deliveries and replays is left, because those refer
   * to the endpoint.
   */
  private async removeDeletedEndpointsWithoutDeliveries(before: Timestamp, ending: AbortSignal): Promise<void> {
    let last: EndpointDocument | undefined;
    while (!ending.aborted) {
      last = await this.pace.runWorkThenRest(() => this.removePageOfDeletedEndpoints(before, last), ending);
      if (last === undefined) return;
    }
  }

  /** @returns the last endpoint of the page; undefined at the end */
  private async removePageOfDeletedEndpoints(
    before: Timestamp,
    last: EndpointDocument | undefined,
  ): Promise<EndpointDocument | undefined> {
    const { endpoints, health } = this.dependencies;
    const page = await endpoints.listEndpointsDeletedBefore(before, PAGE_SIZE, last);
    for (const endpoint of page) {
      if (await this.isEndpointReferenced(endpoint)) continue;
      // Delete the endpoint last, so that the next sweep finds it again after an interruption.
      await health.delete(endpoint.id);
      await endpoints.deleteEndpointDocument(endpoint);
    }
    return page.at(-1);
  }

  private async isEndpointReferenced(endpoint: EndpointDocument): Promise<boolean> {
    const { id } = endpoint;
    const query = {
      filter: { endpoint_id: id },
      limit: 1,
      index: 'endpoint',
      shards: toDeliveryShardValuesOfScopes(endpoint),
    };
    const deliveries = await this.dependencies.deliveries.find(query);
    return deliveries.length > 0 || (await this.dependencies.replays.hasReplays(id));
  }
}

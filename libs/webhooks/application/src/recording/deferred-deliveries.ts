import { randomUUID } from 'node:crypto';
import type { Timestamp } from '@tracking/contracts';
import {
  type Clock,
  type Collection,
  type CollectionSpec,
  type Counter,
  type Document,
  type LeaseSource,
  type Logger,
  type Metrics,
  createRetryCounter,
} from '@tracking/ports';
import { LeaderElectedJob, pauseFor } from '@tracking/resilience';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import type { EndpointShardOwner, StoredDeliveriesWithEndpoints } from '../ownership/shard-owner.ts';
import { type EventFields, type DeliveryDocument, createDeliveryDocument } from '../store/delivery-document.ts';

/** Inserts deliveries, each once, and counts them. */
export class DeliveryInserter {
  private readonly recorded: Counter;

  constructor(
    private readonly deliveries: Collection<DeliveryDocument>,
    metrics: Metrics,
  ) {
    this.recorded = metrics.createCounter('webhook_deliveries_recorded_total', 'Deliveries recorded');
  }

  /** Inserts deliveries. A delivery that is already stored stays unchanged. */
  async insertDeliveries(matches: StoredDeliveriesWithEndpoints['matches']): Promise<void> {
    await this.deliveries.writeMany(matches.map(({ delivery: document }) => ({ kind: 'insert', document })));
    this.recorded.add(matches.length);
  }
}

/** A stored event whose deliveries to some endpoints are deferred. */
export interface DeferredDeliveriesDocument extends Document {
  readonly about: EventFields;
  readonly endpoints: readonly { readonly id: string; readonly payload_id: string }[];
  /** Time at which the event's deliveries to the other endpoints were created. */
  readonly at: Timestamp;
}

/** Collection of deferred events. A deferred event is stored before the offset of its message is committed. */
export const DEFERRED_DELIVERIES_COLLECTION_SPEC: CollectionSpec = {
  name: 'webhook_late_records',
  indexes: [],
  durability: 'ordered',
};

const EVENTS_PER_READ = 50;
/**
 * Maximum number of deliveries in one write. An event with more deliveries is still written at once. Other writes wait.
 */
const DELIVERIES_PER_WRITE = 50;
/** Pause after a write, as a multiple of its duration. A busy process therefore pauses longer. */
const PAUSE_PER_WRITE_DURATION = 4;
const MAX_PAUSE_BETWEEN_WRITES_MS = 1_000;
/** Milliseconds between two checks for events that other processes deferred. */
const DEFERRALS_BY_OTHERS_CHECK_INTERVAL_MS = 5_000;
/**
 * Longest wait of a deferred event. While an event has waited longer, deferring stops, and all deliveries are
 * recorded immediately.
 */
const MAX_DEFERRAL_MS = 300_000;
/** Minimum time between two reads of the oldest deferred event. Its age decides whether more events are deferred. */
const DEFERRED_EVENT_CHECK_INTERVAL_MS = 1_000;

interface DeferredDeliveriesDependencies {
  readonly documents: Collection<DeferredDeliveriesDocument>;
  readonly endpoints: EndpointStore;
  readonly insertion: DeliveryInserter;
  readonly owner: Pick<EndpointShardOwner, 'handOverDeliveries' | 'notifyOwningProcesses'>;
  readonly leases: LeaseSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Defers deliveries to failing endpoints if other endpoints of the same batch work. Deferred deliveries are recorded in
 * spare time, so that no other delivery waits. Until then, one document for each event lists the endpoints. The
 * document is deleted after recording, so no crash loses a delivery.
 */
export class DeferredDeliveries {
  readonly job: LeaderElectedJob;
  /**
   * Time of the oldest deferred event. Undefined if no event is deferred or another process records deferred events.
   */
  private oldest: Timestamp | undefined;
  /** True if a deferred event has waited too long, in any process. */
  private waitsTooLong = false;
  private lookedAt = -Infinity;

  constructor(private readonly dependencies: DeferredDeliveriesDependencies) {
    const { leases, logger, metrics } = dependencies;
    const help = 'Age of the oldest event waiting to be recorded for failing endpoints, in seconds';
    metrics.createGauge(
      'webhook_late_records_seconds',
      help,
      [],
      () => this.computeDeferredEventAgeMs(this.oldest) / 1_000,
    );
    this.job = new LeaderElectedJob({
      leases,
      lease: 'webhooks-late-records',
      logger,
      countRetry: createRetryCounter(metrics),
      description: 'recording late deliveries',
      intervalMs: DEFERRALS_BY_OTHERS_CHECK_INTERVAL_MS,
      runJobRound: (ending) =>
        this.recordDeliveriesOfDeferredEvents(ending).finally(() => {
          this.oldest = undefined;
        }),
    });
  }

  /** Returns true if more deliveries may be deferred; false while a deferred event has waited for too long. */
  async canDeferMoreDeliveries(): Promise<boolean> {
    if (performance.now() - this.lookedAt > DEFERRED_EVENT_CHECK_INTERVAL_MS) {
      this.lookedAt = performance.now();
      const [oldest] = await this.readDeferredDeliveries(1);
      this.waitsTooLong = this.computeDeferredEventAgeMs(oldest?.at) > MAX_DEFERRAL_MS;
    }
    return !this.waitsTooLong;
  }

  /** Defers deliveries. The deferral is stored when this resolves. */
  async deferDeliveries(deliveries: readonly DeliveryDocument[]): Promise<void> {
    if (deliveries.length === 0) return;
    const documents = [...Map.groupBy(deliveries, ({ event_id }) => event_id).values()].map(
      toDeferredDeliveriesDocument,
    );
    await this.dependencies.documents.writeMany(documents.map((document) => ({ kind: 'insert', document })));
    this.job.wakeJob();
  }

  /** Returns the age of the oldest deferred event in milliseconds; 0 if no event is deferred. */
  private computeDeferredEventAgeMs(since: Timestamp | undefined): number {
    return since === undefined ? 0 : Math.max(0, this.dependencies.clock().getTime() - Date.parse(since));
  }

  private readDeferredDeliveries(limit: number): Promise<readonly DeferredDeliveriesDocument[]> {
    return this.dependencies.documents.find({ filter: {}, sort: { fields: ['id'] }, limit });
  }

  private async recordDeliveriesOfDeferredEvents(ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      const page = await this.readDeferredDeliveries(EVENTS_PER_READ);
      this.oldest = page[0]?.at;
      if (page.length === 0) return;
      for (const some of groupEventsByJointDeliveryWrite(page)) {
        if (ending.aborted) return;
        const began = performance.now();
        await this.recordAndHandOverDeferredDeliveries(some);
        await this.dependencies.documents.writeMany(some.map(({ id }) => ({ kind: 'delete', id })));
        await pauseFor(
          Math.min(MAX_PAUSE_BETWEEN_WRITES_MS, PAUSE_PER_WRITE_DURATION * (performance.now() - began)),
          ending,
        );
      }
    }
  }

  private async recordAndHandOverDeferredDeliveries(some: readonly DeferredDeliveriesDocument[]): Promise<void> {
    const { endpoints, insertion, owner } = this.dependencies;
    const ids = [...new Set(some.flatMap((deferred) => deferred.endpoints.map(({ id }) => id)))];
    const known = await endpoints.findEndpointsByIds(ids);
    const live = new Map([...known].filter(([, { deleted }]) => !deleted));
    // The deliveries may not be new: this job may have recorded some of them before a crash.
    const deliveries = {
      matches: some.flatMap((deferred) => createDeliveriesForLiveEndpoints(deferred, live)),
      unstoredAt: -Infinity,
    };
    await insertion.insertDeliveries(deliveries.matches);
    await owner.handOverDeliveries(deliveries);
    // Discard the recorded deliveries of endpoints that were deleted in the meantime.
    await owner.notifyOwningProcesses(ids.filter((id) => !live.has(id)));
  }
}

/**
 * @param deliveries deliveries of one event @param index position of the event among those deferred together; they are
 *   recorded in that order
 */
function toDeferredDeliveriesDocument(
  deliveries: readonly DeliveryDocument[],
  index: number,
): DeferredDeliveriesDocument {
  const [first] = deliveries;
  if (first === undefined) throw new TypeError('no deliveries');
  const { workspace_id, environment, event_id, event_type, event_created_at, origin, created_at: at } = first;
  const from = origin === undefined ? {} : { origin };
  const about = { workspace_id, environment, event_id, event_type, event_created_at, ...from };
  const endpoints = deliveries.map(({ endpoint_id: id, payload_id }) => ({ id, payload_id }));
  return { id: `${at}.${String(index).padStart(6, '0')}.${randomUUID()}`, about, endpoints, at };
}

function createDeliveriesForLiveEndpoints(
  { about, endpoints, at }: DeferredDeliveriesDocument,
  live: ReadonlyMap<string, EndpointDocument>,
): StoredDeliveriesWithEndpoints['matches'] {
  return endpoints.flatMap(({ id, payload_id }) => {
    const endpoint = live.get(id);
    if (endpoint === undefined) return [];
    return [{ endpoint, delivery: createDeliveryDocument(about, id, payload_id, at) }];
  });
}

/** Groups events whose deliveries are written together. */
function* groupEventsByJointDeliveryWrite(
  page: readonly DeferredDeliveriesDocument[],
): Iterable<readonly DeferredDeliveriesDocument[]> {
  let group: DeferredDeliveriesDocument[] = [];
  let deliveries = 0;
  for (const deferred of page) {
    if (group.length > 0 && deliveries + deferred.endpoints.length > DELIVERIES_PER_WRITE) {
      yield group;
      [group, deliveries] = [[], 0];
    }
    group.push(deferred);
    deliveries += deferred.endpoints.length;
  }
  if (group.length > 0) yield group;
}

import { randomUUID } from 'node:crypto';
import type { Timestamp } from '@tracking/contracts';
import { retryCounter } from '@tracking/ports';
import type { Clock, Collection, CollectionSpec, Document, Leases, Logger, Metrics } from '@tracking/ports';
import { LeaderElectedJob, pause } from '@tracking/resilience';
import type { StoredDeliveries } from '../attempts/shard-owner.ts';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import { type AboutEvent, type DeliveryDocument, recordedDelivery } from '../store/delivery-document.ts';

/** An event that is yet to be recorded for some endpoints. */
export interface LateDocument extends Document {
  readonly about: AboutEvent;
  readonly endpoints: readonly { readonly id: string; readonly payload_id: string }[];
  /** When the others' deliveries were made. */
  readonly at: Timestamp;
}

/** Stands in the same log as the offset of the event's message, before it. */
export const LATE_RECORDS: CollectionSpec = { name: 'webhook_late_records', indexes: [], durability: 'ordered' };

/** Read at once. */
const PAGE = 50;
/** Most deliveries in one write, but for those of one event: others wait for it. */
const AT_ONCE = 50;
/** For each millisecond of a write it rests so many: the busier the process, the longer both. */
const REST = 4;
const LONGEST_REST_MS = 1_000;
/** How often this process looks for what others left to it. */
const SWEEP_MS = 500;

export interface LateRecordsParts {
  readonly documents: Collection<LateDocument>;
  readonly endpoints: EndpointStore;
  /** Stores deliveries that may be stored already, and tells their endpoints' owners. */
  record(deliveries: StoredDeliveries): Promise<void>;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Deliveries to endpoints that fail or are behind, of events that others want too: they are recorded in the time that the
 * event loop has to spare, so that nobody else's deliveries wait for them. Until then one document for each event says for
 * whom it is to be recorded; it is deleted after that, so no crash in between loses one.
 */
export class LateRecords {
  readonly job: LeaderElectedJob;
  private oldest: Timestamp | undefined;

  constructor(private readonly parts: LateRecordsParts) {
    const { leases, logger, metrics, clock } = parts;
    const help = 'Age of the oldest event that is yet to be recorded for endpoints that fail or are behind';
    metrics.gauge('webhook_late_records_seconds', help, [], () =>
      this.oldest === undefined ? 0 : Math.max(0, (clock().getTime() - Date.parse(this.oldest)) / 1_000),
    );
    this.job = new LeaderElectedJob({
      leases,
      lease: 'webhooks-late-records',
      logger,
      countRetry: retryCounter(metrics),
      what: 'recording late deliveries',
      everyMs: SWEEP_MS,
      round: (ending) => this.recordAll(ending),
    });
  }

  /** What is to be recorded is stored when this resolves, and recorded when there is time. */
  async putOff(deliveries: readonly DeliveryDocument[]): Promise<void> {
    if (deliveries.length === 0) return;
    const documents = [...Map.groupBy(deliveries, ({ event_id }) => event_id).values()].map(lateDocument);
    await this.parts.documents.writeMany(documents.map((document) => ({ kind: 'insert', document })));
    this.job.wake();
  }

  private async recordAll(ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      const page = await this.parts.documents.find({ filter: {}, sort: { fields: ['id'] }, limit: PAGE });
      this.oldest = page[0]?.at;
      if (page.length === 0) return;
      const known = await this.parts.endpoints.byId(page.flatMap(({ endpoints }) => endpoints.map(({ id }) => id)));
      for (const some of slices(page)) {
        if (ending.aborted) return;
        const began = performance.now();
        // Some may have been recorded before a crash.
        await this.parts.record({ matches: some.flatMap((late) => matchesOf(late, known)), areNew: false });
        await this.parts.documents.writeMany(some.map(({ id }) => ({ kind: 'delete', id })));
        await pause(Math.min(LONGEST_REST_MS, REST * (performance.now() - began)), ending);
      }
    }
  }
}

/** @param deliveries of one event */
function lateDocument(deliveries: readonly DeliveryDocument[]): LateDocument {
  const [first] = deliveries;
  if (first === undefined) throw new TypeError('no deliveries');
  const { workspace_id, environment, event_id, event_type, event_created_at, origin, created_at: at } = first;
  const from = origin === undefined ? {} : { origin };
  const about = { workspace_id, environment, event_id, event_type, event_created_at, ...from };
  const endpoints = deliveries.map(({ endpoint_id: id, payload_id }) => ({ id, payload_id }));
  return { id: `${at}.${randomUUID()}`, about, endpoints, at };
}

/** Of an endpoint that was deleted meanwhile nothing waits. */
function matchesOf(
  { about, endpoints, at }: LateDocument,
  known: ReadonlyMap<string, EndpointDocument>,
): StoredDeliveries['matches'] {
  return endpoints.flatMap(({ id, payload_id }) => {
    const endpoint = known.get(id);
    if (endpoint === undefined || endpoint.deleted) return [];
    return [{ endpoint, delivery: recordedDelivery(about, id, payload_id, at) }];
  });
}

/** Events whose deliveries are written together. */
function* slices(page: readonly LateDocument[]): Iterable<readonly LateDocument[]> {
  let slice: LateDocument[] = [];
  let deliveries = 0;
  for (const late of page) {
    if (slice.length > 0 && deliveries + late.endpoints.length > AT_ONCE) {
      yield slice;
      [slice, deliveries] = [[], 0];
    }
    slice.push(late);
    deliveries += late.endpoints.length;
  }
  if (slice.length > 0) yield slice;
}

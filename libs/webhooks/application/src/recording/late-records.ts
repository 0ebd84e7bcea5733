import { randomUUID } from 'node:crypto';
import type { Timestamp } from '@tracking/contracts';
import {
  type Clock,
  type Collection,
  type CollectionSpec,
  type Document,
  type Leases,
  type Logger,
  type Metrics,
  retryCounter,
} from '@tracking/ports';
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
/** Nothing more is put off while something waits for so long: what comes is recorded at once, as that of all others. */
const LONGEST_WAIT_MS = 300_000;
/** How old the knowledge of that may be. */
const LOOK_MS = 1_000;

export interface LateRecordsParts {
  readonly documents: Collection<LateDocument>;
  readonly endpoints: EndpointStore;
  /** Stores deliveries that may be stored already, and tells their endpoints' owners. */
  record(deliveries: StoredDeliveries): Promise<void>;
  /** Tells the owners of these endpoints that something of them may wait. */
  notify(endpointIds: readonly string[]): Promise<void>;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Deliveries to endpoints that fail, of events that come beside others' that do not: they are recorded when there is time, so
 * that nobody else's deliveries wait for them. Until then one document for each event says for whom it is to be recorded; it is
 * deleted after that, so no crash in between loses one.
 */
export class LateRecords {
  readonly job: LeaderElectedJob;
  /** That it records at the moment, since when it waits; undefined where another process does, or nothing waits. */
  private oldest: Timestamp | undefined;
  /** What is known of what waits, whoever records it. */
  private waitsTooLong = false;
  private lookedAt = -Infinity;

  constructor(private readonly parts: LateRecordsParts) {
    const { leases, logger, metrics } = parts;
    const help = 'Since when the oldest event waits to be recorded for endpoints that fail';
    metrics.gauge('webhook_late_records_seconds', help, [], () => this.age(this.oldest) / 1_000);
    this.job = new LeaderElectedJob({
      leases,
      lease: 'webhooks-late-records',
      logger,
      countRetry: retryCounter(metrics),
      what: 'recording late deliveries',
      everyMs: SWEEP_MS,
      round: (ending) =>
        this.recordAll(ending).finally(() => {
          this.oldest = undefined;
        }),
    });
  }

  /** Whether more may be put off: not where it would wait for too long. */
  async takesMore(): Promise<boolean> {
    if (performance.now() - this.lookedAt > LOOK_MS) {
      this.lookedAt = performance.now();
      const [oldest] = await this.read(1);
      this.waitsTooLong = this.age(oldest?.at) > LONGEST_WAIT_MS;
    }
    return !this.waitsTooLong;
  }

  /** What is to be recorded is stored when this resolves, and recorded when there is time. */
  async putOff(deliveries: readonly DeliveryDocument[]): Promise<void> {
    if (deliveries.length === 0) return;
    const documents = [...Map.groupBy(deliveries, ({ event_id }) => event_id).values()].map(lateDocument);
    await this.parts.documents.writeMany(documents.map((document) => ({ kind: 'insert', document })));
    this.job.wake();
  }

  /** In milliseconds; 0 where nothing waits. */
  private age(since: Timestamp | undefined): number {
    return since === undefined ? 0 : Math.max(0, this.parts.clock().getTime() - Date.parse(since));
  }

  private read(limit: number): Promise<readonly LateDocument[]> {
    return this.parts.documents.find({ filter: {}, sort: { fields: ['id'] }, limit });
  }

  private async recordAll(ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      const page = await this.read(PAGE);
      this.oldest = page[0]?.at;
      if (page.length === 0) return;
      for (const some of slices(page)) {
        if (ending.aborted) return;
        const began = performance.now();
        await this.record(some);
        await this.parts.documents.writeMany(some.map(({ id }) => ({ kind: 'delete', id })));
        await pause(Math.min(LONGEST_REST_MS, REST * (performance.now() - began)), ending);
      }
    }
  }

  private async record(some: readonly LateDocument[]): Promise<void> {
    const ids = [...new Set(some.flatMap(({ endpoints }) => endpoints.map(({ id }) => id)))];
    const known = await this.parts.endpoints.byId(ids);
    const live = new Map([...known].filter(([, { deleted }]) => !deleted));
    // Some may have been recorded before a crash.
    await this.parts.record({ matches: some.flatMap((late) => matchesOf(late, live)), areNew: false });
    // Of one that was deleted meanwhile nothing may wait, also where it was recorded just before.
    await this.parts.notify(ids.filter((id) => !live.has(id)));
  }
}

/** @param deliveries of one event, and which one it is of those that are put off together: they are recorded in that order */
function lateDocument(deliveries: readonly DeliveryDocument[], index: number): LateDocument {
  const [first] = deliveries;
  if (first === undefined) throw new TypeError('no deliveries');
  const { workspace_id, environment, event_id, event_type, event_created_at, origin, created_at: at } = first;
  const from = origin === undefined ? {} : { origin };
  const about = { workspace_id, environment, event_id, event_type, event_created_at, ...from };
  const endpoints = deliveries.map(({ endpoint_id: id, payload_id }) => ({ id, payload_id }));
  return { id: `${at}.${String(index).padStart(6, '0')}.${randomUUID()}`, about, endpoints, at };
}

function matchesOf(
  { about, endpoints, at }: LateDocument,
  live: ReadonlyMap<string, EndpointDocument>,
): StoredDeliveries['matches'] {
  return endpoints.flatMap(({ id, payload_id }) => {
    const endpoint = live.get(id);
    if (endpoint === undefined) return [];
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

import { type PayloadVersions, SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import type {
  Clock,
  Collection,
  CountRetry,
  Counter,
  Logger,
  MessageBroker,
  Metrics,
  ReceivedMessage,
} from '@tracking/ports';
import { renderBody, wants } from '@tracking/webhooks-domain';
import type { ShardOwner, StoredDeliveries } from '../attempts/shard-owner.ts';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import type { Scope } from '../requests-and-answers.ts';
import { CONSUMER_GROUP } from '../settings.ts';
import {
  type AboutEvent,
  type DeliveryDocument,
  type PayloadDocument,
  type Payloads,
  awaitsAttempt,
  payloadId,
  recordedDelivery,
} from '../store/delivery-document.ts';
import type { RetentionWatermark } from '../store/delivery-queries.ts';
import { traceFields } from '../tracing.ts';
import type { LateRecords } from './late-records.ts';
import { type ConsumedEvent, type Parking, consumedEvent } from './parking.ts';

type EndpointsByScope = ReadonlyMap<string, readonly EndpointDocument[]>;
type Match = StoredDeliveries['matches'][number];
/** In the order in which deliveries are recorded: at once, after that, when there is time. */
type Urgency = 'first' | 'rest' | 'late';

/** What is written at once. */
interface RecordingBatch extends StoredDeliveries {
  /** Those that are not stored yet. */
  readonly payloads: readonly PayloadDocument[];
}

interface Recording {
  /** To be stored one after the other. */
  readonly batches: readonly RecordingBatch[];
  /** To be put off. */
  readonly late: readonly DeliveryDocument[];
  /** Bodies of these that no other delivery has. */
  readonly latePayloads: readonly PayloadDocument[];
  /** Endpoints of deliveries that were recorded before and still wait. */
  readonly recordedBefore: readonly string[];
}

/** Most deliveries in one write: more would fill the store's queue for all others. */
const AT_ONCE = 1_000;

/** An event with whoever is not to get it: its own endpoint, where it is about one. */
export interface RecordableEvent extends ConsumedEvent {
  readonly about_endpoint?: string;
}

export interface RecorderParts {
  readonly endpoints: EndpointStore;
  readonly payloads: Payloads;
  readonly versions: PayloadVersions;
  readonly deliveries: Collection<DeliveryDocument>;
  readonly owner: Pick<ShardOwner, 'keepsUp' | 'isFailing' | 'handOver' | 'notify'>;
  readonly late: Pick<LateRecords, 'takesMore' | 'putOff'>;
  readonly parking: Parking;
  readonly watermark: RetentionWatermark;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Turns events into delivery records. May be given the same events any number of times: a record is only ever
 * inserted, under an id made of endpoint and event.
 */
export class Recorder {
  private readonly recorded: Counter;
  private readonly recordedLate: Counter;
  private readonly putOff: Counter;

  constructor(private readonly parts: RecorderParts) {
    const { metrics } = parts;
    this.recorded = metrics.counter('webhook_deliveries_recorded_total', 'Deliveries recorded');
    const late = 'Of these, of endpoints that fail or are behind, after the others';
    this.recordedLate = metrics.counter('webhook_deliveries_recorded_late_total', late);
    const putOff = 'Deliveries of endpoints that fail, put off until there is time to record them';
    this.putOff = metrics.counter('webhook_deliveries_put_off_total', putOff);
  }

  /** The offset of the messages is committed when this resolves. What is no event is parked. */
  readonly consume = async (messages: readonly ReceivedMessage[]): Promise<void> => {
    await this.record(await this.parsed(messages));
  };

  /** All deliveries of the events are stored when this resolves, and their endpoints' owners know of them; or are put off. */
  async record(events: readonly RecordableEvent[]): Promise<void> {
    if (events.length === 0) return;
    const { owner, late, payloads } = this.parts;
    const recording = await this.deliveriesOf(await this.retained(events));
    if (recording.latePayloads.length > 0) await payloads.store(recording.latePayloads);
    // Asked for at once, they are one commit.
    await Promise.all([late.putOff(recording.late), this.storeAll(recording.batches)]);
    this.putOff.add(recording.late.length);
    // Perhaps the process that recorded them ended before it could hand them over.
    await owner.notify(recording.recordedBefore);
  }

  /** Stores deliveries whose bodies are stored; their endpoints' owners know of them when it resolves. */
  readonly store = async (deliveries: StoredDeliveries): Promise<void> => {
    await this.insert(deliveries);
    await this.parts.owner.handOver(deliveries);
  };

  /**
   * The deliveries that these events make. Those of endpoints that keep up come first, in a batch of their own: they are
   * attempted while the others are still being stored, and those of endpoints that fail are put off.
   */
  private async deliveriesOf(events: readonly RecordableEvent[]): Promise<Recording> {
    // Only now, after the events were fetched: an endpoint enabled before one of them was made is certainly seen.
    const { matches, payloads } = this.match(events, await this.endpointsOf(events));
    // Nothing is attempted before its payload is stored: where that is missing, no delivery has had an attempt yet.
    const knownPayloads = await this.parts.payloads.existing([...payloads.keys()]);
    const doubtful = matches.filter(({ delivery }) => knownPayloads.has(delivery.payload_id));
    const known = await this.parts.deliveries.getMany(doubtful.map(({ delivery }) => delivery.id));
    const knownIds = new Set(known.map(({ id }) => id));
    const fresh = matches.filter(({ delivery }) => !knownIds.has(delivery.id));
    for (const id of knownPayloads) payloads.delete(id);
    const { first = [], rest = [], late = [] } = await this.byUrgency(fresh);
    this.recordedLate.add(rest.length);
    return {
      batches: [...batches([...chunks(first), ...chunks(rest)], payloads, doubtful.length === 0)],
      late: late.map(({ delivery }) => delivery),
      latePayloads: [...payloads.values()],
      recordedBefore: [...new Set(known.filter(awaitsAttempt).map(({ endpoint_id }) => endpoint_id))],
    };
  }

  private async byUrgency(matches: readonly Match[]): Promise<Partial<Record<Urgency, Match[]>>> {
    const groups = Object.groupBy(matches, ({ endpoint }) => this.urgency(endpoint));
    const { first = [], rest = [], late = [] } = groups;
    // Where none keeps up, none would wait for the others' records.
    if (late.length === 0 || (first.length > 0 && (await this.parts.late.takesMore()))) return groups;
    return { first, rest: [...rest, ...late] };
  }

  private urgency({ id }: EndpointDocument): Urgency {
    if (this.parts.owner.keepsUp(id)) return 'first';
    return this.parts.owner.isFailing(id) ? 'late' : 'rest';
  }

  private async storeAll(batches: readonly RecordingBatch[]): Promise<void> {
    for (const batch of batches) {
      const { payloads } = batch;
      await Promise.all([this.parts.payloads.store(payloads), this.insert(batch)]);
      for (const { id, body } of payloads) this.parts.payloads.keep(id, body);
      await this.parts.owner.handOver(batch);
    }
  }

  /** Once for all: what exists stays as it is. */
  private async insert({ matches }: StoredDeliveries): Promise<void> {
    await this.parts.deliveries.writeMany(matches.map(({ delivery: document }) => ({ kind: 'insert', document })));
    this.recorded.add(matches.length);
  }

  private async parsed(messages: readonly ReceivedMessage[]): Promise<readonly ConsumedEvent[]> {
    const events = new Map<string, ConsumedEvent>();
    for (const message of messages) {
      try {
        const event = consumedEvent(message, this.parts.versions);
        events.set(event.id, event);
      } catch (error) {
        await this.parts.parking.park(message, (error as Error).message);
      }
    }
    return [...events.values()];
  }

  /** Without those from before the retention watermark. */
  private async retained(events: readonly RecordableEvent[]): Promise<readonly RecordableEvent[]> {
    const before = await this.parts.watermark.before();
    const { retained = [], tooOld = [] } = Object.groupBy(events, ({ created_at }) =>
      created_at >= before ? 'retained' : 'tooOld',
    );
    const [first] = tooOld;
    if (first !== undefined) {
      const trace = traceFields({ ...first, event_id: first.id });
      const about = { events: tooOld.length, before, first: first.id, ...trace };
      this.parts.logger.warn(about, 'webhooks: events from before the log begins were not recorded');
    }
    return retained;
  }

  private match(events: readonly RecordableEvent[], endpoints: EndpointsByScope) {
    const matches: Match[] = [];
    const payloads = new Map<string, PayloadDocument>();
    const { clock, versions } = this.parts;
    const at = clock().toISOString();
    for (const event of events) {
      const about = aboutOf(event);
      for (const endpoint of endpoints.get(keyOf(event)) ?? []) {
        if (endpoint.id === event.about_endpoint || !wants(endpoint, event)) continue;
        const version = versions.versionFor(event, endpoint.api_version);
        const id = payloadId(event.id, version);
        if (!payloads.has(id)) {
          payloads.set(id, { id, body: renderBody(event, version, false, versions), created_at: at });
        }
        matches.push({ endpoint, delivery: recordedDelivery(about, endpoint.id, id, at) });
      }
    }
    return { matches, payloads };
  }

  private async endpointsOf(events: readonly ConsumedEvent[]): Promise<EndpointsByScope> {
    const scopes = new Map<string, Scope>(events.map((event) => [keyOf(event), event]));
    const found = [...scopes].map(async ([key, scope]) => [key, await this.parts.endpoints.all(scope)] as const);
    return new Map(await Promise.all(found));
  }
}

/** @param payloads those that are not stored: each goes with the first delivery of it, those of no delivery are left */
function* batches(
  matches: Iterable<readonly Match[]>,
  payloads: Map<string, PayloadDocument>,
  areNew: boolean,
): Iterable<RecordingBatch> {
  for (const some of matches) {
    const needed = [...new Set(some.map(({ delivery }) => delivery.payload_id))];
    yield { matches: some, payloads: needed.map((id) => payloads.get(id)).filter((one) => one !== undefined), areNew };
    for (const id of needed) payloads.delete(id);
  }
}

function* chunks<T>(all: readonly T[]): Iterable<readonly T[]> {
  for (let at = 0; at < all.length; at += AT_ONCE) yield all.slice(at, at + AT_ONCE);
}

function keyOf({ workspace_id, environment }: Scope): string {
  return `${workspace_id} ${environment}`;
}

function aboutOf({ workspace_id, environment, id, type, created_at, origin }: ConsumedEvent): AboutEvent {
  const about = { workspace_id, environment, event_id: id, event_type: type, event_created_at: created_at };
  return origin === undefined ? about : { ...about, origin };
}

/** How many published events nobody has recorded yet, as the broker says: also while nobody records. */
export class ConsumerLag {
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private readonly gauge;

  constructor(
    private readonly broker: Pick<MessageBroker, 'lag'>,
    metrics: Metrics,
    private readonly countRetry: CountRetry,
    private readonly lookMs: number,
  ) {
    this.gauge = metrics.gauge('webhook_events_waiting', 'Published events not recorded yet, whoever records them');
  }

  start(): void {
    this.look();
    this.timer = setInterval(() => this.look(), this.lookMs).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    this.looking ??= this.broker
      .lag(SHIPMENT_EVENTS_TOPIC.name, CONSUMER_GROUP)
      .then((count) => this.gauge.set(count))
      .catch(() => this.countRetry('looking how many events wait'))
      .finally(() => (this.looking = undefined));
  }
}

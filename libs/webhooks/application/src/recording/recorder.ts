import { type PayloadVersionConverter, SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import type {
  Clock,
  Collection,
  CountRetry,
  Counter,
  Logger,
  MessageBroker,
  Metrics,
  ReceivedBrokerMessage,
} from '@tracking/ports';
import { type LogPosition, renderDeliveryBody, doesEndpointReceiveEvent } from '@tracking/webhooks-domain';
import { type EndpointDocument, computePayloadFormat } from '../endpoints/endpoint-document.ts';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import type { EndpointShardOwner, StoredDeliveriesWithEndpoints } from '../ownership/shard-owner.ts';
import type { WorkspaceScope } from '../operation-types.ts';
import { CONSUMER_GROUP } from '../settings.ts';
import {
  type EventFields,
  type DeliveryDocument,
  type PayloadDocument,
  type PayloadStore,
  isWaitingForAttempt,
  createPayloadId,
  createDeliveryDocument,
  toDeliveryShardValuesOfScopes,
} from '../store/delivery-document.ts';
import type { RetentionWatermarkStore } from '../store/delivery-queries.ts';
import { toTraceLogFields } from '../tracing.ts';
import type { DeferredDeliveries, DeliveryInserter } from './deferred-deliveries.ts';
import { BatchCombiner, RepeatedBatchDetector } from './combined-batches.ts';
import type { ConsumedEvent, ParkedInvalidMessages } from './parking-lot.ts';

type EndpointsByScope = ReadonlyMap<string, readonly EndpointDocument[]>;
type Match = StoredDeliveriesWithEndpoints['matches'][number];
/** Order in which deliveries are recorded: `first`, then `rest`, and `deferred` in spare time. */
type Urgency = 'first' | 'rest' | 'deferred';

/** Deliveries written in one batch, with their bodies. */
interface DeliveryBatchToWrite extends StoredDeliveriesWithEndpoints {
  /** Bodies that are not stored yet. */
  readonly payloads: readonly PayloadDocument[];
}

interface DeliveryRecordingPlan {
  /** Batches to store one after the other. */
  readonly batches: readonly DeliveryBatchToWrite[];
  readonly deferred: readonly DeliveryDocument[];
  /** Bodies that only deferred deliveries use. */
  readonly deferredPayloads: readonly PayloadDocument[];
  /** Ids of endpoints with deliveries that were already recorded and are still pending. */
  readonly recordedBefore: readonly string[];
}

/**
 * Maximum number of messages of several partitions that are recorded together. A larger batch is recorded alone, so that
 * the messages of other partitions do not wait for it.
 */
const MAX_COMBINED_MESSAGES = 32;
/** Maximum number of deliveries in one write. Larger writes would delay other writes in the store's queue. */
const DELIVERIES_PER_WRITE = 1_000;

export interface EventForDeliveryRecording extends Omit<ConsumedEvent, 'place'> {
  /** Log position; undefined for an event about an endpoint, which is in no log. */
  readonly place: LogPosition | undefined;
  /** Id of the endpoint that the event is about. That endpoint does not receive the event. */
  readonly about_endpoint?: string;
}

interface DeliveryRecorderDependencies {
  readonly endpoints: EndpointStore;
  readonly payloads: PayloadStore;
  readonly versions: PayloadVersionConverter;
  readonly deliveries: Collection<DeliveryDocument>;
  readonly owner: Pick<
    EndpointShardOwner,
    'isEndpointKeepingUp' | 'isEndpointFailing' | 'handOverDeliveries' | 'notifyOwningProcesses'
  >;
  readonly insertion: DeliveryInserter;
  readonly deferred: Pick<DeferredDeliveries, 'canDeferMoreDeliveries' | 'deferDeliveries'>;
  readonly parking: ParkedInvalidMessages;
  readonly watermark: RetentionWatermarkStore;
  /**
   * Shortest time for which deliveries are kept. The watermark is at least this old, so it is read only for older
   * events.
   */
  readonly retentionMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Creates delivery records from events. Idempotent: a record is only ever inserted, and its id is derived from endpoint
 * and event.
 */
export class DeliveryRecordCreator {
  private readonly recordedLate: Counter;
  private readonly deferred: Counter;
  private readonly batches: BatchCombiner<ReceivedBrokerMessage>;
  private readonly repeated = new RepeatedBatchDetector();

  constructor(private readonly dependencies: DeliveryRecorderDependencies) {
    const { metrics } = dependencies;
    this.batches = new BatchCombiner(MAX_COMBINED_MESSAGES, (messages) => this.recordMessages(messages, false));
    const late =
      'Deliveries that were recorded after other deliveries, because their endpoint is failing or has a backlog';
    this.recordedLate = metrics.createCounter('webhook_deliveries_recorded_late_total', late);
    const deferred = 'Deliveries to failing endpoints whose recording was deferred to spare time';
    this.deferred = metrics.createCounter('webhook_deliveries_put_off_total', deferred);
  }

  /**
   * Records the events of these messages. The offset is committed after this resolves. A message that is not a valid
   * event is parked. Messages of several partitions that arrive together are recorded together.
   */
  readonly consume = (messages: readonly ReceivedBrokerMessage[]): Promise<void> =>
    this.repeated.handleBatch(messages, (mayBeRecorded) =>
      mayBeRecorded ? this.recordMessages(messages, true) : this.batches.addToCombinedBatchAndAwaitHandling(messages),
    );

  /**
   * Records events. When this resolves, all of their deliveries are deferred, or stored and known to the endpoints'
   * owners.
   * @param mayBeRecorded true if these events may have been recorded before, at least in part
   */
  async recordDeliveriesOfEvents(events: readonly EventForDeliveryRecording[], mayBeRecorded = true): Promise<void> {
    if (events.length === 0) return;
    const { owner, deferred, payloads } = this.dependencies;
    const unstoredAt = mayBeRecorded ? -Infinity : performance.now();
    const reading = [this.filterRetainedEvents(events), this.readEndpointsOfEventScopes(events)] as const;
    const [retained, endpoints] = await Promise.all(reading);
    const recording = await this.planDeliveriesOfEvents(retained, endpoints, unstoredAt);
    if (recording.deferredPayloads.length > 0) await payloads.storePayloads(recording.deferredPayloads);
    // Start all writes at once, so that they share one commit.
    await Promise.all([
      deferred.deferDeliveries(recording.deferred),
      this.storeDeliveriesAndPayloads(recording.batches),
    ]);
    this.deferred.add(recording.deferred.length);
    // Notify the owners: the process that recorded these deliveries may have ended before it handed them over.
    await owner.notifyOwningProcesses(recording.recordedBefore);
  }

  /**
   * Plans the deliveries of these events. Deliveries to endpoints that keep up come first, in their own batch, so that
   * they are attempted while the others are still being stored. Deliveries to failing endpoints are deferred.
   * @param endpoints read after the events, so that they include every endpoint enabled before an event
   * @param unstoredAt as in {@link StoredDeliveriesWithEndpoints}; -Infinity if some deliveries may be stored
   */
  private async planDeliveriesOfEvents(
    events: readonly EventForDeliveryRecording[],
    endpoints: EndpointsByScope,
    unstoredAt: number,
  ): Promise<DeliveryRecordingPlan> {
    const { matches, payloads } = this.createDeliveriesAndPayloads(events, endpoints);
    // A delivery without a stored payload is new, unless a crash left it: both are stored at the same time.
    const knownPayloads = await this.dependencies.payloads.findStoredPayloadIds([...payloads.keys()]);
    const doubtful = matches.filter(
      ({ delivery }) => unstoredAt === -Infinity || knownPayloads.has(delivery.payload_id),
    );
    const known = await this.dependencies.deliveries.getMany(
      doubtful.map(({ delivery }) => delivery.id),
      toDeliveryShardValuesOfScopes(...doubtful.map(({ delivery }) => delivery)),
    );
    const knownIds = new Set(known.map(({ id }) => id));
    const fresh = matches.filter(({ delivery }) => !knownIds.has(delivery.id));
    for (const id of knownPayloads) payloads.delete(id);
    const { first = [], rest = [], deferred = [] } = await this.groupMatchedEndpointsByUrgency(fresh);
    this.recordedLate.add(rest.length);
    const writes = [...splitIntoWriteBatches(first), ...splitIntoWriteBatches(rest)];
    return {
      batches: [...splitMatchesIntoRecordingBatches(writes, payloads, doubtful.length === 0 ? unstoredAt : -Infinity)],
      deferred: deferred.map(({ delivery }) => delivery),
      deferredPayloads: [...payloads.values()],
      recordedBefore: [...new Set(known.filter(isWaitingForAttempt).map(({ endpoint_id }) => endpoint_id))],
    };
  }

  private async groupMatchedEndpointsByUrgency(matches: readonly Match[]): Promise<Partial<Record<Urgency, Match[]>>> {
    const groups = Object.groupBy(matches, ({ endpoint }) => this.chooseRecordingUrgencyByEndpointHealth(endpoint));
    const { first = [], rest = [], deferred = [] } = groups;
    // Defer only if some endpoint keeps up. Otherwise deferring would speed up no delivery.
    if (deferred.length === 0 || (first.length > 0 && (await this.dependencies.deferred.canDeferMoreDeliveries())))
      return groups;
    return { first, rest: [...rest, ...deferred] };
  }

  private chooseRecordingUrgencyByEndpointHealth({ id }: EndpointDocument): Urgency {
    if (this.dependencies.owner.isEndpointKeepingUp(id)) return 'first';
    return this.dependencies.owner.isEndpointFailing(id) ? 'deferred' : 'rest';
  }

  private async recordMessages(messages: readonly ReceivedBrokerMessage[], mayBeRecorded: boolean): Promise<void> {
    const { parking, versions } = this.dependencies;
    await this.recordDeliveriesOfEvents(await parking.parseEventsOfMessages(messages, versions), mayBeRecorded);
  }

  private async storeDeliveriesAndPayloads(batches: readonly DeliveryBatchToWrite[]): Promise<void> {
    const { payloads, insertion, owner } = this.dependencies;
    for (const batch of batches) {
      await Promise.all([payloads.storePayloads(batch.payloads), insertion.insertDeliveries(batch.matches)]);
      for (const { id, body } of batch.payloads) payloads.cachePayloadBody(id, body);
      await owner.handOverDeliveries(batch);
    }
  }

  /**
   * Returns the events that are not older than the retention watermark. Half of the retention exceeds any difference
   * between clocks.
   */
  private async filterRetainedEvents(
    events: readonly EventForDeliveryRecording[],
  ): Promise<readonly EventForDeliveryRecording[]> {
    const youngSince = this.dependencies.clock().getTime() - this.dependencies.retentionMs / 2;
    if (events.every(({ created_at }) => Date.parse(created_at) >= youngSince)) return events;
    const before = await this.dependencies.watermark.readRetentionWatermark();
    const { retained = [], tooOld = [] } = Object.groupBy(events, ({ created_at }) =>
      created_at >= before ? 'retained' : 'tooOld',
    );
    const [first] = tooOld;
    if (first !== undefined) {
      const trace = toTraceLogFields({ ...first, event_id: first.id });
      const about = { events: tooOld.length, before, first: first.id, ...trace };
      this.dependencies.logger.warn(about, 'webhooks: events from before the retention watermark were not recorded');
    }
    return retained;
  }

  private createDeliveriesAndPayloads(events: readonly EventForDeliveryRecording[], endpoints: EndpointsByScope) {
    const matches: Match[] = [];
    const payloads = new Map<string, PayloadDocument>();
    const { clock, versions } = this.dependencies;
    const at = clock().toISOString();
    for (const event of events) {
      const about = createDeliveryFieldsFromEvent(event);
      for (const endpoint of endpoints.get(createWorkspaceEnvironmentKey(event)) ?? []) {
        if (endpoint.id === event.about_endpoint || !doesEndpointReceiveEvent(endpoint, event)) continue;
        const format = computePayloadFormat(event, endpoint, versions);
        const id = createPayloadId(event.id, format);
        if (!payloads.has(id)) {
          payloads.set(id, { id, body: renderDeliveryBody(event, format, false, versions), created_at: at });
        }
        matches.push({ endpoint, delivery: createDeliveryDocument(about, endpoint.id, id, at) });
      }
    }
    return { matches, payloads };
  }

  private async readEndpointsOfEventScopes(events: readonly EventForDeliveryRecording[]): Promise<EndpointsByScope> {
    const scopes = new Map<string, WorkspaceScope>(
      events.map((event) => [createWorkspaceEnvironmentKey(event), event]),
    );
    const found = [...scopes].map(
      async ([key, scope]) => [key, await this.dependencies.endpoints.listEndpointsOfScope(scope)] as const,
    );
    return new Map(await Promise.all(found));
  }
}

/**
 * @param payloads bodies that are not stored. A body is written with its first delivery; bodies without a delivery stay
 *   in the map
 */
function* splitMatchesIntoRecordingBatches(
  matches: Iterable<readonly Match[]>,
  payloads: Map<string, PayloadDocument>,
  unstoredAt: number,
): Iterable<DeliveryBatchToWrite> {
  for (const some of matches) {
    const needed = [...new Set(some.map(({ delivery }) => delivery.payload_id))];
    const bodies = needed.map((id) => payloads.get(id)).filter((one) => one !== undefined);
    yield { matches: some, payloads: bodies, unstoredAt };
    for (const id of needed) payloads.delete(id);
  }
}

function* splitIntoWriteBatches<T>(all: readonly T[]): Iterable<readonly T[]> {
  for (let at = 0; at < all.length; at += DELIVERIES_PER_WRITE) yield all.slice(at, at + DELIVERIES_PER_WRITE);
}

function createWorkspaceEnvironmentKey({ workspace_id, environment }: WorkspaceScope): string {
  return `${workspace_id} ${environment}`;
}

function createDeliveryFieldsFromEvent(event: EventForDeliveryRecording): EventFields {
  const { workspace_id, environment, id, type, created_at, origin } = event;
  const about = { workspace_id, environment, event_id: id, event_type: type, event_created_at: created_at };
  return origin === undefined ? about : { ...about, origin };
}

/**
 * Measures how many published events are not recorded yet, as reported by the broker. The measurement also works while
 * no process records events.
 */
export class ConsumerLagMeter {
  private timer: NodeJS.Timeout | undefined;
  private measuring: Promise<void> | undefined;
  private readonly gauge;

  constructor(
    private readonly broker: Pick<MessageBroker, 'readConsumerLag'>,
    metrics: Metrics,
    private readonly countRetry: CountRetry,
    private readonly everyMs: number,
  ) {
    this.gauge = metrics.createGauge('webhook_events_waiting', 'Published events that no process has recorded yet');
  }

  startMeasuringLag(): void {
    this.measureLag();
    this.timer = setInterval(() => this.measureLag(), this.everyMs).unref();
  }

  stopMeasuringLag(): void {
    clearInterval(this.timer);
  }

  private measureLag(): void {
    this.measuring ??= this.broker
      .readConsumerLag(SHIPMENT_EVENTS_TOPIC.name, CONSUMER_GROUP)
      .then((count) => this.gauge.set(count))
      .catch(() => this.countRetry('measuring how many events wait'))
      .finally(() => (this.measuring = undefined));
  }
}

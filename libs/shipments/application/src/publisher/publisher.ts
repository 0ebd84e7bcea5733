import { setTimeout as pause } from 'node:timers/promises';
import { type PublicAddresses, SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import {
  type Clock,
  type CollectionSpec,
  type Counter,
  type CountRetry,
  type DocumentStore,
  type EventStore,
  type Histogram,
  type LeaseSource,
  type Logger,
  type MessageBroker,
  type Metrics,
  createRetryCounter,
} from '@tracking/ports';
import { retry } from '@tracking/resilience';
import { SHIPMENT_STREAM_PREFIX } from '@tracking/shipments-domain';
import {
  CatchUpSubscription,
  CheckpointWriter,
  describeError,
  deleteEarlierGenerations,
  PARKED_STREAMS_COLLECTION_SPEC,
  type ParkedStream,
  ParkedStreams,
  createPartitionOfStreamPrefixes,
  PartitionedSubscription,
  type RetryOutcome,
  type SubscriptionMetrics,
} from '@tracking/subscriptions';
import { PartitionEventPublisher, EventPublicationGate, type ReadModelsContain } from './publishing.ts';

export interface PublisherOptions {
  readonly eventStore: EventStore;
  readonly documentStore: DocumentStore;
  /** Broker with the topic {@link SHIPMENT_EVENTS_TOPIC}. */
  readonly broker: MessageBroker;
  readonly leases: LeaseSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly readModelsContain: ReadModelsContain;
  /** Base addresses of links in events. */
  readonly addresses: PublicAddresses;
  /**
   * Number of partitions until an operator requests another number, equal in every process: one of
   * `ALLOWED_PARTITION_COUNTS`. By default, there is one partition, and operators cannot change the number.
   */
  readonly partitions?: number;
  /** Milliseconds between reads of the number of partitions; 1,000 by default. */
  readonly partitionPollMs?: number;
  /** Milliseconds to wait for read models without progress; 30,000 by default. */
  readonly patienceMs?: number;
  /** Milliseconds between two writes of the checkpoint; 0 by default, and ignored with partitions. */
  readonly checkpointIntervalMs?: number;
  /** Milliseconds to wait for more events while events arrive quickly; 0 by default. */
  readonly batchingDelayMs?: number;
  /** Number of shipments of ordinary size kept in memory, over all partitions; 10,000 by default. */
  readonly cachedShipments?: number;
  /** Milliseconds between two checks that the broker still has all published events; 10,000 by default. */
  readonly logCheckIntervalMs?: number;
}

/** Name under which checkpoints, leases and partitions of the publisher are stored. */
export const PUBLISHER_SUBSCRIBER_NAME = 'publisher';

/**
 * Publishes every announced event to the topic at least once, in the order of each shipment, always with the same
 * bytes. It waits until the read models contain an event, so that a consumer of the event can read its data. While a
 * storage engine does not respond, it waits and retries. If an event cannot be published, its shipment is parked and
 * all other shipments continue.
 */
export class ShipmentEventPublisher {
  private readonly observed: PublisherMetrics;
  private readonly log: PublishedLogSizeStore;
  private readonly parkedStreams: ParkedStreams;
  private readonly stopping = new AbortController();
  private subscription: CatchUpSubscription | PartitionedSubscription | undefined;

  private constructor(private readonly options: PublisherOptions) {
    const { broker, documentStore, metrics } = options;
    this.observed = new PublisherMetrics(metrics);
    this.log = new PublishedLogSizeStore(documentStore, broker, SHIPMENT_EVENTS_TOPIC.name);
    this.parkedStreams = new ParkedStreams(documentStore, () => this.subscription?.retryRequestedParkedStreams());
    const startedAt = performance.now();
    metrics.createGauge(
      'publisher_lag_seconds',
      'Age of the oldest unpublished event in seconds, the same in every process.',
      [],
      () => {
        return (this.subscription?.computeLagMs() ?? performance.now() - startedAt) / 1_000;
      },
    );
    metrics.createGauge('publisher_parked_streams', 'Streams that wait because one of their events failed.', [], () => {
      return this.subscription?.countParkedStreams() ?? 0;
    });
  }

  /** Starts the publisher in the background. Engines that are not available yet are awaited. */
  static start(options: PublisherOptions): ShipmentEventPublisher {
    const publisher = new ShipmentEventPublisher(options);
    // The promise rejects only if the publisher was stopped before an engine was available.
    publisher.publishEventsOfEachLogGeneration().catch(() => undefined);
    return publisher;
  }

  /** Returns the streams that are parked because one of their events could not be published. @throws UnavailableError */
  listParkedStreams(): Promise<readonly ParkedStream[]> {
    return this.parkedStreams.listParkedStreams(PUBLISHER_SUBSCRIBER_NAME);
  }

  /**
   * Retries a parked stream.
   * @param id id of a stream returned by {@link listParkedStreams}
   * @throws UnavailableError
   */
  retryParkedStream(id: string): Promise<RetryOutcome> {
    return this.parkedStreams.retry(id);
  }

  /**
   * Finishes the current batch, writes the checkpoints and releases the leases. Stop the publisher before the read
   * models.
   */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.subscription?.stop();
  }

  /** Publishes in one generation after another. A new generation is rare. */
  private async publishEventsOfEachLogGeneration(): Promise<void> {
    const { signal } = this.stopping;
    const wait = <T>(action: () => Promise<T>) => retry(action, { signal, onFailure: this.failed });
    for (let generation = await wait(() => this.log.readPublishedGeneration()); !signal.aborted;) {
      // Parked streams of earlier generations are deleted, because no process retries them.
      await wait(() =>
        deleteEarlierGenerations(
          this.options.documentStore,
          PARKED_STREAMS_COLLECTION_SPEC,
          PUBLISHER_SUBSCRIBER_NAME,
          generation,
        ),
      );
      if (signal.aborted) return;
      this.subscription = this.createSubscription(generation);
      this.subscription.start();
      generation = await this.waitUntilRepublishingNeeded(generation);
      await this.subscription.stop();
    }
  }

  private createSubscription(generation: number): CatchUpSubscription | PartitionedSubscription {
    const { partitions: defaultPartitions, partitionPollMs } = this.options;
    const options = {
      ...this.options,
      subscriber: { name: PUBLISHER_SUBSCRIBER_NAME, generation },
      metrics: this.observed,
      createHandler: (lost: AbortSignal, partitions = 1) =>
        Promise.resolve(this.createPartitionEventPublisher(lost, partitions)),
    };
    const streamPrefix = SHIPMENT_STREAM_PREFIX;
    if (defaultPartitions === undefined)
      return new CatchUpSubscription({ ...options, partitions: [createPartitionOfStreamPrefixes([streamPrefix])] });
    const polling = partitionPollMs === undefined ? {} : { pollMs: partitionPollMs };
    const checkpointWriter = new CheckpointWriter(options.documentStore);
    return new PartitionedSubscription({ ...options, ...polling, checkpointWriter, streamPrefix, defaultPartitions });
  }

  private createPartitionEventPublisher(lost: AbortSignal, partitions: number): PartitionEventPublisher {
    const { broker, eventStore, addresses, logger, readModelsContain } = this.options;
    const { patienceMs = 30_000, cachedShipments = 10_000 } = this.options;
    return new PartitionEventPublisher({
      eventStore,
      broker,
      topic: SHIPMENT_EVENTS_TOPIC.name,
      readModels: new EventPublicationGate(readModelsContain, patienceMs, this.observed.ahead, logger),
      addresses,
      cachedShipments: Math.ceil(cachedShipments / partitions),
      published: this.observed.published,
      lost,
    });
  }

  /**
   * Resolves with the next generation when everything must be published again. Resolves with the same generation when
   * this process stops.
   */
  private async waitUntilRepublishingNeeded(generation: number): Promise<number> {
    const { logger, logCheckIntervalMs = 10_000 } = this.options;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        const next = await this.log.determinePublishingGeneration();
        if (next !== generation) {
          logger.error({ generation: next }, 'the broker has lost published events; all events are published again');
          return next;
        }
      } catch (error) {
        this.observed.recordFailure();
        logger.debug(
          { error: describeError(error) },
          'the published log could not be checked; the check will be repeated',
        );
      }
      await pause(logCheckIntervalMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
    return generation;
  }

  private readonly failed = (error: unknown): void => {
    this.observed.recordFailure();
    this.options.logger.warn({ error: describeError(error) }, 'the publisher waits and then retries');
  };
}

class PublisherMetrics implements SubscriptionMetrics {
  /** Number of published events, by `type`. */
  readonly published: Counter;
  readonly ahead: Counter;
  private readonly batch: Histogram;
  private readonly countRetry: CountRetry;

  constructor(metrics: Metrics) {
    this.published = metrics.createCounter('publisher_events_published_total', 'Events that the broker has accepted.', [
      'type',
    ]);
    this.ahead = metrics.createCounter(
      'publisher_ahead_of_read_models_total',
      'Events published before the read models contained them, after waiting too long.',
    );
    this.batch = metrics.createHistogram(
      'publisher_batch_seconds',
      'Seconds from receiving a batch of stored events to their publication.',
    );
    this.countRetry = createRetryCounter(metrics);
  }

  observeBatchDuration(_events: number, seconds: number): void {
    this.batch.observe(seconds);
  }

  recordFailure(): void {
    this.countRetry('publishing');
  }
}

interface PublishedLogDocument {
  /** Name of the topic whose log the document describes. */
  readonly id: string;
  /** Generation of the publisher. A new generation publishes all events again. */
  readonly generation: number;
  /** Number of messages that the broker had accepted at the last check; see `MessageBroker.countPublishedMessages`. */
  readonly produced: readonly number[];
}

/** The collection is derived like the checkpoints, so that it is never newer than the checkpoints. */
const PUBLISHED_LOG_COLLECTION_SPEC: CollectionSpec = { name: 'published_log', indexes: [], durability: 'derived' };

/** Stores the last known size of the broker's log. A shorter log has lost published events. */
class PublishedLogSizeStore {
  constructor(
    private readonly store: DocumentStore,
    private readonly broker: MessageBroker,
    private readonly topic: string,
  ) {}

  /** Returns the generation in which the publisher publishes. @throws UnavailableError */
  async readPublishedGeneration(): Promise<number> {
    return (await this.readPublishedLogSizeDocument()).generation;
  }

  /**
   * Checks the broker's log and returns the generation in which to publish from now on. Has no effect if another
   * process made the same check concurrently, or if this process has stale data.
   * @throws UnavailableError
   */
  async determinePublishingGeneration(): Promise<number> {
    const before = await this.readPublishedLogSizeDocument();
    const produced = await this.broker.countPublishedMessages(this.topic);
    const isShorter = before.produced.some((count, at) => (produced[at] ?? 0) < count);
    if (!isShorter && String(produced) === String(before.produced)) return before.generation;
    const generation = before.generation + (isShorter ? 1 : 0);
    const isWritten = await (
      await this.openCollection()
    ).upsert({ id: this.topic, generation, produced }, { generation: before.generation });
    return isWritten ? generation : before.generation;
  }

  private async readPublishedLogSizeDocument(): Promise<PublishedLogDocument> {
    const documents = await this.openCollection();
    return (await documents.get(this.topic)) ?? { id: this.topic, generation: 1, produced: [] };
  }

  private openCollection() {
    return this.store.collection<PublishedLogDocument>(PUBLISHED_LOG_COLLECTION_SPEC);
  }
}

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
  type Leases,
  type Logger,
  type MessageBroker,
  type Metrics,
  retryCounter,
} from '@tracking/ports';
import { retry } from '@tracking/resilience';
import { SHIPMENT_STREAM_PREFIX } from '@tracking/shipments-domain';
import {
  CatchUpSubscription,
  describeError,
  deleteEarlierGenerations,
  PARKED,
  type ParkedStream,
  ParkedStreams,
  partition,
  type RetryOutcome,
  type SubscriptionMetrics,
} from '@tracking/subscriptions';
import { Publishing, ReadModelGate, type ReadModelsReached } from './publishing.ts';

export interface PublisherOptions {
  readonly eventStore: EventStore;
  readonly documentStore: DocumentStore;
  /** With the topic {@link SHIPMENT_EVENTS_TOPIC}. */
  readonly broker: MessageBroker;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly readModelsReached: ReadModelsReached;
  /** Links in events begin with these. */
  readonly addresses: PublicAddresses;
  /**
   * Stream prefixes of each partition, the same in every process; together all streams, none twice. One partition of all
   * shipments by default. Other prefixes publish everything anew.
   */
  readonly partitions?: readonly (readonly string[])[];
  /** For how long read models that stand still are waited for, in ms; 30 s by default. */
  readonly patienceMs?: number;
  /** From one write of the checkpoint to the next, in milliseconds; none by default. */
  readonly checkpointIntervalMs?: number;
  /** While events come in quickly, how long it lets more of them come, in milliseconds; none by default. */
  readonly gatherMs?: number;
  /** Ordinary shipments kept in memory, over all partitions; 10,000 by default. */
  readonly cachedShipments?: number;
  /** How often it is looked whether the broker still has what it was given, in ms; 10 s by default. */
  readonly logCheckIntervalMs?: number;
}

const SUBSCRIBER_NAME = 'publisher';

/**
 * Tells the topic of every announced event, at least once and in the order of each shipment, as the same bytes however
 * often. Behind the read models: whoever is told can read it. Engines that do not answer are waited for; an event that
 * cannot be published parks its shipment, and all others go on.
 */
export class Publisher {
  private readonly observed: PublisherMetrics;
  private readonly log: PublishedLog;
  private readonly parkedStreams: ParkedStreams;
  private readonly stopping = new AbortController();
  private subscription: CatchUpSubscription | undefined;

  private constructor(private readonly options: PublisherOptions) {
    const { broker, documentStore, metrics } = options;
    this.observed = new PublisherMetrics(metrics);
    this.log = new PublishedLog(documentStore, broker, SHIPMENT_EVENTS_TOPIC.name);
    this.parkedStreams = new ParkedStreams(documentStore, () => this.subscription?.retryParked());
    const startedAt = performance.now();
    metrics.gauge(
      'publisher_lag_seconds',
      'How long the oldest unpublished event has waited, whoever publishes.',
      [],
      () => {
        return (this.subscription?.lagMs() ?? performance.now() - startedAt) / 1_000;
      },
    );
    metrics.gauge('publisher_parked_streams', 'Streams parked behind an event that failed.', [], () => {
      return this.subscription?.parkedCount() ?? 0;
    });
  }

  /** Begins behind the caller: engines that are not up yet are waited for. */
  static start(options: PublisherOptions): Publisher {
    const publisher = new Publisher(options);
    // Rejects only where it was stopped before an engine was there.
    publisher.run().catch(() => undefined);
    return publisher;
  }

  /** Streams that wait behind an event that could not be published. @throws Unavailable */
  parked(): Promise<readonly ParkedStream[]> {
    return this.parkedStreams.list(SUBSCRIBER_NAME);
  }

  /** @param id of one of `parked()` @throws Unavailable */
  retryParked(id: string): Promise<RetryOutcome> {
    return this.parkedStreams.retry(id);
  }

  /** Finishes the batch in hand, writes the checkpoints, hands the leases over. To be stopped before the read models. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.subscription?.stop();
  }

  /** One generation after the other; it is hardly ever more than one. */
  private async run(): Promise<void> {
    const { signal } = this.stopping;
    const wait = <T>(action: () => Promise<T>) => retry(action, { signal, onFailure: this.failed });
    for (let generation = await wait(() => this.log.generation()); !signal.aborted;) {
      // What waits in earlier generations waits in vain.
      await wait(() => deleteEarlierGenerations(this.options.documentStore, PARKED, SUBSCRIBER_NAME, generation));
      if (signal.aborted) return;
      this.subscription = this.subscribe(generation);
      this.subscription.start();
      generation = await this.nextGeneration(generation);
      await this.subscription.stop();
    }
  }

  private subscribe(generation: number): CatchUpSubscription {
    const { broker, eventStore, addresses, logger } = this.options;
    const { patienceMs = 30_000, cachedShipments = 10_000, partitions = [[SHIPMENT_STREAM_PREFIX]] } = this.options;
    return new CatchUpSubscription({
      ...this.options,
      subscriber: { name: SUBSCRIBER_NAME, generation },
      partitions: partitions.map(partition),
      metrics: this.observed,
      createHandler: (lost) =>
        Promise.resolve(
          new Publishing({
            eventStore,
            broker,
            topic: SHIPMENT_EVENTS_TOPIC.name,
            readModels: new ReadModelGate(this.options.readModelsReached, patienceMs, this.observed.ahead, logger),
            addresses,
            cachedShipments: Math.ceil(cachedShipments / partitions.length),
            published: this.observed.published,
            lost,
          }),
        ),
    });
  }

  /** Resolves when another generation is to publish, or with the same one when this process stops. */
  private async nextGeneration(generation: number): Promise<number> {
    const { logger, logCheckIntervalMs = 10_000 } = this.options;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        const next = await this.log.checkLog();
        if (next !== generation) {
          logger.error({ generation: next }, 'the broker has lost what was published: all of it is published again');
          return next;
        }
      } catch (error) {
        this.observed.recordFailure();
        logger.debug({ error: describeError(error) }, 'the published log is looked at later');
      }
      await pause(logCheckIntervalMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
    return generation;
  }

  private readonly failed = (error: unknown): void => {
    this.observed.recordFailure();
    this.options.logger.warn({ error: describeError(error) }, 'the publisher waits, then tries again');
  };
}

class PublisherMetrics implements SubscriptionMetrics {
  /** By `type`. */
  readonly published: Counter;
  readonly ahead: Counter;
  private readonly batch: Histogram;
  private readonly countRetry: CountRetry;

  constructor(metrics: Metrics) {
    this.published = metrics.counter('publisher_events_published_total', 'Events that the broker has.', ['type']);
    this.ahead = metrics.counter(
      'publisher_ahead_of_read_models_total',
      'Events published although the read models, behind for too long, did not show them yet.',
    );
    this.batch = metrics.histogram('publisher_batch_seconds', 'From stored events in hand to their publication.');
    this.countRetry = retryCounter(metrics);
  }

  recordBatch(_events: number, seconds: number): void {
    this.batch.observe(seconds);
  }

  recordFailure(): void {
    this.countRetry('publishing');
  }
}

interface PublishedLogDocument {
  /** The topic. */
  readonly id: string;
  /** Of the publisher: another one publishes everything again, from the first event. */
  readonly generation: number;
  /** What the broker was last seen to have been given, see `MessageBroker.produced`. */
  readonly produced: readonly number[];
}

/** Derived, as the checkpoints beside it are: never newer than they. */
const PUBLISHED_LOG: CollectionSpec = { name: 'published_log', indexes: [], durability: 'derived' };

/** What the publisher remembers of the broker's log: one that is shorter has lost what was published, or all of it. */
class PublishedLog {
  constructor(
    private readonly store: DocumentStore,
    private readonly broker: MessageBroker,
    private readonly topic: string,
  ) {}

  /** The generation to publish in. @throws Unavailable */
  async generation(): Promise<number> {
    return (await this.stored()).generation;
  }

  /**
   * Looks at the log: the generation to publish in from now on. Another process that found the same at the same time, or
   * one that knows less, changes nothing.
   * @throws Unavailable
   */
  async checkLog(): Promise<number> {
    const before = await this.stored();
    const produced = await this.broker.produced(this.topic);
    const isShorter = before.produced.some((count, at) => (produced[at] ?? 0) < count);
    if (!isShorter && String(produced) === String(before.produced)) return before.generation;
    const generation = before.generation + (isShorter ? 1 : 0);
    const isWritten = await (
      await this.documents()
    ).upsert({ id: this.topic, generation, produced }, { generation: before.generation });
    return isWritten ? generation : before.generation;
  }

  private async stored(): Promise<PublishedLogDocument> {
    const documents = await this.documents();
    return (await documents.get(this.topic)) ?? { id: this.topic, generation: 1, produced: [] };
  }

  private documents() {
    return this.store.collection<PublishedLogDocument>(PUBLISHED_LOG);
  }
}

import { SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import type {
  Clock,
  Counter,
  DocumentStore,
  EventStore,
  Histogram,
  Leases,
  Logger,
  MessageBroker,
  Metrics,
} from '@tracking/ports';
import {
  Parked,
  type ParkedStream,
  type RetryOutcome,
  Subscription,
  type SubscriptionMetrics,
  partition,
} from '@tracking/subscriptions';
import { Publishing } from './publishing.ts';
import { ReadModelsFirst, type ReadModelsReached } from './read-models-first.ts';

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
  /** Where the web application is, without a slash at the end; links to shipments begin with it. */
  readonly appUrl: string;
  /**
   * Stream prefixes of each partition, the same in every process; together all streams, none twice. One partition of all
   * shipments by default. Other prefixes publish everything anew.
   */
  readonly partitions?: readonly (readonly string[])[];
  /** For how long read models that stand still are waited for, in ms; 30 s by default. */
  readonly patienceMs?: number;
  /** Ordinary shipments kept in memory, over all partitions; 10,000 by default. */
  readonly cachedShipments?: number;
}

/** The next generation would publish everything again, from the first event: for a broker that lost its log. */
const SUBSCRIBER = { name: 'publisher', generation: 1 };

/**
 * Tells the topic of every announced event, at least once and in the order of each shipment, as the same bytes however
 * often. Behind the read models: whoever is told can read it. Engines that do not answer are waited for; an event that
 * cannot be published parks its shipment, and all others go on.
 */
export class Publisher {
  private readonly subscription: Subscription;
  private readonly parkedStreams: Parked;

  private constructor(options: PublisherOptions) {
    const { broker, eventStore, documentStore, metrics, logger, appUrl } = options;
    const { patienceMs = 30_000, cachedShipments = 10_000, partitions = [['shipment-']] } = options;
    const observed = new PublisherMetrics(metrics);
    this.subscription = new Subscription({
      ...options,
      subscriber: SUBSCRIBER,
      partitions: partitions.map(partition),
      metrics: observed,
      begin: (lost) =>
        Promise.resolve(
          new Publishing({
            eventStore,
            broker,
            topic: SHIPMENT_EVENTS_TOPIC.name,
            readModels: new ReadModelsFirst(options.readModelsReached, patienceMs, observed.ahead, logger),
            appUrl,
            cachedShipments: Math.ceil(cachedShipments / partitions.length),
            published: observed.published,
            lost,
          }),
        ),
    });
    this.parkedStreams = new Parked(documentStore, () => this.subscription.nudge());
    metrics.gauge('publisher_lag_seconds', 'Age of the oldest event known to wait for its publication.', [], () => {
      return this.subscription.lagMs() / 1_000;
    });
    metrics.gauge('publisher_parked_streams', 'Streams that wait behind an event that failed.', [], () => {
      return this.subscription.parkedCount();
    });
  }

  /** Begins behind the caller: engines that are not up yet are waited for. */
  static start(options: PublisherOptions): Publisher {
    const publisher = new Publisher(options);
    publisher.subscription.start();
    return publisher;
  }

  /** Streams that wait behind an event that could not be published. @throws Unavailable */
  parked(): Promise<readonly ParkedStream[]> {
    return this.parkedStreams.list(SUBSCRIBER.name);
  }

  /** @param id of one of `parked()` @throws Unavailable */
  retryParked(id: string): Promise<RetryOutcome> {
    return this.parkedStreams.retry(id);
  }

  /** Finishes the batch in hand, writes the checkpoints, hands the leases over. To be stopped before the read models. */
  stop(): Promise<void> {
    return this.subscription.stop();
  }
}

class PublisherMetrics implements SubscriptionMetrics {
  /** By `type`. */
  readonly published: Counter;
  readonly ahead: Counter;
  private readonly batch: Histogram;
  private readonly failures: Counter;

  constructor(metrics: Metrics) {
    this.published = metrics.counter('publisher_events_published_total', 'Events that the broker has.', ['type']);
    this.ahead = metrics.counter(
      'publisher_ahead_of_read_models_total',
      'Events published although the read models, behind for too long, did not show them yet.',
    );
    this.batch = metrics.histogram('publisher_batch_seconds', 'From stored events in hand to their publication.');
    this.failures = metrics.counter('publisher_failures_total', 'Attempts repeated because an engine failed.');
  }

  handled(_events: number, seconds: number): void {
    this.batch.observe(seconds);
  }

  failed(): void {
    this.failures.add();
  }
}

import { PAYLOAD_VERSION_CONVERTER, type PayloadVersionConverter, SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import {
  type Clock,
  type CollectionSpec,
  type DocumentStore,
  type EventStore,
  type LeaseSource,
  type Logger,
  type MessageBroker,
  type Metrics,
  type OutboundHttp,
  createRetryCounter,
} from '@tracking/ports';
import { waitForAbort } from '@tracking/resilience';
import type { Random } from '@tracking/webhooks-domain';
import { DeadLetterUseCases, DeliveryUseCases } from './api/deliveries.ts';
import { WebhookEndpointUseCases, EndpointTestEventSender } from './api/endpoints.ts';
import { Replays } from './api/replays.ts';
import { AttemptSender, EndpointFailureLog } from './attempts/attempt-sender.ts';
import { DeadLetterAnnouncer, DeadLetterMessageBuilder } from './attempts/dead-letter-announcer.ts';
import { DeliveryWorker } from './attempts/delivery-worker.ts';
import { AttemptDispatcher } from './attempts/dispatcher.ts';
import { EndpointEventRecorder, EndpointFailureReporter } from './attempts/endpoint-events.ts';
import { EndpointClients, GoneEndpointDisabler } from './endpoints/endpoint-clients.ts';
import {
  ENDPOINTS_COLLECTION_SPEC,
  ENDPOINT_HEALTH_COLLECTION_SPEC,
  type EndpointDocument,
  type EndpointHealthDocument,
} from './endpoints/endpoint-document.ts';
import { EndpointStore } from './endpoints/endpoint-store.ts';
import { SecretBox } from './endpoints/secrets.ts';
import { EngineOutageWorkRetrier } from './engine-retry.ts';
import { ExpiredDeliverySweeper } from './log-sweeper.ts';
import { OwnedEndpoints } from './ownership/owned-endpoints.ts';
import { type FindShardOwner, EndpointOwnerProcessNotifier } from './ownership/owner-messages.ts';
import { EndpointShardOwner } from './ownership/shard-owner.ts';
import { OwnerWakeUpStore, ShardLeases, WAKE_UPS_COLLECTION_SPEC, type WakeUpDocument } from './ownership/shards.ts';
import {
  DEFERRED_DELIVERIES_COLLECTION_SPEC,
  DeferredDeliveries,
  type DeferredDeliveriesDocument,
  DeliveryInserter,
} from './recording/deferred-deliveries.ts';
import {
  PARKED_MESSAGES_COLLECTION_SPEC,
  type ParkedMessageDocument,
  ParkedMessageUseCases,
  ParkedInvalidMessages,
} from './recording/parking-lot.ts';
import { ConsumerLagMeter, DeliveryRecordCreator } from './recording/recorder.ts';
import { DeletedEndpointBacklogDiscarder, DeadLetterDiscarder } from './replays/discard-jobs.ts';
import type { EventLog } from './replays/replay-source.ts';
import { REPLAYS_COLLECTION_SPEC, REPLAY_PROGRESS_COLLECTION_SPEC, ReplayStore } from './replays/replay-store.ts';
import type { ReplayDocument } from './replays/replay-store.ts';
import { ReplayRunner } from './replays/replay-runner.ts';
import { ReplaySender } from './replays/replay-sender.ts';
import { WallClockWithoutSteps } from './scheduling/steady-time.ts';
import type { EventLoopTime, SetTimer } from './scheduling/timing.ts';
import { CONSUMER_GROUP, DEFAULT_WEBHOOK_SETTINGS, type WebhookSettings } from './settings.ts';
import { HOURLY_STATS_COLLECTION_SPEC, HOUR_RECOUNTS_COLLECTION_SPEC } from './stats/hour-log.ts';
import { WebhookStatisticsReader, openEndpointStatistics } from './stats/statistics.ts';
import { DeadLetterCounter } from './store/dead-letter-counts.ts';
import {
  ATTEMPTS_COLLECTION_SPEC,
  type AttemptDocument,
  DELIVERIES_COLLECTION_SPEC,
  type DeliveryDocument,
  PAYLOADS_COLLECTION_SPEC,
  type PayloadDocument,
  PayloadStore,
  REPEATABLE_DELIVERIES_COLLECTION_SPEC,
} from './store/delivery-document.ts';
import {
  DeliveryQueries,
  RETENTION_WATERMARK_COLLECTION_SPEC,
  RetentionWatermarkStore,
  type RetentionWatermarkDocument,
} from './store/delivery-queries.ts';
import { DeliveryQueues } from './store/delivery-queues.ts';
import type { WebhookOperations } from './webhooks-api.ts';

export interface WebhooksDependencies {
  /** Event store with the events. Read for the head of its log when an endpoint is enabled or disabled. */
  readonly eventStore: Pick<EventStore, 'head'>;
  /** Log in which replays find missed events. */
  readonly eventLog: EventLog;
  readonly documentStore: DocumentStore;
  /** Message broker with the topics {@link SHIPMENT_EVENTS_TOPIC} and {@link WEBHOOK_BROKER_TOPICS}. */
  readonly broker: MessageBroker;
  /** Leases of the jobs. */
  readonly leases: LeaseSource;
  /** Leases of the shards; those of the jobs by default. */
  readonly shardLeases?: LeaseSource;
  /** Finds the owner of a shard among the other processes. By default, owners are reached by stored wake-ups only. */
  readonly findShardOwner?: FindShardOwner;
  readonly outbound: OutboundHttp;
  /** Key of 32 bytes that encrypts secrets at rest. */
  readonly secretsKey: Uint8Array;
  readonly clock: Clock;
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly settings: Partial<WebhookSettings> & Pick<WebhookSettings, 'addresses'>;
  /** Reads the event loop's time. Failing endpoints are attempted only in its spare time. */
  readonly loopTime?: () => EventLoopTime;
  /** Returns the milliseconds of a monotonic clock. The process's own clock by default. */
  readonly elapsed?: () => number;
  /** Sets timers of the retry schedule. System timers by default. */
  readonly setTimer?: SetTimer;
  /** Payload versions in which events are sent; the published versions by default. */
  readonly versions?: PayloadVersionConverter;
  /**
   * If true, this process only answers requests. It records and sends nothing, and another process does that work.
   * False by default.
   */
  readonly passive?: boolean;
}

/** The webhooks feature. Records, attempts and stores deliveries, and answers requests about them. */
export interface WebhooksFeature extends WebhookOperations {
  /**
   * Stops consuming events, lets attempts in progress end, stores their outcomes and releases the shards. Takes at most
   * `drainMs`; attempts whose outcome is not stored by then are repeated.
   */
  stop(): Promise<void>;
}

/** Collections of webhooks that have indexes. */
export const INDEXED_WEBHOOK_COLLECTIONS: readonly CollectionSpec[] = [
  ENDPOINTS_COLLECTION_SPEC,
  DELIVERIES_COLLECTION_SPEC,
  REPLAYS_COLLECTION_SPEC,
  WAKE_UPS_COLLECTION_SPEC,
  PARKED_MESSAGES_COLLECTION_SPEC,
  HOURLY_STATS_COLLECTION_SPEC,
  HOUR_RECOUNTS_COLLECTION_SPEC,
];

async function openWebhookCollections(store: DocumentStore) {
  const [endpoints, health, deliveries, repeatable, attempts, payloads] = await Promise.all([
    store.collection<EndpointDocument>(ENDPOINTS_COLLECTION_SPEC),
    store.collection<EndpointHealthDocument>(ENDPOINT_HEALTH_COLLECTION_SPEC),
    store.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC),
    store.collection<DeliveryDocument>(REPEATABLE_DELIVERIES_COLLECTION_SPEC),
    store.collection<AttemptDocument>(ATTEMPTS_COLLECTION_SPEC),
    store.collection<PayloadDocument>(PAYLOADS_COLLECTION_SPEC),
  ]);
  const [replays, progress, watermark, wakeUps, parked, deferred] = await Promise.all([
    store.collection<ReplayDocument>(REPLAYS_COLLECTION_SPEC),
    store.collection<ReplayDocument>(REPLAY_PROGRESS_COLLECTION_SPEC),
    store.collection<RetentionWatermarkDocument>(RETENTION_WATERMARK_COLLECTION_SPEC),
    store.collection<WakeUpDocument>(WAKE_UPS_COLLECTION_SPEC),
    store.collection<ParkedMessageDocument>(PARKED_MESSAGES_COLLECTION_SPEC),
    store.collection<DeferredDeliveriesDocument>(DEFERRED_DELIVERIES_COLLECTION_SPEC),
  ]);
  return {
    ...{ endpoints, health, deliveries, repeatable, attempts, payloads },
    ...{ replays, progress, watermark, wakeUps, parked, deferred },
  };
}

/** Creates all objects of the feature. Each object gets earlier objects as constructor arguments. */
async function startWebhooks(dependencies: WebhooksDependencies): Promise<WebhooksFeature> {
  const { eventStore, eventLog: log, documentStore, broker, outbound, random } = dependencies;
  const { clock, leases, logger, metrics } = dependencies;
  const { versions = PAYLOAD_VERSION_CONVERTER, passive = false } = dependencies;
  const settings: WebhookSettings = { ...DEFAULT_WEBHOOK_SETTINGS, ...dependencies.settings };
  const { addresses, freshnessMs, maxInFlight, policy, pollMs, timeoutMs } = settings;
  const countRetry = createRetryCounter(metrics);
  const platform = { clock, leases, logger, metrics, countRetry };
  const time = new WallClockWithoutSteps(clock, dependencies.elapsed);
  const ended = new AbortController();
  const engines = new EngineOutageWorkRetrier(logger, ended.signal, countRetry, settings.enginePauses);

  const stored = await openWebhookCollections(documentStore);
  const { deliveries, repeatable, attempts } = stored;
  const queries = new DeliveryQueries(deliveries, attempts, stored.payloads);
  const queues = new DeliveryQueues(deliveries);
  const payloads = new PayloadStore(stored.payloads, settings.payloadCacheBytes);
  const watermark = new RetentionWatermarkStore(stored.watermark);

  const box = new SecretBox(dependencies.secretsKey);
  const store = new EndpointStore(stored.endpoints);
  const clients = new EndpointClients(store, box, freshnessMs);
  const gone = new GoneEndpointDisabler({ store, clients, eventStore, clock, logger });

  const shards = new ShardLeases({ ...platform, leases: dependencies.shardLeases ?? leases });
  const { statsWriteMs: writeMs, statsIdleMs: idleMs, statsSettleMs: settleMs } = settings;
  const counting = {
    ...platform,
    deliveries,
    attempts,
    watermark,
    endpoints: store,
    shards,
    writeMs,
    idleMs,
    settleMs,
  };
  const stats = await openEndpointStatistics({ ...counting, store: documentStore });
  const { recounts } = stats;

  const wakeUps = new OwnerWakeUpStore(stored.wakeUps);
  const replays = new ReplayStore(stored.replays, stored.progress);
  const resending = new ReplaySender({ queries, deliveries: repeatable, recounts, payloads, versions, log, clock });
  const replaySource = { queries, log, watermark };
  const replaying = new ReplayRunner({ ...replaySource, store: replays, resending, clock, time });
  const discarding = new DeadLetterDiscarder({
    ...{ ...platform, ...replaySource, store: replays, deliveries: repeatable, endpoints: store, recounts, wakeUps },
  });
  const backlogs = new DeletedEndpointBacklogDiscarder({ ...platform, endpoints: store, queues, replays, wakeUps });

  const { health } = stored;
  const endpoints = new OwnedEndpoints({ ...settings, queues, health, engines, random, time });
  const { findShardOwner = () => undefined } = dependencies;
  const messagesToOwners = new EndpointOwnerProcessNotifier(findShardOwner, wakeUps, payloads, metrics);
  const owner = new EndpointShardOwner({
    ...{ ...platform, shards, endpoints, queues, backlogs, wakeUps, replays, replaying, clients, payloads },
    ...{ messages: messagesToOwners, stats: stats.keeper, pollMs, jobs: [discarding.job, backlogs.job] },
  });

  const parking = new ParkedInvalidMessages({ ...platform, documents: stored.parked, broker });
  const insertion = new DeliveryInserter(repeatable, metrics);
  const recording = { ...platform, endpoints: store, insertion, owner };
  const deferred = new DeferredDeliveries({ ...recording, documents: stored.deferred });
  const recorder = new DeliveryRecordCreator({
    ...{ ...recording, payloads, versions, deliveries: repeatable, deferred, parking, watermark },
    retentionMs: Math.min(settings.retention.deliveriesMs, settings.retention.deadLettersMs),
  });
  const lag = new ConsumerLagMeter(broker, metrics, countRetry, settings.lagPollMs);

  const events = new EndpointEventRecorder(store, recorder);
  const messages = new DeadLetterMessageBuilder({ endpoints: store, attempts, payloads: stored.payloads, addresses });
  const announcer = new DeadLetterAnnouncer({ ...platform, deliveries, broker, messages, events });
  const reporter = new EndpointFailureReporter({ endpoints, events, time, afterMs: settings.failingAfterMs });
  const sender = new AttemptSender({ ...platform, time, outbound, timeoutMs });
  const failures = new EndpointFailureLog(logger);
  const worker = new DeliveryWorker({
    ...{ deliveries, repeatable, attempts, payloads, clients, endpoints, sender, failures, announcer, recounts },
    ...{ stats: stats.keeper, engines, policy, random, time, freshnessMs },
  });
  const { loopTime, setTimer } = dependencies;
  const dispatcher = new AttemptDispatcher({
    ...{ endpoints, worker, reporter, replaying, gone, backlogs, engines, time, logger },
    ...{ maxInFlight, loopTime, setTimer },
  });

  const sandbox = new EndpointTestEventSender({ payloads, versions, deliveries, owner, addresses });
  const { retention, sweepMs: everyMs } = settings;
  const sweeping = { deliveries, attempts, payloads: stored.payloads, replays, statistics: stats, endpoints: store };
  const sweeper = new ExpiredDeliverySweeper({ ...platform, ...sweeping, health, watermark, retention, everyMs });

  metrics.createGauge('webhook_attempts_in_flight', 'Requests in progress', [], () => dispatcher.inFlight);
  metrics.createGauge(
    'webhook_outcomes_unstored',
    'Attempts whose outcome is not stored yet',
    [],
    () => dispatcher.unstoredCount,
  );
  metrics.createGauge('webhook_payload_bytes_in_memory', 'Bytes of bodies held in memory', [], () => payloads.bytes);
  metrics.createGauge(
    'webhook_waiting_in_memory',
    'Pending deliveries held in memory',
    [],
    () => endpoints.waitingInMemory,
  );
  metrics.createGauge('webhook_shards_owned', 'Shards whose endpoints this process attempts', [], () => shards.count);

  const consuming = new AbortController();
  const { maxBatch } = settings;
  const consumption = { topic: SHIPMENT_EVENTS_TOPIC.name, group: CONSUMER_GROUP, maxBatch, signal: consuming.signal };
  let consumed: Promise<void> | undefined;
  const jobs = [announcer.job, sweeper.job, discarding.job, backlogs.job];
  if (!passive) {
    owner.startOwningShards();
    stats.keeper.startStatsRounds();
    for (const job of jobs) job.startJobRounds();
    deferred.job.startJobRounds();
    lag.startMeasuringLag();
    consumed = broker.consume(consumption, recorder.consume);
  }

  return {
    endpoints: new WebhookEndpointUseCases({
      ...{ store, box, clients, owner, sandbox, outbound, versions, eventStore, clock, timeoutMs },
    }),
    replays: new Replays({ store: replays, queries, endpoints: store, owner, eventStore, discarding }),
    deadLetters: new DeadLetterUseCases({
      ...{ counts: new DeadLetterCounter(deliveries), queries, replays, endpoints: store, owner, discarding },
    }),
    deliveries: new DeliveryUseCases({ documents: deliveries, queries, endpoints: store, owner, recounts }),
    stats: new WebhookStatisticsReader({ endpoints: store, queries: stats.queries, clock }),
    parked: new ParkedMessageUseCases(parking, versions, recorder),
    owners: owner,
    async stop() {
      consuming.abort();
      stats.keeper.stopStatsRounds();
      lag.stopMeasuringLag();
      const recorded = deferred.job.stopJobRounds();
      await consumed;
      const timer = setTimeout(() => ended.abort(), settings.drainMs);
      const drained = Promise.all([owner.stopAcquiringShards(), dispatcher.stopDispatching()]).then(() =>
        stats.keeper.writeOpenStatsHours(),
      );
      await Promise.race([drained, waitForAbort(ended.signal)]);
      clearTimeout(timer);
      ended.abort();
      await Promise.all([recorded, ...jobs.map((job) => job.stopJobRounds())]);
      await owner.releaseShards();
    },
  };
}

export const WebhooksFeature = { start: startWebhooks };

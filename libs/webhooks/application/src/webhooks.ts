import { PAYLOAD_VERSIONS, type PayloadVersions, SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import {
  type Clock,
  type DocumentStore,
  type EventStore,
  type Leases,
  type Logger,
  type MessageBroker,
  type Metrics,
  type OutboundHttp,
  retryCounter,
} from '@tracking/ports';
import type { Random } from '@tracking/webhooks-domain';
import { DeadLetters, Deliveries } from './api/deliveries.ts';
import { Endpoints, SandboxTests } from './api/endpoints.ts';
import { Replays } from './api/replays.ts';
import { ENDPOINT_HEALTH, type EndpointHealth } from './attempts/adaptive-concurrency.ts';
import { AttemptPreparation } from './attempts/attempt-preparation.ts';
import { AttemptSender } from './attempts/attempt-sender.ts';
import { DeadLetterAnnouncer } from './attempts/dead-letter-announcer.ts';
import { DeadLetterMessages } from './attempts/dead-letter-message.ts';
import type { SetTimer } from './attempts/delay-queue.ts';
import { Dispatcher, type MakeAttempt } from './attempts/dispatcher.ts';
import { EngineRetry } from './attempts/engine-retry.ts';
import { FailingAlarm, type TellFailing } from './attempts/failing-alarm.ts';
import { FailureLog } from './attempts/failure-log.ts';
import { OutcomeStore } from './attempts/outcome-store.ts';
import type { OwnedEndpoint } from './attempts/owned-endpoint.ts';
import { OwnedEndpoints } from './attempts/owned-endpoints.ts';
import { Replaying } from './attempts/replaying.ts';
import { ShardOwner } from './attempts/shard-owner.ts';
import type { LoopTime } from './attempts/spare-time.ts';
import { DeliveryWorker } from './delivery-worker.ts';
import { EndpointClients } from './endpoints/endpoint-clients.ts';
import { ENDPOINTS, type EndpointDocument } from './endpoints/endpoint-document.ts';
import { EndpointStore, disableGone } from './endpoints/endpoint-store.ts';
import { SecretBox } from './endpoints/secrets.ts';
import { LogSweeper } from './log-sweeper.ts';
import { EndpointEvents } from './recording/endpoint-events.ts';
import { LATE_RECORDS, type LateDocument, LateRecords, type LateRecordsParts } from './recording/late-records.ts';
import { PARKED, type ParkedDocument, ParkedMessageCases, Parking } from './recording/parking.ts';
import { ConsumerLag, Recorder } from './recording/recorder.ts';
import { BacklogDiscarding, Discarding } from './replays/discarding.ts';
import type { EventLog } from './replays/replay-source.ts';
import { REPLAYS, REPLAY_PROGRESS, type ReplayDocument, ReplayStore } from './replays/replay-store.ts';
import { Resending } from './replays/resending.ts';
import { CONSUMER_GROUP, DEFAULT_SETTINGS, type WebhookSettings } from './settings.ts';
import { Statistics, openStatistics } from './stats/statistics.ts';
import { DeadLetterCounts } from './store/dead-letter-counts.ts';
import {
  ATTEMPTS,
  type AttemptDocument,
  DELIVERIES,
  type DeliveryDocument,
  PAYLOADS,
  type PayloadDocument,
  Payloads,
  REPEATABLE_DELIVERIES,
} from './store/delivery-document.ts';
import {
  DeliveryQueries,
  RETENTION_WATERMARK,
  RetentionWatermark,
  type WatermarkDocument,
} from './store/delivery-queries.ts';
import { DeliveryQueues } from './store/delivery-queues.ts';
import { OwnerWakeUps, WAKE_UPS, type WakeUpDocument } from './store/owner-wake-ups.ts';
import type { WebhookOperations } from './webhooks-api.ts';

export interface WebhooksDependencies {
  /** Where the events come from: how far its log has come when an endpoint is enabled or disabled. */
  readonly eventStore: Pick<EventStore, 'head'>;
  /** Where replays find what was missed. */
  readonly eventLog: EventLog;
  readonly documentStore: DocumentStore;
  /** With the topics {@link SHIPMENT_EVENTS_TOPIC} and {@link WEBHOOK_TOPICS}. */
  readonly broker: MessageBroker;
  readonly leases: Leases;
  readonly outbound: OutboundHttp;
  /** 32 bytes, under which secrets are encrypted at rest. */
  readonly secretsKey: Uint8Array;
  readonly clock: Clock;
  /** From 0 to just under 1. */
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly settings: Partial<WebhookSettings> & Pick<WebhookSettings, 'addresses'>;
  /** How its thread has spent its time: attempts at endpoints that go on failing are made in what others leave. */
  readonly loopTime?: () => LoopTime;
  /** Timers of the retry schedule. System timers by default. */
  readonly setTimer?: SetTimer;
  /** In which events are sent; the published ones by default. */
  readonly versions?: PayloadVersions;
  /** Takes in and sends nothing, and only answers: what is asked of it waits for a process that does. False by default. */
  readonly passive?: boolean;
}

/** Records, attempts and keeps deliveries, and answers what others ask. */
export interface Webhooks extends WebhookOperations {
  /**
   * Takes in nothing more, lets attempts under way end, stores their outcomes and hands its shards over. Bounded by
   * `drainMs`; what was not stored by then will be attempted again.
   */
  stop(): Promise<void>;
}

async function openCollections(store: DocumentStore) {
  const [endpoints, deliveries, repeatable, attempts, payloads] = await Promise.all([
    store.collection<EndpointDocument>(ENDPOINTS),
    store.collection<DeliveryDocument>(DELIVERIES),
    store.collection<DeliveryDocument>(REPEATABLE_DELIVERIES),
    store.collection<AttemptDocument>(ATTEMPTS),
    store.collection<PayloadDocument>(PAYLOADS),
  ]);
  const [replays, progress, watermark, health, wakeUps, parked, late] = await Promise.all([
    store.collection<ReplayDocument>(REPLAYS),
    store.collection<ReplayDocument>(REPLAY_PROGRESS),
    store.collection<WatermarkDocument>(RETENTION_WATERMARK),
    store.collection<EndpointHealth>(ENDPOINT_HEALTH),
    store.collection<WakeUpDocument>(WAKE_UPS),
    store.collection<ParkedDocument>(PARKED),
    store.collection<LateDocument>(LATE_RECORDS),
  ]);
  const logs = { deliveries, repeatable, attempts, payloads, replays, progress };
  return { ...logs, endpoints, watermark, health, wakeUps, parked, late };
}

async function start(dependencies: WebhooksDependencies): Promise<Webhooks> {
  const {
    eventStore,
    broker,
    leases,
    outbound,
    clock,
    random,
    logger,
    metrics,
    loopTime,
    setTimer,
    versions = PAYLOAD_VERSIONS,
    passive = false,
  } = dependencies;
  const settings: WebhookSettings = { ...DEFAULT_SETTINGS, ...dependencies.settings };
  const { timeoutMs, freshnessMs, maxInFlight, pollMs, policy, retention } = settings;
  const box = new SecretBox(dependencies.secretsKey);
  const { wakeUps: wakeUpDocuments, ...stored } = await openCollections(dependencies.documentStore);
  const { deliveries, repeatable, attempts } = stored;
  const countRetry = retryCounter(metrics);
  const ended = new AbortController();
  const engines = new EngineRetry(logger, ended.signal, countRetry, settings.enginePauses);

  const store = new EndpointStore(stored.endpoints);
  const clients = new EndpointClients(store, box, freshnessMs);
  const payloads = new Payloads(stored.payloads, settings.payloadCacheBytes);
  const queues = new DeliveryQueues(deliveries);
  const watermark = new RetentionWatermark(stored.watermark);
  const around = { clock, leases, logger, metrics };
  const { documentStore } = dependencies;
  const { statsWriteMs: writeMs, statsIdleMs: idleMs, statsSettleMs: settleMs } = settings;
  const counting = { ...around, deliveries, attempts, watermark, countRetry, writeMs, idleMs, settleMs };
  const stats = await openStatistics({ ...counting, store: documentStore, owned: () => owner.leases });
  const replays = new ReplayStore(stored.replays, stored.progress);
  const everyMs = settings.sweepMs;
  const sweeping = { watermark, retention, everyMs, statistics: stats, replays, endpoints: store };
  const sweeper = new LogSweeper({ ...around, ...stored, ...sweeping });
  const tellDeadLetters = (found: readonly DeliveryDocument[]): Promise<void> => told.deadLettered(found);
  const { addresses } = settings;
  const messages = new DeadLetterMessages({ endpoints: store, attempts, payloads: stored.payloads, addresses });
  const announcer = new DeadLetterAnnouncer({ ...around, deliveries, broker, messages, tell: tellDeadLetters });

  const queries = new DeliveryQueries(deliveries, attempts, stored.payloads);
  const counts = new DeadLetterCounts(deliveries);
  const { eventLog: log } = dependencies;
  const resending = new Resending({
    queries,
    deliveries: repeatable,
    recounts: stats.recounts,
    payloads,
    versions,
    log,
    clock,
  });
  const replaying = { store: replays, queries, resending, log, watermark, clock };
  const discarding = new Discarding({
    ...replaying,
    ...around,
    deliveries: repeatable,
    endpoints: store,
    recounts: stats.recounts,
  });
  const openReplay = async (owned: OwnedEndpoint) => {
    const running = await replays.runningFor(owned.id);
    return running && new Replaying(running, owned, replaying);
  };

  const endpoints = new OwnedEndpoints(queues, stored.health, settings, random);
  const attempt: MakeAttempt = (...given) => worker.attempt(...given);
  const tellFailing: TellFailing = (...given) => told.failing(...given);
  const alarm = new FailingAlarm({ endpoints, clock, afterMs: settings.failingAfterMs, tell: tellFailing });
  const disabling = { store, eventStore, clock, logger };
  const disable = async (gone: EndpointDocument) => clients.note(await disableGone(disabling, gone)).endpoint;
  const backlogs = new BacklogDiscarding({ ...around, endpoints: store, queues, replays });
  const served = { endpoints, backlogs, alarm, openReplay };
  const timing = { clock, loopTime, setTimer };
  const dispatcher = new Dispatcher({ ...served, ...timing, attempt, disable, maxInFlight, engines, logger });
  const wakeUps = new OwnerWakeUps(wakeUpDocuments);
  const owned = { ...served, queues, replays, leases, clients, dispatcher, logger, countRetry, pollMs };
  const owner = new ShardOwner({ ...owned, wakeUps });
  const parking = new Parking({ ...around, documents: stored.parked, broker });
  const record: LateRecordsParts['record'] = (deliveries) => recorder.store(deliveries);
  const notify: LateRecordsParts['notify'] = (endpointIds) => owner.notify(endpointIds);
  const late = new LateRecords({ ...around, documents: stored.late, endpoints: store, record, notify });
  const recording = { endpoints: store, payloads, deliveries: repeatable };
  const recorder = new Recorder({ ...around, ...recording, versions, owner, late, parking, watermark });
  const told = new EndpointEvents(store, recorder);
  const worker = new DeliveryWorker({
    preparation: new AttemptPreparation({ deliveries, clients, payloads, engines, clock, freshnessMs }),
    sender: new AttemptSender({ ...around, outbound, timeoutMs }),
    outcomes: new OutcomeStore({ deliveries: repeatable, attempts, recounts: stats.recounts, policy, random, engines }),
    stats: stats.keeper,
    endpoints,
    clients,
    failures: new FailureLog(logger),
    announcer,
    engines,
    clock,
  });
  const sandbox = new SandboxTests({ payloads, versions, deliveries, owner, addresses: settings.addresses });
  const lag = new ConsumerLag(broker, metrics, countRetry, settings.lagPollMs);

  metrics.gauge('webhook_attempts_in_flight', 'Requests under way', [], () => dispatcher.inFlight);
  metrics.gauge('webhook_outcomes_unstored', 'Outcomes that wait to be stored', [], () => dispatcher.unstored);
  metrics.gauge('webhook_payload_bytes_in_memory', 'Bodies held in memory', [], () => payloads.bytes);
  metrics.gauge('webhook_waiting_in_memory', 'Deliveries held for their attempt', [], () => endpoints.waitingInMemory);
  metrics.gauge('webhook_shards_owned', 'Shards of endpoints attempted here', [], () => owner.shardCount);

  const consuming = new AbortController();
  const { maxBatch } = settings;
  const consumption = { topic: SHIPMENT_EVENTS_TOPIC.name, group: CONSUMER_GROUP, maxBatch, signal: consuming.signal };
  let consumed: Promise<void> | undefined;
  if (!passive) {
    owner.start();
    stats.keeper.start();
    announcer.job.start();
    sweeper.job.start();
    discarding.job.start();
    backlogs.job.start();
    late.job.start();
    lag.start();
    consumed = broker.consume(consumption, recorder.consume);
  }

  return {
    endpoints: new Endpoints({ store, box, clients, owner, sandbox, outbound, versions, eventStore, clock, timeoutMs }),
    replays: new Replays({ store: replays, queries, endpoints: store, owner, eventStore, discarding }),
    deadLetters: new DeadLetters({ counts, queries, replays, endpoints: store, owner, discarding }),
    deliveries: new Deliveries({ documents: deliveries, queries, endpoints: store, owner, recounts: stats.recounts }),
    stats: new Statistics({ endpoints: store, queries: stats.queries, clock }),
    parked: new ParkedMessageCases(parking, versions, recorder.consume),
    async stop() {
      consuming.abort();
      stats.keeper.stop();
      lag.stop();
      const recorded = late.job.stop();
      await consumed;
      const timer = setTimeout(() => ended.abort(), settings.drainMs);
      await Promise.race([owner.stop().then(() => stats.keeper.finish()), aborted(ended.signal)]);
      clearTimeout(timer);
      ended.abort();
      await Promise.all([
        recorded,
        ...[announcer.job, sweeper.job, discarding.job, backlogs.job].map((job) => job.stop()),
      ]);
      await owner.release();
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

export const Webhooks = { start };

import { SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import { retryCounter } from '@tracking/ports';
import type {
  Clock,
  DocumentStore,
  EventStore,
  Leases,
  Logger,
  MessageBroker,
  Metrics,
  OutboundHttp,
} from '@tracking/ports';
import type { Random } from '@tracking/webhooks-domain';
import { AttemptRun } from './attempts/attempt-run.ts';
import { Attempts } from './attempts/attempts.ts';
import { Dispatcher } from './attempts/dispatcher.ts';
import { FailureLines } from './attempts/failure-lines.ts';
import { Lanes } from './attempts/lanes.ts';
import { NUDGES, type NudgeDocument, Nudges } from './attempts/nudges.ts';
import { Outcomes } from './attempts/outcomes.ts';
import { Owner } from './attempts/owner.ts';
import { Persistence } from './attempts/persistence.ts';
import { CONDITIONS, type EndpointCondition } from './attempts/pace.ts';
import { Queues } from './attempts/queues.ts';
import { BUNDLES, type BundleDocument, Bundles } from './deliveries/bundles.ts';
import { DeadLetterAnnouncer } from './deliveries/dead-letter-announcer.ts';
import { Deliveries } from './deliveries/deliveries.ts';
import {
  ATTEMPTS,
  type AttemptDocument,
  DELIVERIES,
  type DeliveryDocument,
  REPEATABLE_DELIVERIES,
} from './deliveries/delivery-document.ts';
import { DeliveryQueries } from './deliveries/delivery-queries.ts';
import { FORGOTTEN, Forgotten, type ForgottenDocument } from './deliveries/forgotten.ts';
import { LogSweeper } from './deliveries/log-sweeper.ts';
import { PAYLOADS, type PayloadDocument, Payloads } from './deliveries/payloads.ts';
import { disableGone } from './endpoints/disable-gone.ts';
import { ENDPOINTS, type EndpointDocument } from './endpoints/endpoint-document.ts';
import { EndpointStore } from './endpoints/endpoint-store.ts';
import { Endpoints } from './endpoints/endpoints.ts';
import { Receivers } from './endpoints/receivers.ts';
import { SandboxTests } from './endpoints/sandbox-tests.ts';
import { SecretBox } from './endpoints/secret-box.ts';
import { EventsWaiting } from './events-waiting.ts';
import { ParkedMessageCases } from './recording/parked-messages.ts';
import { PARKED, type ParkedDocument, Parking } from './recording/parked.ts';
import { Recorder } from './recording/recorder.ts';
import { DEFAULT_SETTINGS, type WebhookSettings } from './settings.ts';
import { CONSUMER_GROUP } from './topics.ts';
import type { WebhookOperations } from './webhooks-api.ts';

export interface WebhooksDependencies {
  /** Where the events come from: how far its log has come when an endpoint is enabled or disabled. */
  readonly eventStore: Pick<EventStore, 'head'>;
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
  readonly settings: Partial<WebhookSettings> & Pick<WebhookSettings, 'appUrl'>;
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
  const [endpoints, deliveries, repeatable, bundles, attempts, payloads] = await Promise.all([
    store.collection<EndpointDocument>(ENDPOINTS),
    store.collection<DeliveryDocument>(DELIVERIES),
    store.collection<DeliveryDocument>(REPEATABLE_DELIVERIES),
    store.collection<BundleDocument>(BUNDLES),
    store.collection<AttemptDocument>(ATTEMPTS),
    store.collection<PayloadDocument>(PAYLOADS),
  ]);
  const [forgotten, conditions, nudges, parked] = await Promise.all([
    store.collection<ForgottenDocument>(FORGOTTEN),
    store.collection<EndpointCondition>(CONDITIONS),
    store.collection<NudgeDocument>(NUDGES),
    store.collection<ParkedDocument>(PARKED),
  ]);
  return { endpoints, deliveries, repeatable, bundles, attempts, payloads, forgotten, conditions, nudges, parked };
}

async function start(dependencies: WebhooksDependencies): Promise<Webhooks> {
  const { eventStore, broker, leases, outbound, clock, random, logger, metrics, passive = false } = dependencies;
  const settings: WebhookSettings = { ...DEFAULT_SETTINGS, ...dependencies.settings };
  const box = new SecretBox(dependencies.secretsKey);
  const stored = await openCollections(dependencies.documentStore);

  const store = new EndpointStore(stored.endpoints);
  const receivers = new Receivers(store, box, settings.freshnessMs);
  const payloads = new Payloads(stored.payloads, settings.payloadCacheBytes);
  const bundles = new Bundles(stored.bundles, stored.repeatable);
  const queries = new DeliveryQueries(stored.deliveries, bundles, stored.attempts, stored.payloads);
  const announcer = new DeadLetterAnnouncer(stored.deliveries, broker, leases, clock, logger, metrics);
  const forgotten = new Forgotten(stored.forgotten);
  const { retention, sweepMs } = settings;
  const sweeper = new LogSweeper(stored, bundles, forgotten, retention, sweepMs, clock, leases, logger, metrics);

  const ended = new AbortController();
  const countRetry = retryCounter(metrics);
  const persistence = new Persistence(logger, ended.signal, countRetry);
  const queues = new Queues(stored.deliveries, bundles);
  const lanes = new Lanes(queues, stored.conditions, settings, random);
  const disabling = { store, eventStore, clock, logger };
  const run = new AttemptRun({
    deliveries: stored.deliveries,
    receivers,
    payloads,
    attempts: new Attempts(outbound, settings.timeoutMs, clock, logger, metrics),
    outcomes: new Outcomes(stored.repeatable, stored.attempts, settings.policy, random, persistence),
    lanes,
    failures: new FailureLines(logger),
    clock,
    persistence,
    freshnessMs: settings.freshnessMs,
    gone: async (endpoint) => receivers.note(await disableGone(disabling, endpoint)).endpoint,
    settled: ({ status }) => (status === 'dead_lettered' ? announcer.duty.nudge() : undefined),
  });
  const dispatcher = new Dispatcher(lanes, queues, run, settings.maxInFlight, persistence, clock, logger);
  const nudges = new Nudges(stored.nudges);
  const { pollMs } = settings;
  const owner = new Owner({
    leases,
    lanes,
    queues,
    nudges,
    receivers,
    dispatcher,
    logger,
    countRetry,
    now: clock,
    pollMs,
  });

  const parking = new Parking(stored.parked, broker, clock, logger, metrics);
  const consuming = new AbortController();
  const recorder = new Recorder({
    endpoints: store,
    payloads,
    deliveries: stored.repeatable,
    bundles,
    owner,
    parking,
    forgotten,
    clock,
    persistence: new Persistence(logger, consuming.signal, countRetry),
    logger,
    metrics,
  });
  const sandbox = new SandboxTests(payloads, stored.deliveries, owner, settings.appUrl);
  const { timeoutMs } = settings;

  metrics.gauge('webhook_attempts_in_flight', 'Requests under way', [], () => dispatcher.inFlight);
  metrics.gauge('webhook_outcomes_unstored', 'Outcomes that wait to be stored', [], () => dispatcher.unstored);
  metrics.gauge('webhook_payload_bytes_in_memory', 'Bodies held in memory', [], () => payloads.bytes);
  metrics.gauge('webhook_waiting_in_memory', 'Deliveries held for their attempt', [], () => lanes.waitingInMemory);
  metrics.gauge('webhook_shards_owned', 'Shards of endpoints attempted here', [], () => owner.shardCount);

  const waiting = new EventsWaiting(broker, metrics, countRetry);

  const { maxBatch } = settings;
  const consumption = { topic: SHIPMENT_EVENTS_TOPIC.name, group: CONSUMER_GROUP, maxBatch, signal: consuming.signal };
  let consumed: Promise<void> | undefined;
  if (!passive) {
    owner.start();
    announcer.duty.start();
    sweeper.duty.start();
    waiting.start();
    consumed = broker.consume(consumption, recorder.handle);
  }

  return {
    endpoints: new Endpoints({ store, box, receivers, owner, sandbox, outbound, eventStore, clock, timeoutMs }),
    deliveries: new Deliveries({ documents: stored.deliveries, queries, endpoints: store, owner }),
    parked: new ParkedMessageCases(parking, recorder),
    async stop() {
      consuming.abort();
      waiting.stop();
      await consumed;
      const timer = setTimeout(() => ended.abort(), settings.drainMs);
      await Promise.race([owner.stop(), aborted(ended.signal)]);
      clearTimeout(timer);
      ended.abort();
      await Promise.all([announcer.duty.stop(), sweeper.duty.stop()]);
      await owner.release();
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

export const Webhooks = { start };

import type { AddressInfo } from 'node:net';
import { SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import { EmbeddedEngine } from '@tracking/embedded';
import { createAdministrationApi, createHttpApi, listenOnSocket } from '@tracking/http-api';
import { Identity } from '@tracking/identity';
import { createOutboundHttp } from '@tracking/outbound-http';
import { loadPlaces } from '@tracking/places';
import type { Logger, Position } from '@tracking/ports';
import { PublishedEvents, ReadModels } from '@tracking/read-models';
import {
  Health,
  PrometheusMetrics,
  Shutdown,
  blaming,
  derivedKey,
  sealingKey,
  startManagementServer,
} from '@tracking/runtime';
import { Publisher, shipmentsService, eventBodies, eventTransfer } from '@tracking/shipments';
import { WEBHOOK_TOPICS, Webhooks, useSecretsKey } from '@tracking/webhooks';
import type { StandaloneConfig } from './config.ts';
import { secretsKey } from './secrets.ts';

const SHUTDOWN_MS = 20_000;
const CATCH_UP_MS = 5_000;
/** So much of what can be done again is done again after a crash; each write that is saved is a commit. */
const CHECKPOINT_INTERVAL_MS = 100;

export interface Standalone {
  /** Where the API is; undefined without HTTP. */
  readonly url: string | undefined;
  readonly managementUrl: string | undefined;
  /** When the read models have caught up for the first time. */
  readonly ready: Promise<void>;
  readonly shutdown: Shutdown;
}

/** Every feature of the product in this process, on the embedded engines. Started in this order, stopped in reverse. */
export async function startStandalone(
  config: StandaloneConfig,
  logger: Logger,
  mode: 'server' | 'administration',
): Promise<Standalone> {
  const shutdown = new Shutdown(logger, SHUTDOWN_MS);
  const metrics = new PrometheusMetrics('standalone');
  const health = new Health();
  shutdown.onUncaught(() => health.draining());
  const clock = () => new Date();
  const baseUrl = config.baseUrl ?? addressOf(config.host, config.port);
  const appUrl = config.appUrl ?? baseUrl;

  // Engines
  const places = await loadPlaces({ file: config.placesFile });
  const opening = EmbeddedEngine.open({ dataDir: config.dataDir, logger, metrics });
  const engine = await blaming(`DATA_DIR ${config.dataDir}`, opening);
  shutdown.add('engine', () => engine.close());
  const { eventStore, documentStore, messageBroker: broker, leases, quota } = engine;
  const secrets = await blaming('SECRETS_KEY', secretsKey(config, documentStore));
  const sealing = await sealingKey(secrets, (key, lost) => useSecretsKey(documentStore, key, lost));
  const outbound = createOutboundHttp({ ...config.webhooks, metrics });
  shutdown.add('outbound calls', () => outbound.close());

  // Features
  const identity = await Identity.open({ documentStore, clock, logger });
  shutdown.add('identity', () => identity.close());
  const shipments = shipmentsService({ eventStore, places, logger, metrics });
  const subscribing = { clock, logger, metrics, checkpointIntervalMs: CHECKPOINT_INTERVAL_MS };
  const readModels = await ReadModels.start({ eventStore, documentStore, leases, ...subscribing });
  shutdown.add('read models', () => readModels.stop());
  await broker.ensureTopics([SHIPMENT_EVENTS_TOPIC, ...WEBHOOK_TOPICS]);
  const webhooks = await Webhooks.start({
    eventStore,
    documentStore,
    broker,
    leases,
    outbound,
    secretsKey: sealing,
    clock,
    random: Math.random,
    logger,
    metrics,
    settings: {
      appUrl,
      timeoutMs: config.webhooks.timeoutMs,
      recoveryAfterMs: config.webhooks.recoveryAfterMs,
      policy: config.webhooks,
      retention: config.webhooks.retention,
    },
    passive: mode === 'administration',
  });
  shutdown.add('webhooks', () => webhooks.stop());
  const storage = { eventStore, documentStore, broker, leases };
  const readModelsReached = (position: Position, timeoutMs: number) => readModels.allReached(position, timeoutMs);
  const publisher = Publisher.start({ ...storage, ...subscribing, readModelsReached, appUrl });
  shutdown.add('publisher', () => publisher.stop());

  // Edges
  const report = () => {
    health.engine('storage', engine.failure);
    return health.report();
  };
  const events = new PublishedEvents(readModels, eventBodies({ eventStore, appUrl }));
  const administration = await createAdministrationApi({
    identity,
    readModels,
    webhooks,
    events: eventTransfer(eventStore),
    publishedEvents: events,
    logger,
  });
  await listenOnSocket(administration, config.dataDir);
  shutdown.add('administration', () => administration.close());
  if (mode === 'administration') {
    return { url: undefined, managementUrl: undefined, ready: Promise.resolve(), shutdown };
  }

  const { managementHost, managementPort } = config;
  const managing = startManagementServer({ host: managementHost, port: managementPort }, metrics, report);
  const management = await blaming('MANAGEMENT_HOST, MANAGEMENT_PORT', managing);
  shutdown.add('management', () => management.close());
  const api = await createHttpApi({
    shipments,
    readModels,
    webhooks,
    events,
    authenticateKey: (key) => identity.authenticateKey(key),
    head: () => eventStore.head(),
    quota,
    places,
    clock,
    logger,
    metrics,
    health: report,
    settings: {
      baseUrl,
      appUrl,
      rateLimitPerMinute: config.rateLimitPerMinute,
      trustedProxies: config.trustedProxies,
      cursorSecret: derivedKey(secrets.secretsKey, 'cursors'),
    },
  });
  // Which key wrote last is not remembered over an end: the first request already sees all that was acknowledged before.
  const head = await eventStore.head();
  while (head !== undefined && !(await readModels.allReached(head, CATCH_UP_MS))) {
    logger.info({}, 'catching up before the first request');
  }
  // Not by Nest, which would log what is thrown anyway.
  await blaming('HOST, PORT', api.getHttpAdapter().getInstance().listen({ port: config.port, host: config.host }));
  shutdown.add('api', async () => {
    health.draining();
    await api.close();
  });
  const { port } = api.getHttpServer().address() as AddressInfo;
  return {
    url: addressOf(config.host, port),
    managementUrl: addressOf(managementHost, management.port),
    ready: readModels.ready.then(() => health.started()),
    shutdown,
  };
}

function addressOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

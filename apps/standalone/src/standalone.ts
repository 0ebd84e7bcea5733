import type { AddressInfo } from 'node:net';
import { SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import { DirectCommandChannel, EmbeddedEngine } from '@tracking/embedded';
import { createAdministrationApi, createHttpApi, listenOnSocket } from '@tracking/http-api';
import { Identity } from '@tracking/identity';
import { createOutboundHttp } from '@tracking/outbound-http';
import { loadPlaces } from '@tracking/places';
import type { Logger } from '@tracking/ports';
import { ReadModels } from '@tracking/read-models';
import { Health, PrometheusMetrics, Shutdown, startManagementServer } from '@tracking/runtime';
import { Shipments, serveShipments, shipmentsClient } from '@tracking/shipments';
import { WEBHOOK_TOPICS, Webhooks, serveWebhooks, webhooksClient } from '@tracking/webhooks';
import type { StandaloneConfig } from './config.ts';
import { derivedKey, secretsKey } from './secrets.ts';

const SHUTDOWN_MS = 20_000;
const COMMAND_DEADLINE_MS = 10_000;

export interface Standalone {
  /** Where the API is; undefined without HTTP. */
  readonly url: string | undefined;
  readonly managementUrl: string | undefined;
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
  const clock = () => new Date();
  const local = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}`;
  const baseUrl = config.baseUrl ?? `${local}:${config.port}`;
  const appUrl = config.appUrl ?? baseUrl;

  // Engines
  const places = await loadPlaces({ file: config.placesFile });
  const engine = await EmbeddedEngine.open({ dataDir: config.dataDir, logger, metrics });
  shutdown.add('engine', () => engine.close());
  const { eventStore, documentStore, messageBroker: broker, leases, quota } = engine;
  const secrets = secretsKey(config.secretsKey, config.dataDir);
  const channel = new DirectCommandChannel(logger);
  const outbound = createOutboundHttp({ ...config.webhooks, metrics });
  shutdown.add('outbound calls', () => outbound.close());

  // Features
  const identity = await Identity.open({ documentStore, clock, logger });
  shutdown.add('identity', () => identity.close());
  serveShipments(channel, new Shipments({ eventStore, places, logger, metrics }));
  const readModels = await ReadModels.start({ eventStore, documentStore, leases, clock, logger, metrics });
  shutdown.add('read models', () => readModels.stop());
  await broker.ensureTopics([SHIPMENT_EVENTS_TOPIC, ...WEBHOOK_TOPICS]);
  const webhooks = await Webhooks.start({
    documentStore,
    broker,
    leases,
    outbound,
    secretsKey: derivedKey(secrets, 'webhook secrets'),
    clock,
    random: Math.random,
    logger,
    metrics,
    settings: { appUrl, timeoutMs: config.webhooks.timeoutMs, policy: config.webhooks },
  });
  shutdown.add('webhooks', () => webhooks.stop());
  serveWebhooks(channel, webhooks);

  // Edges
  const report = () => {
    health.engine('storage', engine.failure);
    return health.report();
  };
  const administration = await createAdministrationApi({ identity, readModels, logger });
  await listenOnSocket(administration, config.dataDir);
  shutdown.add('administration', () => administration.close());
  if (mode === 'administration') {
    health.started();
    return { url: undefined, managementUrl: undefined, shutdown };
  }

  const management = await startManagementServer(
    { host: config.managementHost, port: config.managementPort },
    metrics,
    report,
  );
  shutdown.add('management', () => management.close());
  const api = await createHttpApi({
    shipments: shipmentsClient(channel, { deadlineMs: COMMAND_DEADLINE_MS }),
    readModels,
    webhooks: webhooksClient(channel, config.webhooks.timeoutMs + COMMAND_DEADLINE_MS),
    authenticate: (key) => identity.authenticate(key),
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
      cursorSecret: derivedKey(secrets, 'cursors'),
    },
  });
  await api.listen(config.port, config.host);
  shutdown.add('api', async () => {
    health.draining();
    await api.close();
  });
  await readModels.ready;
  health.started();
  const { port } = api.getHttpServer().address() as AddressInfo;
  return { url: `${local}:${port}`, managementUrl: `http://${config.managementHost}:${management.port}`, shutdown };
}

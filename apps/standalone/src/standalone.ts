import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createAdministrationHttpApi, serveOnAdministrationSocket } from '@tracking/administration';
import { DocumentsHttpModule } from '@tracking/documents-http';
import { IdempotencyClaims, createHttpApi } from '@tracking/http';
import type { IdentityServices } from '@tracking/identity';
import { IdentityHttpModule } from '@tracking/identity-http';
import type { Logger } from '@tracking/ports';
import {
  ProcessHealth,
  Shutdown,
  convertMachineErrorToConfigError,
  deriveKey,
  createFirstAdmin,
  startManagementServer,
} from '@tracking/runtime';
import { EventsHttpModule, ShipmentsHttpModule } from '@tracking/shipments-http';
import { SecretBox } from '@tracking/webhooks';
import { WebhooksHttpModule } from '@tracking/webhooks-http';
import type { StandaloneConfig } from './config.ts';
import { openFeatureEngines, startStandaloneFeatures } from './features.ts';

/** HTTP modules of the public API, in the order of its description. */
const HTTP_FEATURE_MODULES = [
  ShipmentsHttpModule,
  DocumentsHttpModule,
  EventsHttpModule,
  WebhooksHttpModule,
  IdentityHttpModule,
];
const BUILT_WEB_APP_FOLDER = fileURLToPath(new URL('../../web/dist', import.meta.url));
const SHUTDOWN_TIMEOUT_MS = 20_000;
const READ_MODEL_CATCH_UP_LOG_INTERVAL_MS = 5_000;

export interface RunningStandaloneServer {
  /** URL of the API; undefined if the server does not serve HTTP. */
  readonly url: string | undefined;
  readonly managementUrl: string | undefined;
  /** Base URL of links to the web application. */
  readonly appUrl: string;
  readonly firstAdmin: IdentityServices['firstAdmin'];
  /** Resolves when the read models have caught up for the first time. */
  readonly ready: Promise<void>;
  readonly shutdown: Shutdown;
}

/** Starts every feature in this process, on the embedded engines. Features stop in reverse order of their start. */
export async function startStandaloneApp(
  config: StandaloneConfig,
  logger: Logger,
  mode: 'server' | 'administration',
): Promise<RunningStandaloneServer> {
  const shutdown = new Shutdown(logger, SHUTDOWN_TIMEOUT_MS);
  const health = new ProcessHealth();
  shutdown.shutDownOnUncaughtErrors(() => health.markDraining());
  const baseUrl = config.baseUrl ?? formatServerUrl(config.host, config.port);
  const appUrl = config.appUrl ?? baseUrl;
  const addresses = { appUrl, baseUrl };

  const engines = await openFeatureEngines(config, logger, shutdown, mode);
  const features = await startStandaloneFeatures(
    engines,
    { ...config, addresses },
    shutdown,
    mode === 'administration',
  );
  const { readModels, publishedEvents } = features;
  const { firstAdmin } = features.identity;
  const { eventStore, objects } = engines.storage;

  const { quota, places, clock, metrics, secrets } = engines;
  const idempotency = await IdempotencyClaims.openIdempotencyClaims({
    ...engines.storage,
    clock,
    logger,
    metrics,
    secret: deriveKey(secrets.secretsKey, 'idempotency'),
    responseCipher: (key) => new SecretBox(key),
    // The data folder is locked, so every other process that claimed an idempotency key has ended.
    takeOverAfterMs: 0,
  });
  shutdown.addShutdownStep('idempotency keys', () => idempotency.stopClaimSweeper());
  const administration = await createAdministrationHttpApi({
    ...features,
    idempotency,
    leases: engines.storage.leases,
    appUrl,
    logger,
    ...(mode === 'administration' && { release: () => shutdown.endProcess() }),
  });
  await serveOnAdministrationSocket(administration, config.dataDir);
  shutdown.addShutdownStep('administration', () => administration.close());
  if (mode === 'administration') {
    return { url: undefined, managementUrl: undefined, appUrl, firstAdmin, ready: Promise.resolve(), shutdown };
  }
  if (config.firstAdmin)
    await createFirstAdmin(config.firstAdmin, (admin) => firstAdmin.createFirstAdminIfMissing(admin));

  const report = () => {
    health.setEngineStatus('storage', engines.engine.failure);
    health.setEngineStatus('objects', objects.failure);
    return health.createHealthReport();
  };
  const { managementHost, managementPort } = config;
  const managing = startManagementServer({ host: managementHost, port: managementPort }, engines.metrics, report);
  const management = await convertMachineErrorToConfigError('MANAGEMENT_HOST, MANAGEMENT_PORT', managing);
  shutdown.addShutdownStep('management', () => management.close());

  const api = await createHttpApi(
    {
      ...features,
      events: publishedEvents,
      authenticateKey: (key) => features.identity.authenticateKey(key),
      head: () => eventStore.head(),
      quota,
      idempotency,
      objects,
      places,
      clock,
      logger,
      metrics,
      health: report,
      settings: {
        ...addresses,
        webAppFolder: BUILT_WEB_APP_FOLDER,
        rateLimitPerMinute: config.rateLimitPerMinute,
        rateLimitOwnerFactor: config.rateLimitOwnerFactor,
        eventStreams: config.eventStreams,
        connections: config.connections,
        drainMs: config.drainMs,
        trustedProxies: config.trustedProxies,
        cursorSecret: deriveKey(secrets.secretsKey, 'cursors'),
      },
    },
    HTTP_FEATURE_MODULES,
  );
  // The last write of each API key is not remembered across restarts. The first request must therefore include all
  // writes that were acknowledged before the restart.
  const head = await eventStore.head();
  while (head !== undefined && !(await readModels.waitForAllReadModels(head, READ_MODEL_CATCH_UP_LOG_INTERVAL_MS))) {
    logger.info({}, 'projecting stored events before the first request');
  }
  // Nest's own `listen` would also log the error that is thrown here.
  await convertMachineErrorToConfigError(
    'HOST, PORT',
    api.getHttpAdapter().getInstance().listen({ port: config.port, host: config.host }),
  );
  shutdown.addShutdownStep('api', async () => {
    health.markDraining();
    await api.close();
  });
  const { port } = api.getHttpServer().address() as AddressInfo;
  return {
    url: formatServerUrl(config.host, port),
    managementUrl: formatServerUrl(managementHost, management.port),
    appUrl,
    firstAdmin,
    ready: readModels.ready.then(() => health.markProcessStarted()),
    shutdown,
  };
}

function formatServerUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

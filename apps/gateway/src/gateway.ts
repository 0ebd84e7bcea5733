import { fileURLToPath } from 'node:url';
import { createAdministrationApi, requireToken } from '@tracking/administration';
import { GridfsObjectStore, GrpcServiceChannel, MongoQuota, SHIPMENTS, WEBHOOKS_PROTO } from '@tracking/distributed';
import { DeletedDocuments, OrphanSweep, StorageQuota } from '@tracking/documents';
import { DocumentsHttpModule } from '@tracking/documents-http';
import { createHttpApi, currentRequest, IdempotencyClaims } from '@tracking/http';
import { Identity, identitySweeper } from '@tracking/identity';
import { IdentityHttpModule } from '@tracking/identity-http';
import { loadPlaces } from '@tracking/places';
import type { Logger } from '@tracking/ports';
import { PublishedEvents, ReadModels } from '@tracking/read-models';
import { nameSettingInErrors, deriveKey, createFirstAdmin, openSealingKey } from '@tracking/runtime';
import { openMongo, Service } from '@tracking/service';
import { createRemoteEventMaker, type ShipmentOperations } from '@tracking/shipments';
import { EventsHttpModule, ShipmentsHttpModule } from '@tracking/shipments-http';
import { SecretBox, useSecretsKey, type WebhookOperations } from '@tracking/webhooks';
import { WebhooksHttpModule } from '@tracking/webhooks-http';
import { SettingsOfWorkspaces } from '@tracking/workspace-settings';
import type { GatewayConfig } from './config.ts';

/** Features of the public API, in the order of its description. */
const FEATURES = [ShipmentsHttpModule, DocumentsHttpModule, EventsHttpModule, WebhooksHttpModule, IdentityHttpModule];
const WEB_APP_FOLDER = fileURLToPath(new URL('../../web/dist', import.meta.url));
const OPERATION_DEADLINE_MS = 10_000;
/** Milliseconds after which a claim counts as abandoned by a crashed gateway. Most requests are shorter. */
const CLAIM_TAKEOVER_MS = 15_000;
/** Maximum milliseconds that a write waits until the read models show it, before the gateway responds. */
const READ_YOUR_WRITES_TIMEOUT_MS = 500;

/**
 * Starts the gateway, which maps requests of the public API and of operators to commands and queries. It stores no
 * state of its own and does not use the event store.
 */
export async function startGateway(config: GatewayConfig): Promise<void> {
  const service = await Service.start('gateway', config);
  const { logger, metrics, clock, health, shutdown } = service;
  const places = await loadPlaces({ file: config.placesFile });
  const { baseUrl, appUrl, maxKeysPerOwner, trustedProxies } = config;

  const { connection, documentStore, leases } = openMongo(service, config.mongo);
  const objects = new GridfsObjectStore(connection, config.diskReserve);
  const quota = new MongoQuota(documentStore, clock);
  shutdown.add('quota', () => quota.close());

  // Features that run in other services and that the gateway calls.
  const channel = new GrpcServiceChannel({ ...config, origin: currentRequest, logger, metrics });
  shutdown.add('command channel', () => channel.close());
  const { shipments, events } = channel.client<ShipmentOperations>(SHIPMENTS, OPERATION_DEADLINE_MS);
  const webhooks = channel.client<WebhookOperations>(WEBHOOKS_PROTO, config.webhookTimeoutMs + OPERATION_DEADLINE_MS);
  service.watch('shipments', () => events.head());

  // The gateway encrypts secrets with the same key as the other services, but decrypts none.
  await openSealingKey(config, (key, lost) =>
    service.retryUntilAvailable(() => useSecretsKey(documentStore, key, lost)),
  );

  // Features that run in the gateway.
  const claims = {
    secret: deriveKey(config.secretsKey, 'idempotency'),
    responseCipher: (key: Uint8Array) => new SecretBox(key),
    takeOverAfterMs: CLAIM_TAKEOVER_MS,
  };
  const storage = { documentStore, leases, clock, logger, metrics };
  const idempotency = await service.retryUntilAvailable(() => IdempotencyClaims.open({ ...storage, ...claims }));
  shutdown.add('idempotency keys', () => idempotency.close());
  const secret = deriveKey(config.secretsKey, 'identity');
  const identityOptions = { documentStore, clock, logger, secret, maxKeysPerOwner };
  const identity = await service.retryUntilAvailable(() => Identity.open(identityOptions));
  shutdown.add('identity', () => identity.close());
  const sweeper = identitySweeper({ identity, leases, clock, logger, metrics });
  sweeper.start();
  shutdown.add('identity sweeper', () => sweeper.stop());
  const workspaceSettings = await service.retryUntilAvailable(() => SettingsOfWorkspaces.open({ documentStore }));
  await service.retryUntilAvailable(() => ensureFirstAdmin(identity, config, logger));
  const readModels = await ReadModels.start({
    eventStore: events,
    documentStore,
    leases,
    clock,
    logger,
    metrics,
    project: false,
    eventRetentionMs: config.eventRetentionMs,
  });
  shutdown.add('read models', () => readModels.stop());
  const orphanSweep = new OrphanSweep({
    ...storage,
    objects,
    neededObjects: (shipment_id) => shipments.documentObjects({ shipment_id, now: clock().toISOString() }),
  });
  orphanSweep.job.start();
  shutdown.add('sweep of orphans', () => orphanSweep.job.stop());
  const { documents } = readModels.queries;
  const deletedDocuments = new DeletedDocuments({
    ...storage,
    objects,
    deletedSince: (place, limit) => documents.listDeletedSince(place, limit),
  });
  void readModels.ready.then(() => deletedDocuments.job.start());
  shutdown.add('deleted documents', () => deletedDocuments.job.stop());
  const storageQuota = await service.retryUntilAvailable(() =>
    StorageQuota.open({
      ...storage,
      storageBytes: (workspaceId) => documents.storageBytes(workspaceId),
      isCounted: (position, timeoutMs) => readModels.progress.reached('documents', position, timeoutMs),
      limitBytes: config.storagePerWorkspace,
      isSoleProcess: false,
    }),
  );
  const publishedEvents = new PublishedEvents(readModels, createRemoteEventMaker(events));

  // HTTP servers.
  const administration = await createAdministrationApi({
    identity,
    idempotency,
    appUrl,
    readModels,
    webhooks,
    events,
    workspaceSettings,
    publishedEvents,
    logger,
    clock,
  });
  shutdown.add('administration', () => administration.close());
  service.setManagementHandler(await requireToken(administration, config.administrationToken));
  const api = await createHttpApi(
    {
      shipments,
      readModels,
      webhooks,
      workspaceSettings,
      events: publishedEvents,
      identity,
      authenticateKey: (key) => identity.authenticateKey(key),
      head: () => events.head(),
      quota,
      idempotency,
      objects,
      storageQuota,
      places,
      clock,
      logger,
      metrics,
      health: () => health.createReport(),
      settings: {
        baseUrl,
        appUrl,
        webAppFolder: WEB_APP_FOLDER,
        rateLimitPerMinute: config.rateLimitPerMinute,
        rateLimitOwnerFactor: config.rateLimitOwnerFactor,
        eventStreams: config.eventStreams,
        connections: config.connections,
        drainMs: config.drainMs,
        trustedProxies,
        cursorSecret: deriveKey(config.secretsKey, 'cursors'),
        writeResponseWaitMs: READ_YOUR_WRITES_TIMEOUT_MS,
      },
    },
    FEATURES,
  );
  await readModels.ready;
  const { port, host } = config;
  await nameSettingInErrors('HOST, PORT', api.getHttpAdapter().getInstance().listen({ port, host }));
  shutdown.add('api', () => api.close());
  service.markReady({ url: baseUrl, docs: `${baseUrl}/docs` });
}

/** Creates the first admin from the settings, or logs how to create one. @throws ConfigError, Unavailable */
async function ensureFirstAdmin(
  { firstAdmin }: Pick<Identity, 'firstAdmin'>,
  { firstAdmin: given }: Pick<GatewayConfig, 'firstAdmin'>,
  logger: Logger,
): Promise<void> {
  if (given) await createFirstAdmin(given, (admin) => firstAdmin.ensure(admin));
  else if (await firstAdmin.isMissing()) {
    const make_one_with = 'users create --role admin --email';
    logger.info({ make_one_with }, 'the default workspace has no admin; create one with the command in make_one_with');
  }
}

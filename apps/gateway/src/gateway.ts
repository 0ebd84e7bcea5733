import { fileURLToPath } from 'node:url';
import { createAdministrationHttpApi, createTokenProtectedHandler } from '@tracking/administration';
import {
  GridfsObjectStore,
  GrpcServiceChannel,
  MongoQuota,
  PROJECTIONS_PROTO,
  SHIPMENTS_PROTO,
  WEBHOOKS_PROTO,
} from '@tracking/distributed';
import { DeletedDocumentSweeper, OrphanSweep, StorageQuotaLimiter } from '@tracking/documents';
import { DocumentsHttpModule } from '@tracking/documents-http';
import { createHttpApi, getCurrentRequestOrigin, IdempotencyClaims } from '@tracking/http';
import { IdentityServices, createIdentitySweeper } from '@tracking/identity';
import { IdentityHttpModule } from '@tracking/identity-http';
import { loadPlaces } from '@tracking/places';
import type { Logger } from '@tracking/ports';
import {
  type ProjectionOperations,
  PublishedEventReader,
  READ_MODEL_LEASE_GROUP,
  READ_MODEL_NAMES,
  ReadModels,
} from '@tracking/read-models';
import {
  convertMachineErrorToConfigError,
  deriveKey,
  createFirstAdmin,
  deriveCheckedSecretsKey,
} from '@tracking/runtime';
import { connectToEachReplica, openMongoStoreAndLeasesOfService, ServiceProcess } from '@tracking/service';
import {
  createEventMakerCallingEventStoreProcess,
  createNextEventRecordingTimeFinder,
  findShipmentIdOfOperationRequest,
  PartitionCountManager,
  PUBLISHER_SUBSCRIBER_NAME,
  type ShipmentOperations,
} from '@tracking/shipments';
import { EventsHttpModule, ShipmentsHttpModule } from '@tracking/shipments-http';
import { SecretBox, storeOrCheckSecretsKey, type WebhookOperations } from '@tracking/webhooks';
import { WebhooksHttpModule } from '@tracking/webhooks-http';
import { WorkspaceSettingsStore } from '@tracking/workspace-settings';
import type { GatewayConfig } from './config.ts';

/** Features of the public API, in the order of its description. */
const HTTP_FEATURES = [
  ShipmentsHttpModule,
  DocumentsHttpModule,
  EventsHttpModule,
  WebhooksHttpModule,
  IdentityHttpModule,
];
const BUILT_WEB_APP_FOLDER = fileURLToPath(new URL('../../web/dist', import.meta.url));
const OPERATION_DEADLINE_MS = 10_000;
/** Milliseconds after which a claim counts as abandoned by a crashed gateway. Most requests are shorter. */
const ABANDONED_CLAIM_AGE_MS = 15_000;
/** Maximum milliseconds that a write waits until the read models show it, before the gateway responds. */
const READ_YOUR_WRITES_TIMEOUT_MS = 500;

/**
 * Starts the gateway, which maps requests of the public API and of operators to commands and queries. It stores no
 * state of its own and does not use the event store.
 */
export async function startGateway(config: GatewayConfig): Promise<void> {
  const service = await ServiceProcess.start('gateway', config);
  const { logger, metrics, clock, health, shutdown } = service;
  const places = await loadPlaces({ file: config.placesFile });
  const { baseUrl, appUrl, maxKeysPerOwner, trustedProxies } = config;

  const {
    connection,
    documentStore,
    leases: allLeases,
    shares,
  } = openMongoStoreAndLeasesOfService(service, config.mongo);
  const leases = shares.getOrCreateLeaseGroup('gateway_jobs');
  const objects = new GridfsObjectStore(connection, config.diskReserve);
  const quota = new MongoQuota(documentStore, clock);
  shutdown.addShutdownStep('quota', () => quota.close());

  // Features that run in other services and that the gateway calls.
  const channel = new GrpcServiceChannel({ ...config, origin: getCurrentRequestOrigin, logger, metrics });
  shutdown.addShutdownStep('command channel', () => channel.closeChannel());
  const { shipments, events } = channel.createGrpcClientOperations<ShipmentOperations>(
    SHIPMENTS_PROTO,
    OPERATION_DEADLINE_MS,
    findShipmentIdOfOperationRequest,
  );
  const webhooks = channel.createGrpcClientOperations<WebhookOperations>(
    WEBHOOKS_PROTO,
    config.webhookTimeoutMs + OPERATION_DEADLINE_MS,
  );
  service.addEngineReadinessCheck('shipments', () => events.head());

  // The gateway encrypts secrets with the same key as the other services, but decrypts none.
  await deriveCheckedSecretsKey(config, (key, lost) =>
    service.retryUntilAvailable(() => storeOrCheckSecretsKey(documentStore, key, lost)),
  );

  // Features that run in the gateway.
  const claims = {
    secret: deriveKey(config.secretsKey, 'idempotency'),
    responseCipher: (key: Uint8Array) => new SecretBox(key),
    takeOverAfterMs: ABANDONED_CLAIM_AGE_MS,
  };
  const storage = { documentStore, leases, clock, logger, metrics };
  const idempotency = await service.retryUntilAvailable(() =>
    IdempotencyClaims.openIdempotencyClaims({ ...storage, ...claims }),
  );
  shutdown.addShutdownStep('idempotency keys', () => idempotency.stopClaimSweeper());
  const secret = deriveKey(config.secretsKey, 'identity');
  const identityOptions = { documentStore, clock, logger, secret, maxKeysPerOwner };
  const identity = await service.retryUntilAvailable(() => IdentityServices.openIdentity(identityOptions));
  shutdown.addShutdownStep('identity', () => identity.closeIdentityAfterPendingWrites());
  const sweeper = createIdentitySweeper({ identity, leases, clock, logger, metrics });
  sweeper.startJobRounds();
  shutdown.addShutdownStep('identity sweeper', () => sweeper.stopJobRounds());
  const workspaceSettings = await service.retryUntilAvailable(() =>
    WorkspaceSettingsStore.openWorkspaceSettings({ documentStore }),
  );
  await service.retryUntilAvailable(() => ensureFirstAdmin(identity, config, logger));
  const readModels = await ReadModels.startReadModelsOfProcess({
    eventStore: events,
    documentStore,
    leases,
    clock,
    logger,
    metrics,
    project: false,
    findTimeAfter: createNextEventRecordingTimeFinder(events),
    eventRetentionMs: config.eventRetentionMs,
  });
  shutdown.addShutdownStep('read models', () => readModels.stop());
  shutdown.addShutdownStep(
    'progress of read models',
    connectToEachReplica<ProjectionOperations>(
      shares,
      READ_MODEL_LEASE_GROUP,
      { proto: PROJECTIONS_PROTO, token: config.token, clientTls: config.tls, logger, metrics },
      (operations, signal) => readModels.followProjections(operations, signal),
    ),
  );
  const orphanSweep = new OrphanSweep({
    ...storage,
    objects,
    neededObjects: (shipment_id) => shipments.documentObjects({ shipment_id, now: clock().toISOString() }),
  });
  orphanSweep.job.startJobRounds();
  shutdown.addShutdownStep('sweep of orphans', () => orphanSweep.job.stopJobRounds());
  const { documents } = readModels.queries;
  const deletedDocuments = new DeletedDocumentSweeper({
    ...storage,
    objects,
    deletedSince: (place, limit) => documents.listDocumentsDeletedSince(place, limit),
  });
  void readModels.ready.then(() => deletedDocuments.job.startJobRounds());
  shutdown.addShutdownStep('deleted documents', () => deletedDocuments.job.stopJobRounds());
  const storageQuota = await service.retryUntilAvailable(() =>
    StorageQuotaLimiter.openStorageQuota({
      ...storage,
      storageBytes: (workspaceId) => documents.sumDocumentBytesOfWorkspace(workspaceId),
      isCounted: (position, timeoutMs) => readModels.progress.reached('documents', position, timeoutMs),
      limitBytes: config.storagePerWorkspace,
      isSoleProcess: false,
    }),
  );
  const publishedEvents = new PublishedEventReader(readModels, createEventMakerCallingEventStoreProcess(events));

  // HTTP servers.
  const administration = await createAdministrationHttpApi({
    identity,
    idempotency,
    appUrl,
    readModels,
    webhooks,
    events,
    workspaceSettings,
    publishedEvents,
    leases: allLeases,
    partitions: new PartitionCountManager(documentStore, [PUBLISHER_SUBSCRIBER_NAME, ...READ_MODEL_NAMES]),
    logger,
    clock,
  });
  shutdown.addShutdownStep('administration', () => administration.close());
  service.addManagementPortRoutes(await createTokenProtectedHandler(administration, config.administrationToken));
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
      health: () => health.createHealthReport(),
      settings: {
        baseUrl,
        appUrl,
        webAppFolder: BUILT_WEB_APP_FOLDER,
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
    HTTP_FEATURES,
  );
  await readModels.ready;
  const { port, host } = config;
  await convertMachineErrorToConfigError('HOST, PORT', api.getHttpAdapter().getInstance().listen({ port, host }));
  shutdown.addShutdownStep('api', () => api.close());
  service.markProcessReady({ url: baseUrl, docs: `${baseUrl}/docs` });
}

/** Creates the first admin from the settings, or logs how to create one. @throws ConfigError, UnavailableError */
async function ensureFirstAdmin(
  { firstAdmin }: Pick<IdentityServices, 'firstAdmin'>,
  { firstAdmin: given }: Pick<GatewayConfig, 'firstAdmin'>,
  logger: Logger,
): Promise<void> {
  if (given) await createFirstAdmin(given, (admin) => firstAdmin.createFirstAdminIfMissing(admin));
  else if (await firstAdmin.isAdminMissing()) {
    const make_one_with = 'users create --role admin --email';
    logger.info({ make_one_with }, 'the default workspace has no admin; create one with the command in make_one_with');
  }
}

import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type PublicAddresses, SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import { DeletedDocumentSweeper, OrphanSweep, StorageQuotaLimiter } from '@tracking/documents';
import { EmbeddedSqliteEngine, FileObjectStore } from '@tracking/embedded';
import { IdentityServices, createIdentitySweeper } from '@tracking/identity';
import { createOutboundHttp } from '@tracking/outbound-http';
import { loadPlaces } from '@tracking/places';
import type { Clock, DocumentStore, LeaseSource, Logger, Metrics, ObjectStore, Position } from '@tracking/ports';
import { PublishedEventReader, ReadModels } from '@tracking/read-models';
import {
  convertMachineErrorToConfigError,
  ConfigError,
  deriveKey,
  PrometheusMetrics,
  deriveCheckedSecretsKey,
  createSecretsKeyError,
  type SecretsKeySettings,
  type Shutdown,
} from '@tracking/runtime';
import {
  createEventOperations,
  createEventMakerCallingEventStoreProcess,
  ShipmentEventPublisher,
  ShipmentRecheckJob,
  UpgradeRecheckRequester,
  DueShipmentChecker,
  EventSourcedShipmentService,
  createCachedRuleSettingsReader,
  type ShipmentsService,
} from '@tracking/shipments';
import { getSecretsKeyId, storeOrCheckSecretsKey, WEBHOOK_BROKER_TOPICS, WebhooksFeature } from '@tracking/webhooks';
import { WorkspaceSettingsStore } from '@tracking/workspace-settings';
import type { StandaloneConfig } from './config.ts';
import { takeOverDataFolder } from './take-over.ts';

/**
 * Milliseconds between checkpoints, which limits the work that is repeated after a crash. Each checkpoint costs a
 * commit.
 */
const CHECKPOINT_INTERVAL_MS = 100;
/**
 * Milliseconds during which events are collected into a batch while the write rate is high. Reads that wait for their
 * own writes take that much longer.
 */
const EVENT_BATCH_DELAY_MS = 25;

/**
 * Starts all features in dependency order; they stop in reverse order. @param isPassive true to start neither jobs nor
 * deliveries
 */
export async function startStandaloneFeatures(
  { storage, outbound, places, clock, logger, metrics, secrets, sealing }: Engines,
  config: StandaloneConfig & { readonly addresses: PublicAddresses },
  shutdown: Shutdown,
  isPassive: boolean,
) {
  const { eventStore, documentStore, broker } = storage;
  const { addresses, webhooks: policy } = config;
  const { timeoutMs, recoveryAfterMs, failingAfterMs, retention } = policy;
  const { maxKeysPerOwner } = config;

  const secret = deriveKey(secrets.secretsKey, 'identity');
  const identity = await IdentityServices.openIdentity({ documentStore, clock, logger, secret, maxKeysPerOwner });
  shutdown.addShutdownStep('identity', () => identity.closeIdentityAfterPendingWrites());
  const { leases } = storage;
  const sweeper = createIdentitySweeper({ identity, leases, clock, logger, metrics });
  if (!isPassive) sweeper.startJobRounds();
  shutdown.addShutdownStep('identity sweeper', () => sweeper.stopJobRounds());
  const workspaceSettings = await WorkspaceSettingsStore.openWorkspaceSettings({ documentStore });
  const settings = createCachedRuleSettingsReader(workspaceSettings);
  const shipments = new EventSourcedShipmentService({ eventStore, places, settings, logger, metrics });
  const pace = { checkpointIntervalMs: CHECKPOINT_INTERVAL_MS, batchingDelayMs: EVENT_BATCH_DELAY_MS };
  const jobDependencies = { ...storage, clock, logger, metrics, ...pace };
  const readModels = await ReadModels.startReadModelsOfProcess({
    ...jobDependencies,
    eventRetentionMs: config.eventRetentionMs,
  });
  shutdown.addShutdownStep('read models', () => readModels.stop());
  const { deadlines: workList } = readModels.queries;
  const ruleClock = new DueShipmentChecker({ ...jobDependencies, shipments, workList });
  if (!isPassive) void readModels.ready.then(() => ruleClock.job.startJobRounds());
  shutdown.addShutdownStep('clock', () => ruleClock.job.stopJobRounds());
  const deadlinesReached = (position: Position, waitMs: number) =>
    readModels.progress.reached('deadlines', position, waitMs);
  const recheck = new ShipmentRecheckJob({
    ...jobDependencies,
    shipments,
    settings,
    rechecks: workspaceSettings.rechecks,
    unsettledShipments: workList,
    readModelsReached: deadlinesReached,
    afterUpgrade: new UpgradeRecheckRequester({
      eventStore,
      rechecks: workspaceSettings.rechecks,
      workspaces: workList,
      readModelsReached: deadlinesReached,
    }),
  });
  if (!isPassive) void readModels.ready.then(() => recheck.job.startJobRounds());
  shutdown.addShutdownStep('re-checks', () => recheck.job.stopJobRounds());
  const documentJobs = createDocumentJobs({ ...jobDependencies, readModels, shipments });
  if (!isPassive) documentJobs.startDocumentJobs();
  shutdown.addShutdownStep('documents', () => documentJobs.stopJobs());
  const storageQuota = await StorageQuotaLimiter.openStorageQuota({
    documentStore,
    storageBytes: (workspaceId) => readModels.queries.documents.sumDocumentBytesOfWorkspace(workspaceId),
    isCounted: (position, timeoutMs) => readModels.progress.reached('documents', position, timeoutMs),
    limitBytes: config.storagePerWorkspace,
    clock,
    logger,
    isSoleProcess: true,
  });
  await broker.ensureTopics([SHIPMENT_EVENTS_TOPIC, ...WEBHOOK_BROKER_TOPICS]);
  const events = createEventOperations(eventStore, addresses);
  const publishedEvents = new PublishedEventReader(readModels, createEventMakerCallingEventStoreProcess(events));
  const webhooks = await WebhooksFeature.start({
    ...storage,
    eventLog: publishedEvents.log,
    outbound,
    secretsKey: sealing,
    clock,
    random: Math.random,
    logger,
    metrics,
    settings: { addresses, timeoutMs, recoveryAfterMs, failingAfterMs, policy, retention },
    passive: isPassive,
  });
  shutdown.addShutdownStep('webhooks', () => webhooks.stop());
  const readModelsContain = readModels.waitForReadModelsOfEvents.bind(readModels);
  const publisher = ShipmentEventPublisher.start({ ...jobDependencies, readModelsContain, addresses });
  shutdown.addShutdownStep('publisher', () => publisher.stop());
  return { identity, workspaceSettings, shipments, readModels, storageQuota, webhooks, events, publishedEvents };
}

interface DocumentJobDependencies {
  readonly objects: ObjectStore;
  readonly documentStore: DocumentStore;
  readonly leases: LeaseSource;
  readonly readModels: ReadModels;
  readonly shipments: ShipmentsService;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Creates the jobs that delete bytes that no document needs. */
function createDocumentJobs({ readModels, shipments, ...parts }: DocumentJobDependencies) {
  const { documents } = readModels.queries;
  const orphans = new OrphanSweep({
    ...parts,
    neededObjects: (shipment_id) => shipments.documentObjects({ shipment_id, now: parts.clock().toISOString() }),
  });
  const deleted = new DeletedDocumentSweeper({
    ...parts,
    deletedSince: (place, limit) => documents.listDocumentsDeletedSince(place, limit),
  });
  return {
    startDocumentJobs(): void {
      orphans.job.startJobRounds();
      void readModels.ready.then(() => deleted.job.startJobRounds());
    },
    async stopJobs(): Promise<void> {
      await Promise.all([orphans.job.stopJobRounds(), deleted.job.stopJobRounds()]);
    },
  };
}

type Engines = Awaited<ReturnType<typeof openFeatureEngines>>;

/** Opens the engines of all features. They are closed after all components that start later. */
export async function openFeatureEngines(
  config: StandaloneConfig,
  logger: Logger,
  shutdown: Shutdown,
  mode: 'server' | 'administration',
) {
  const metrics = new PrometheusMetrics('standalone');
  const clock: Clock = () => new Date();
  const places = await loadPlaces({ file: config.placesFile });
  const open = () => EmbeddedSqliteEngine.openEmbeddedEngine({ dataDir: config.dataDir, logger, metrics });
  const opening = mode === 'server' ? takeOverDataFolder(config.dataDir, open) : open();
  const engine = await convertMachineErrorToConfigError(`DATA_DIR ${config.dataDir}`, opening);
  shutdown.addShutdownStep('engine', () => engine.closeEngine());
  // At this point, the engine has locked the data folder.
  const objects = await convertMachineErrorToConfigError(
    `DATA_DIR ${config.dataDir}`,
    FileObjectStore.openFileObjectStore(join(config.dataDir, 'objects'), { reserveBytes: config.diskReserve }),
  );
  const { eventStore, documentStore, messageBroker: broker, leases, quota } = engine;
  const secrets = await convertMachineErrorToConfigError('SECRETS_KEY', readOrCreateSecretsKey(config, documentStore));
  const sealing = await deriveCheckedSecretsKey(secrets, (key, lost) =>
    storeOrCheckSecretsKey(documentStore, key, lost),
  );
  const outbound = createOutboundHttp({ ...config.webhooks, metrics });
  shutdown.addShutdownStep('outbound calls', () => outbound.closeOutboundHttp());
  const storage = { eventStore, documentStore, broker, leases, objects };
  return { engine, storage, quota, outbound, places, clock, logger, metrics, secrets, sealing };
}

/**
 * Returns the key that encrypts secrets at rest: the operator's key, or a key that is created in the data folder at the
 * first start and that only its owner can read. The file gets its name after it is complete and on disk, so a crash
 * never leaves half a key.
 * @throws ConfigError, including if secrets are already stored, because a new key could not decrypt them
 */
export async function readOrCreateSecretsKey(
  config: Pick<StandaloneConfig, 'secretsKey' | 'lostSecretsKey' | 'dataDir'>,
  store: DocumentStore,
): Promise<SecretsKeySettings> {
  const { secretsKey: given, lostSecretsKey, dataDir } = config;
  if (given) return { secretsKey: given, lostSecretsKey };
  const path = join(dataDir, 'secrets.key');
  let stored = readSecretsKeyFile(path);
  if (stored === undefined) {
    const inUse = await getSecretsKeyId(store);
    const mayReplace = inUse === undefined || inUse === lostSecretsKey;
    if (!mayReplace) throw createSecretsKeyError(`SECRETS_KEY is not set and ${path} is missing`, inUse);
    stored = createKeyFile(path, dataDir);
  }
  const key = Buffer.from(stored.trim(), 'base64');
  if (key.length !== 32) throw new ConfigError(`SECRETS_KEY: ${path} does not contain 32 bytes as base64`);
  return { secretsKey: key, lostSecretsKey, keySource: path };
}

function readSecretsKeyFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function createKeyFile(path: string, dataDir: string): string {
  const key = randomBytes(32).toString('base64');
  const draft = `${path}.${process.pid}`;
  const file = openSync(draft, 'w', 0o600);
  try {
    writeSync(file, `${key}\n`);
    fsyncSync(file);
    linkSync(draft, path);
  } finally {
    closeSync(file);
    rmSync(draft, { force: true });
  }
  const folder = openSync(dataDir, 'r');
  fsyncSync(folder);
  closeSync(folder);
  return key;
}

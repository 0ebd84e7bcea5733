import { GrpcServiceServer, PROJECTIONS_PROTO, SHIPMENTS_PROTO } from '@tracking/distributed';
import { loadPlaces } from '@tracking/places';
import type { Position } from '@tracking/ports';
import { type ProjectionOperations, READ_MODEL_LEASE_GROUP, ReadModels } from '@tracking/read-models';
import {
  DEFAULT_PARTITIONS,
  ShipmentEventPublisher,
  ShipmentRecheckJob,
  UpgradeRecheckRequester,
  DueShipmentChecker,
  EventSourcedShipmentService,
  createCachedRuleSettingsReader,
  createEventOperations,
  type ShipmentOperations,
} from '@tracking/shipments';
import {
  connectToEachReplica,
  openEventStoreDb,
  openMessageBrokerOfService,
  openMongoStoreAndLeasesOfService,
  ServiceProcess,
} from '@tracking/service';
import { WorkspaceSettingsStore } from '@tracking/workspace-settings';
import type { ShipmentsConfig } from './config.ts';

/** Milliseconds after the start of an update within which all replicas run the new release. */
const MAX_ROLLING_UPDATE_MS = 600_000;

/**
 * Starts the shipments service. Every replica applies commands to EventStoreDB. The replicas share the leases
 * of the publisher, which sends appended events to Kafka, and of the jobs, which check due shipments.
 */
export async function startShipments(config: ShipmentsConfig): Promise<void> {
  const service = await ServiceProcess.start('shipments', config);
  const { logger, metrics, clock, shutdown } = service;
  const places = await loadPlaces({ file: config.placesFile });

  const eventStore = openEventStoreDb(service, config.eventStoreDb);
  const { documentStore, shares } = openMongoStoreAndLeasesOfService(service, config.mongo);
  const leases = shares.getOrCreateLeaseGroup('shipment_jobs');
  const broker = openMessageBrokerOfService(service, config.kafka);

  const workspaceSettings = await service.retryUntilAvailable(() =>
    WorkspaceSettingsStore.openWorkspaceSettings({ documentStore }),
  );
  const { rechecks } = workspaceSettings;
  const settings = createCachedRuleSettingsReader(workspaceSettings);
  const readModels = await ReadModels.startReadModelsOfProcess({
    eventStore,
    documentStore,
    leases,
    clock,
    logger,
    metrics,
    project: false,
  });
  shutdown.addShutdownStep('read models', () => readModels.stop());
  shutdown.addShutdownStep(
    'progress of read models',
    connectToEachReplica<ProjectionOperations>(
      shares,
      READ_MODEL_LEASE_GROUP,
      { ...config, proto: PROJECTIONS_PROTO, logger, metrics },
      (operations, signal) => readModels.followProjections(operations, signal),
    ),
  );
  const shipments = new EventSourcedShipmentService({ eventStore, places, settings, logger, metrics });
  const { deadlines: workList } = readModels.queries;
  const following = { eventStore, leases, clock, logger, metrics };
  const ruleClock = new DueShipmentChecker({ ...following, shipments, workList });
  void readModels.ready.then(() => ruleClock.job.startJobRounds());
  shutdown.addShutdownStep('clock', () => ruleClock.job.stopJobRounds());
  const deadlinesReached = (position: Position, timeoutMs: number) =>
    readModels.progress.reached('deadlines', position, timeoutMs);
  const recheck = new ShipmentRecheckJob({
    ...following,
    shipments,
    settings,
    rechecks,
    unsettledShipments: workList,
    readModelsReached: deadlinesReached,
    afterUpgrade: new UpgradeRecheckRequester({
      upgradeMs: MAX_ROLLING_UPDATE_MS,
      eventStore,
      rechecks,
      workspaces: workList,
      readModelsReached: deadlinesReached,
    }),
  });
  void readModels.ready.then(() => recheck.job.startJobRounds());
  shutdown.addShutdownStep('re-checks', () => recheck.job.stopJobRounds());
  const publisher = ShipmentEventPublisher.start({
    ...following,
    leases: shares.getOrCreateLeaseGroup('publisher'),
    documentStore,
    broker,
    readModelsContain: readModels.waitForReadModelsOfEvents.bind(readModels),
    partitions: DEFAULT_PARTITIONS,
    addresses: config.addresses,
  });
  shutdown.addShutdownStep('publisher', () => publisher.stop());

  const server = new GrpcServiceServer({ ...config, proto: SHIPMENTS_PROTO, logger, metrics });
  server.setServedGrpcOperations<ShipmentOperations>({
    shipments,
    events: createEventOperations(eventStore, config.addresses),
  });
  await service.retryUntilAvailable(() => eventStore.head());
  await server.listenOnAddress();
  shutdown.addShutdownStep('commands', () => server.drainAndCloseGrpcServer());
  service.markProcessReady({ address: config.address });
}

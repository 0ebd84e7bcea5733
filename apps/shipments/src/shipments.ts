import { GrpcServiceServer, SHIPMENTS } from '@tracking/distributed';
import { loadPlaces } from '@tracking/places';
import type { Position } from '@tracking/ports';
import { ReadModels } from '@tracking/read-models';
import {
  Publisher,
  RecheckJob,
  ReleaseRecheck,
  RuleClock,
  Shipments,
  createEventOperations,
  type ShipmentOperations,
} from '@tracking/shipments';
import { Service, openEventStoreDb, openKafka, openMongo } from '@tracking/service';
import { SettingsOfWorkspaces } from '@tracking/workspace-settings';
import type { ShipmentsConfig } from './config.ts';

/** Milliseconds after the start of an update within which all replicas run the new release. */
const UPGRADE_PERIOD_MS = 600_000;

/**
 * Starts the shipments service. Every replica applies commands to EventStoreDB. The replica that holds the lease
 * publishes appended events to Kafka and checks due shipments.
 */
export async function startShipments(config: ShipmentsConfig): Promise<void> {
  const service = await Service.start('shipments', config);
  const { logger, metrics, clock, shutdown } = service;
  const places = await loadPlaces({ file: config.placesFile });

  const eventStore = openEventStoreDb(service, config.eventStoreDb);
  const { documentStore, leases } = openMongo(service, config.mongo);
  const broker = openKafka(service, config.kafka);

  const settings = await service.retryUntilAvailable(() => SettingsOfWorkspaces.open({ documentStore }));
  const readModels = await ReadModels.start({
    eventStore,
    documentStore,
    leases,
    clock,
    logger,
    metrics,
    project: false,
  });
  shutdown.add('read models', () => readModels.stop());
  const shipments = new Shipments({ eventStore, places, settings, logger, metrics });
  const { deadlines: workList } = readModels.queries;
  const following = { eventStore, leases, clock, logger, metrics };
  const ruleClock = new RuleClock({ ...following, shipments, workList });
  void readModels.ready.then(() => ruleClock.job.start());
  shutdown.add('clock', () => ruleClock.job.stop());
  const deadlinesReached = (position: Position, timeoutMs: number) =>
    readModels.progress.reached('deadlines', position, timeoutMs);
  const recheck = new RecheckJob({
    ...following,
    shipments,
    settings,
    rechecks: settings.rechecks,
    unsettledShipments: workList,
    readModelsReached: deadlinesReached,
    afterRelease: new ReleaseRecheck({
      upgradeMs: UPGRADE_PERIOD_MS,
      eventStore,
      rechecks: settings.rechecks,
      workspaces: workList,
      readModelsReached: deadlinesReached,
    }),
  });
  void readModels.ready.then(() => recheck.job.start());
  shutdown.add('re-checks', () => recheck.job.stop());
  const readModelsReached = (position: Position, timeoutMs: number) =>
    readModels.waitForAllReadModels(position, timeoutMs);
  const publisher = Publisher.start({
    ...following,
    documentStore,
    broker,
    readModelsReached,
    addresses: config.addresses,
  });
  shutdown.add('publisher', () => publisher.stop());

  const server = new GrpcServiceServer({ ...config, proto: SHIPMENTS, logger, metrics });
  server.serve<ShipmentOperations>({
    shipments,
    events: createEventOperations(eventStore, config.addresses),
  });
  await service.retryUntilAvailable(() => eventStore.head());
  await server.listen();
  shutdown.add('commands', () => server.close());
  service.markReady({ address: config.address });
}

import { GrpcServiceServer, PROJECTIONS_PROTO } from '@tracking/distributed';
import {
  DEFAULT_PARTITIONS,
  type ProjectionOperations,
  READ_MODEL_LEASE_GROUP,
  ReadModels,
} from '@tracking/read-models';
import { ServiceProcess, openEventStoreDb, openMongoStoreAndLeasesOfService } from '@tracking/service';
import type { ProjectionsConfig } from './config.ts';

/**
 * Milliseconds after which a connection is renewed. Followers connect to each replica by its own address, so they need
 * not look up replicas again.
 */
const CONNECTION_AGE_MS = 86_400_000;

/**
 * Starts the projections service. The replicas share the projections of events of EventStoreDB into the read models in
 * MongoDB, and report their progress to the services that query them.
 */
export async function startProjections(config: ProjectionsConfig): Promise<void> {
  const service = await ServiceProcess.start('projections', config);
  const { logger, metrics, clock, shutdown } = service;

  const eventStore = openEventStoreDb(service, config.eventStoreDb);
  const { documentStore, shares } = openMongoStoreAndLeasesOfService(service, config.mongo, config);

  const { eventRetentionMs } = config;
  const leases = shares.getOrCreateLeaseGroup(READ_MODEL_LEASE_GROUP);
  const following = { eventStore, documentStore, leases, clock, logger, metrics };
  // Processes of earlier releases query read models only while these have one partition.
  const partitions = { count: DEFAULT_PARTITIONS, canLeaveSinglePartition: () => shares.followsPartitions };
  const readModels = await ReadModels.startReadModelsOfProcess({ ...following, eventRetentionMs, partitions });
  shutdown.addShutdownStep('read models', () => readModels.stop());

  const limits = { connectionAgeMs: CONNECTION_AGE_MS };
  const server = new GrpcServiceServer({ ...config, proto: PROJECTIONS_PROTO, logger, metrics, limits });
  server.setServedGrpcOperations<ProjectionOperations>(readModels.operations);
  await server.listenOnAddress();
  shutdown.addShutdownStep('progress', () => server.drainAndCloseGrpcServer());
  await readModels.ready;
  service.markProcessReady({ address: config.address });
}

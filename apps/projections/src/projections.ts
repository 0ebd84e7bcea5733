import { ReadModels } from '@tracking/read-models';
import { Service, openEventStoreDb, openMongo } from '@tracking/service';
import type { ProjectionsConfig } from './config.ts';

/**
 * Starts the projections service. The replicas that hold the leases project events of EventStoreDB into the read models
 * in MongoDB.
 */
export async function startProjections(config: ProjectionsConfig): Promise<void> {
  const service = await Service.start('projections', config);
  const { logger, metrics, clock, shutdown } = service;

  const eventStore = openEventStoreDb(service, config.eventStoreDb);
  const { documentStore, leases } = openMongo(service, config.mongo);

  const { eventRetentionMs } = config;
  const following = { eventStore, documentStore, leases, clock, logger, metrics };
  const readModels = await ReadModels.start({ ...following, eventRetentionMs });
  shutdown.add('read models', () => readModels.stop());
  await readModels.ready;
  service.markReady();
}

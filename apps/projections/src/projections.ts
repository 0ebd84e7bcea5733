import { EventStoreDbEventStore, MongoConnection, MongoDocumentStore, MongoLeases } from '@tracking/distributed';
import { ReadModels } from '@tracking/read-models';
import { Service } from '@tracking/service';
import type { ProjectionsConfig } from './config.ts';

/** What was appended to EventStoreDB, to the read models in MongoDB, by whichever replica holds the leases. */
export async function startProjections(config: ProjectionsConfig): Promise<void> {
  const service = await Service.start('projections', config);
  const { logger, metrics, clock, shutdown } = service;

  const eventStore = new EventStoreDbEventStore({ ...config.eventStoreDb, logger, metrics });
  shutdown.add('event store', () => eventStore.close());
  const connection = new MongoConnection({ ...config.mongo, metrics });
  shutdown.add('document store', () => connection.close());
  const documentStore = new MongoDocumentStore(connection);
  const leases = new MongoLeases(documentStore);
  shutdown.add('leases', () => leases.close());
  service.watch('event store', () => eventStore.head());
  service.watch('document store', () => connection.ping());

  const readModels = await ReadModels.start({ eventStore, documentStore, leases, clock, logger, metrics });
  shutdown.add('read models', () => readModels.stop());
  await readModels.ready;
  service.ready();
}

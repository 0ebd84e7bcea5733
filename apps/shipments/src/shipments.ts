import { SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import {
  EventStoreDbEventStore,
  GrpcCommandServer,
  KafkaMessageBroker,
  MongoConnection,
  MongoDocumentStore,
  MongoLeases,
} from '@tracking/distributed';
import { loadPlaces } from '@tracking/places';
import type { Position } from '@tracking/ports';
import { ReadModels } from '@tracking/read-models';
import {
  Publisher,
  Shipments,
  eventBodies,
  eventTransfer,
  serveEventBodies,
  serveEventTransfer,
  serveHead,
  serveShipments,
} from '@tracking/shipments';
import { Service } from '@tracking/service';
import type { ShipmentsConfig } from './config.ts';

/** Commands to EventStoreDB; what was appended to Kafka, by whichever replica holds the lease. */
export async function startShipments(config: ShipmentsConfig): Promise<void> {
  const service = await Service.start('shipments', config);
  const { logger, metrics, clock, shutdown } = service;
  const places = await loadPlaces({ file: config.placesFile });

  // Engines
  const eventStore = new EventStoreDbEventStore({ ...config.eventStoreDb, logger, metrics });
  shutdown.add('event store', () => eventStore.close());
  const connection = new MongoConnection({ ...config.mongo, metrics });
  shutdown.add('document store', () => connection.close());
  const documentStore = new MongoDocumentStore(connection);
  const leases = new MongoLeases(documentStore);
  shutdown.add('leases', () => leases.close());
  const broker = new KafkaMessageBroker({ ...config.kafka, logger, metrics });
  shutdown.add('message broker', () => broker.close());
  service.watch('event store', () => eventStore.head());
  service.watch('document store', () => connection.ping());
  service.watch('message broker', () => broker.produced(SHIPMENT_EVENTS_TOPIC.name));

  // Features
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
  const readModelsReached = (position: Position, timeoutMs: number) => readModels.allReached(position, timeoutMs);
  const engines = { eventStore, documentStore, broker, leases };
  const publisher = Publisher.start({ ...engines, clock, logger, metrics, readModelsReached, appUrl: config.appUrl });
  shutdown.add('publisher', () => publisher.stop());

  // Edge
  const server = new GrpcCommandServer({ ...config, logger, metrics });
  serveShipments(server, new Shipments({ eventStore, places, logger, metrics }));
  serveEventBodies(server, eventBodies({ eventStore, appUrl: config.appUrl }));
  serveEventTransfer(server, eventTransfer(eventStore));
  serveHead(server, eventStore);
  await service.patiently(() => eventStore.head());
  await server.listen();
  shutdown.add('commands', () => server.close());
  service.ready({ address: config.address });
}

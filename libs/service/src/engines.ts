import { SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import {
  EventStoreDbEventStore,
  KafkaMessageBroker,
  MongoConnection,
  MongoDocumentStore,
  MongoLeases,
  type EventStoreDbOptions,
  type KafkaOptions,
} from '@tracking/distributed';
import type { Service } from './service.ts';

/** Watched from here on, and closed when the service stops, after everything that is started later. */
export function openEventStoreDb(service: Service, options: EventStoreDbOptions): EventStoreDbEventStore {
  const { logger, metrics, shutdown } = service;
  const eventStore = new EventStoreDbEventStore({ ...options, logger, metrics });
  shutdown.add('event store', () => eventStore.close());
  service.watch('event store', () => eventStore.head());
  return eventStore;
}

/** The same, with the leases that are kept there. */
export function openMongo(service: Service, options: { readonly url: string }) {
  const { metrics, shutdown } = service;
  const connection = new MongoConnection({ ...options, metrics });
  shutdown.add('document store', () => connection.close());
  const documentStore = new MongoDocumentStore(connection);
  const leases = new MongoLeases(documentStore, metrics);
  shutdown.add('leases', () => leases.close());
  service.watch('document store', () => connection.ping());
  return { connection, documentStore, leases };
}

/** The same. */
export function openKafka(service: Service, options: KafkaOptions): KafkaMessageBroker {
  const { logger, metrics, shutdown } = service;
  const broker = new KafkaMessageBroker({ ...options, logger, metrics });
  shutdown.add('message broker', () => broker.close());
  service.watch('message broker', () => broker.check(SHIPMENT_EVENTS_TOPIC.name));
  return broker;
}

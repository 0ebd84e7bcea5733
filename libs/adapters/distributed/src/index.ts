export { KafkaMessageBroker, type KafkaMessageBrokerOptions } from './kafka/kafka-message-broker.ts';
export type { KafkaLimits, KafkaOptions, KafkaSasl } from './kafka/kafka-options.ts';
export { MongoConnection, type MongoOptions } from './mongodb/mongo-connection.ts';
export { MongoDocumentStore } from './mongodb/mongo-document-store.ts';
export { MongoLeases } from './mongodb/mongo-leases.ts';
export { MongoQuota } from './mongodb/mongo-quota.ts';

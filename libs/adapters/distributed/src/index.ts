export { EventStoreDbEventStore, type EventStoreDbEventStoreOptions } from './eventstoredb/eventstoredb-event-store.ts';
export type {
  EventStoreDbCredentials,
  EventStoreDbLimits,
  EventStoreDbOptions,
} from './eventstoredb/eventstoredb-options.ts';
export { GrpcServiceChannel, type GrpcServiceChannelOptions } from './grpc/grpc-service-channel.ts';
export { GrpcServiceServer, type GrpcServiceServerOptions } from './grpc/grpc-service-server.ts';
export type { GrpcLimits, GrpcServerTls, GrpcTls } from './grpc/grpc-options.ts';
export { SHIPMENTS, WEBHOOKS, operationsOf, type ServiceProto } from './grpc/service-protos.ts';
export { KafkaMessageBroker, type KafkaMessageBrokerOptions } from './kafka/kafka-message-broker.ts';
export type { KafkaLimits, KafkaOptions, KafkaSasl } from './kafka/kafka-options.ts';
export { GridfsObjectStore } from './mongodb/gridfs-object-store.ts';
export { MongoConnection, type MongoOptions } from './mongodb/mongo-connection.ts';
export { MongoDocumentStore } from './mongodb/mongo-document-store.ts';
export { MongoLeases } from './mongodb/mongo-leases.ts';
export { MongoQuota } from './mongodb/mongo-quota.ts';

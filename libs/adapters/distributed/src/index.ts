export { EventStoreDbEventStore } from './eventstoredb/eventstoredb-event-store.ts';
export type { EventStoreDbOptions } from './eventstoredb/node-client.ts';
export { type FindRoutingKey, GrpcServiceChannel } from './grpc/grpc-service-channel.ts';
export { GrpcServiceServer } from './grpc/grpc-service-server.ts';
export type { GrpcServerTls, GrpcClientTls } from './grpc/grpc-options.ts';
export {
  listProtoOperations,
  type Parts,
  PROJECTIONS_PROTO,
  type GrpcServiceProtoFile,
  SHIPMENTS_PROTO,
  WEBHOOKS_PROTO,
} from './grpc/service-protos.ts';
export { KafkaMessageBroker } from './kafka/kafka-message-broker.ts';
export type { KafkaOptions, KafkaSasl } from './kafka/kafka-client.ts';
export { GridfsObjectStore } from './mongodb/gridfs-object-store.ts';
export { type LeaseClock, SYSTEM_LEASE_CLOCK } from './mongodb/held-lease.ts';
export { LeaseMemberObserver } from './mongodb/lease-members.ts';
export { MongoConnection } from './mongodb/mongo-connection.ts';
export { MongoDocumentStore } from './mongodb/mongo-document-store.ts';
export { MongoLeases } from './mongodb/mongo-leases.ts';
export { checkMongoServerAccess } from './mongodb/server-access.ts';
export { MongoQuota, QUOTA_COLLECTION_SPEC } from './mongodb/mongo-quota.ts';

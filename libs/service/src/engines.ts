import { hostname } from 'node:os';
import { type PublicAddresses, SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import {
  checkMongoServerAccess,
  EventStoreDbEventStore,
  type EventStoreDbOptions,
  type GrpcServerTls,
  type GrpcClientTls,
  KafkaMessageBroker,
  type KafkaOptions,
  type KafkaSasl,
  MongoConnection,
  MongoDocumentStore,
  MongoLeases,
} from '@tracking/distributed';
import { LeaseDistributor } from '@tracking/resilience';
import { ConfigError, type ConfigReader, type SecretsKeySettings } from '@tracking/runtime';
import { findHostNameOfCertificate } from './replica-channels.ts';
import type { ServiceProcess } from './service.ts';

/** Opens the event store. The service watches it, and closes it after all components that start later. */
export function openEventStoreDb(service: ServiceProcess, options: EventStoreDbOptions): EventStoreDbEventStore {
  const { logger, metrics, shutdown } = service;
  const eventStore = new EventStoreDbEventStore({ ...options, logger, metrics });
  shutdown.addShutdownStep('event store', () => eventStore.close());
  service.addEngineReadinessCheck('event store', () => eventStore.head());
  service.stopProcessIfEngineRefuses('EVENTSTOREDB_URL', () => eventStore.checkEventStoreAccess());
  return eventStore;
}

/**
 * Opens the document store and its leases, which replicas share. The service watches the store, and closes both after
 * all components that start later.
 * @param reached address `host:port` at which other processes reach this one, and its certificate
 */
export function openMongoStoreAndLeasesOfService(
  service: ServiceProcess,
  options: { readonly url: string },
  reached: { readonly advertisedAddress?: string; readonly tls?: GrpcServerTls } = {},
) {
  const { logger, metrics, shutdown } = service;
  const connection = new MongoConnection({ ...options, metrics, failsFast: true });
  shutdown.addShutdownStep('document store', () => connection.closeConnection());
  const documentStore = new MongoDocumentStore(connection);
  const leases = new MongoLeases(documentStore, metrics);
  shutdown.addShutdownStep('leases', () => leases.close());
  service.addEngineReadinessCheck('document store', () => connection.pingDatabase());
  service.stopProcessIfEngineRefuses('MONGODB_URL', () => checkMongoServerAccess(connection));
  const { advertisedAddress: address, tls } = reached;
  const tlsName = address === undefined || tls === undefined ? undefined : findHostNameOfCertificate(tls);
  const member = {
    name: `${service.name}@${hostname()}:${process.pid}`,
    ...(address !== undefined && { address }),
    ...(tlsName !== undefined && { tlsName }),
    ...(service.release !== undefined && { release: service.release }),
    followsPartitions: true as const,
  };
  const shares = new LeaseDistributor({ leases, member, logger, metrics });
  service.health.setLeaseReportProvider(() => shares.getLeaseShareReports());
  return { connection, documentStore, leases, shares };
}

/** Opens the message broker. The service watches it, and closes it after all components that start later. */
export function openMessageBrokerOfService(service: ServiceProcess, options: KafkaOptions): KafkaMessageBroker {
  const { logger, metrics, shutdown } = service;
  const broker = new KafkaMessageBroker({ ...options, logger, metrics });
  shutdown.addShutdownStep('message broker', () => broker.close());
  service.addEngineReadinessCheck('message broker', () => broker.checkHealth(SHIPMENT_EVENTS_TOPIC.name));
  return broker;
}

/** @throws ConfigError */
export function readEventStoreDbSettings(read: ConfigReader): EventStoreDbOptions {
  return { url: read.readRequiredSetting('EVENTSTOREDB_URL') };
}

/** @throws ConfigError */
export function readMongoSettings(read: ConfigReader): { readonly url: string } {
  return { url: read.readRequiredSetting('MONGODB_URL') };
}

/**
 * Reads the settings of the Kafka client.
 * @param clientId name of the process in the brokers' logs and quotas
 * @throws ConfigError
 */
export function readKafkaSettings(read: ConfigReader, clientId: string): KafkaOptions {
  const mechanism = read.readSetting('KAFKA_SASL_MECHANISM');
  const ca = read.readSetting('KAFKA_TLS_CA');
  const replicas = read.readSetting('KAFKA_REPLICATION_FACTOR', '0');
  return {
    brokers: read.readRequiredSetting('KAFKA_BROKERS'),
    clientId,
    topicPrefix: read.readSetting('KAFKA_TOPIC_PREFIX'),
    tls: read.readSetting('KAFKA_TLS') && (ca === undefined ? true : { ca }),
    ...(mechanism !== undefined && { sasl: readSaslSettings(read, mechanism) }),
    ...(replicas > 0 && { replicationFactor: replicas }),
  };
}

function readSaslSettings(read: ConfigReader, mechanism: KafkaSasl['mechanism']): KafkaSasl {
  return {
    mechanism,
    username: read.readRequiredSetting('KAFKA_SASL_USERNAME'),
    password: read.readRequiredSetting('KAFKA_SASL_PASSWORD'),
  };
}

/** Reads the token with which services authenticate to each other. @throws ConfigError */
export function readServicesToken(read: ConfigReader): string {
  return read.readRequiredSetting('SERVICES_TOKEN');
}

/** @throws ConfigError */
export function readSecretsKeySettings(read: ConfigReader): SecretsKeySettings {
  const secretsKey = read.readSetting('SECRETS_KEY');
  if (secretsKey === undefined) {
    throw new ConfigError('SECRETS_KEY: expected 32 bytes as base64, the same for all services');
  }
  return { secretsKey, lostSecretsKey: read.readSetting('SECRETS_KEY_LOST') };
}

/**
 * Reads the TLS settings for calls to other services. Calls use TLS if a certificate authority is set.
 * @throws ConfigError
 */
export function readClientTls(read: ConfigReader): { readonly tls?: GrpcClientTls } {
  const ca = read.readSetting('SERVICES_TLS_CA');
  const certificate = readServiceCertificateSettings(read);
  return ca === undefined ? {} : { tls: { ca, ...certificate } };
}

/**
 * Reads the TLS settings for incoming calls. With a certificate, a service accepts only TLS calls. With
 * `SERVICES_TLS_CA`, callers also need a certificate that it signed. @throws ConfigError
 */
export function readServerTls(read: ConfigReader): { readonly tls?: GrpcServerTls } {
  const ca = read.readSetting('SERVICES_TLS_CA');
  const own = readServiceCertificateSettings(read);
  return own === undefined ? {} : { tls: { ...own, ...(ca !== undefined && { ca }) } };
}

function readServiceCertificateSettings(
  read: ConfigReader,
): { readonly cert: string; readonly key: string } | undefined {
  const cert = read.readSetting('SERVICES_TLS_CERT');
  const key = read.readSetting('SERVICES_TLS_KEY');
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    throw new ConfigError('SERVICES_TLS_CERT and SERVICES_TLS_KEY: set both or neither');
  }
  return { cert, key };
}

/** Reads the public addresses of the gateway. All services have the same addresses. */
export function readPublicUrlSettings(read: ConfigReader): PublicAddresses {
  const baseUrl = read.readSetting('BASE_URL', 'http://127.0.0.1:3000');
  return { baseUrl, appUrl: read.readSetting('APP_URL', baseUrl) };
}

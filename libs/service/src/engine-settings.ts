import type { EventStoreDbOptions, GrpcServerTls, GrpcTls, KafkaOptions, KafkaSasl } from '@tracking/distributed';
import { ConfigError, type ConfigReader, type SecretsKeySettings } from '@tracking/runtime';

const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
/** Shorter ones can be guessed. */
const LEAST_TOKEN_LENGTH = 32;

/** @throws ConfigError */
export function eventStoreDbSettings(read: ConfigReader): EventStoreDbOptions {
  return { url: read.required('EVENTSTOREDB_URL') };
}

/** @throws ConfigError */
export function mongoSettings(read: ConfigReader): { readonly url: string } {
  return { url: read.required('MONGODB_URL') };
}

/**
 * @param clientId name of the process in the brokers' logs and quotas
 * @throws ConfigError
 */
export function kafkaSettings(read: ConfigReader, clientId: string): KafkaOptions {
  read.required('KAFKA_BROKERS');
  const mechanism = read.optional('KAFKA_SASL_MECHANISM');
  const ca = read.optional('KAFKA_TLS_CA');
  const replicas = read.integer('KAFKA_REPLICATION_FACTOR', 0, 0, 100);
  return {
    brokers: read.list('KAFKA_BROKERS'),
    clientId,
    topicPrefix: read.string('KAFKA_TOPIC_PREFIX', ''),
    tls: read.boolean('KAFKA_TLS', false) && (ca === undefined ? true : { ca }),
    ...(mechanism !== undefined && { sasl: saslSettings(read) }),
    ...(replicas > 0 && { replicationFactor: replicas }),
  };
}

function saslSettings(read: ConfigReader): KafkaSasl {
  return {
    mechanism: read.oneOf('KAFKA_SASL_MECHANISM', SASL_MECHANISMS, 'plain'),
    username: read.required('KAFKA_SASL_USERNAME'),
    password: read.required('KAFKA_SASL_PASSWORD'),
  };
}

/** What the services tell each other apart from strangers by. @throws ConfigError */
export function channelToken(read: ConfigReader): string {
  return secret(read, 'SERVICES_TOKEN');
}

/** A text that nobody guesses. @throws ConfigError, never showing it */
export function secret(read: ConfigReader, name: string): string {
  const token = read.required(name);
  if (token.length < LEAST_TOKEN_LENGTH) {
    throw new ConfigError(`${name}: expected at least ${LEAST_TOKEN_LENGTH} characters`);
  }
  return token;
}

/** @throws ConfigError */
export function secretsKeySettings(read: ConfigReader): SecretsKeySettings {
  const secretsKey = read.bytes('SECRETS_KEY', 32);
  if (secretsKey === undefined) {
    throw new ConfigError('SECRETS_KEY: expected 32 bytes as base64, the same for all services');
  }
  return { secretsKey, lostSecretsKey: read.optional('SECRETS_KEY_LOST') };
}

/**
 * Where a service's replicas are: `host:port`, of which all addresses are called in turn, or any name that gRPC knows.
 * @throws ConfigError
 */
export function serviceAddress(read: ConfigReader, name: string): string {
  const text = read.required(name);
  if (/^(dns|ipv4|ipv6|unix):/.test(text)) return text;
  if (/^[^\s/@]+:\d{1,5}$/.test(text)) return `dns:///${text}`;
  throw new ConfigError(`${name}: expected host:port, got ${JSON.stringify(text)}`);
}

/** Calls to the services go by TLS where it is known who signs their certificates. @throws ConfigError */
export function callerTls(read: ConfigReader): { readonly tls?: GrpcTls } {
  const ca = read.optional('SERVICES_TLS_CA');
  const own = ownCertificate(read);
  return ca === undefined ? {} : { tls: { ca, ...own } };
}

/** With a certificate a service takes calls by TLS only; with `SERVICES_TLS_CA`, from those that it signed. @throws ConfigError */
export function serverTls(read: ConfigReader): { readonly tls?: GrpcServerTls } {
  const ca = read.optional('SERVICES_TLS_CA');
  const own = ownCertificate(read);
  return own === undefined ? {} : { tls: { ...own, ...(ca !== undefined && { ca }) } };
}

function ownCertificate(read: ConfigReader): { readonly cert: string; readonly key: string } | undefined {
  const cert = read.optional('SERVICES_TLS_CERT');
  const key = read.optional('SERVICES_TLS_KEY');
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    throw new ConfigError('SERVICES_TLS_CERT and SERVICES_TLS_KEY: expected both or none');
  }
  return { cert, key };
}

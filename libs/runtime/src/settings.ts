import { DISK_RESERVE, LIMIT_SETTINGS } from './limit-settings.ts';
import { LOG_LEVELS } from './logging.ts';
import {
  parseBoolean,
  bytes,
  parseCidrs,
  parseDuration,
  parseEmail,
  parseInteger,
  list,
  parseOneOf,
  parsePort,
  parseSecret,
  parseServiceAddress,
  type SettingType,
  parseText,
  parseUrl,
} from './setting-types.ts';

/** Name of a program that reads settings; `compose` stands for Docker Compose, `services` for `npm run services`. */
export type Program =
  'standalone' | 'gateway' | 'shipments' | 'projections' | 'webhooks' | 'setup' | 'cli' | 'services' | 'compose';

export interface SettingDefinition {
  readonly type: SettingType<unknown>;
  /** Default as text. A setting without a default is optional. Programs may override it. */
  readonly default?: string;
  /** Programs that read the setting. */
  readonly programs: readonly Program[];
  /** Purpose of the setting, the same text as in docs/reference/settings.md. */
  readonly for: string;
  /** Description of a default that is not a constant. */
  readonly otherwise?: string;
}

const SERVICE_PROGRAMS = ['gateway', 'shipments', 'projections', 'webhooks', 'setup'] as const;
const KAFKA_PROGRAMS = ['shipments', 'webhooks', 'setup'] as const;
const CALLING_PROGRAMS = ['gateway', 'shipments', 'webhooks'] as const;
const SIGN_IN_PROGRAMS = ['standalone', 'gateway'] as const;
const DELIVERING_PROGRAMS = ['standalone', 'webhooks'] as const;

/** Every setting of every program. The readers, the check for misspelled names and the documentation use this table. */
export const SETTINGS = {
  ADMINISTRATION_TOKEN: {
    type: parseSecret(32),
    programs: ['gateway', 'cli'],
    for: 'token of the command line for the management port; 32 characters or more',
  },
  ADMINISTRATION_URL: {
    type: parseUrl,
    programs: ['cli'],
    for: "URL of a gateway's management port, for the command line",
  },
  ADMIN_EMAIL: {
    type: parseEmail,
    programs: SIGN_IN_PROGRAMS,
    for: 'first admin of the workspace `default`, created if it has none; needs `ADMIN_PASSWORD`',
  },
  ADMIN_PASSWORD: {
    type: parseSecret(10),
    programs: SIGN_IN_PROGRAMS,
    for: 'password of the first admin, 10 to 200 characters',
  },
  API_KEY: { type: parseText, programs: ['cli'], for: 'API key for `listen` and `events resend`' },
  API_PORTS: { type: parseText, programs: ['compose'], default: '3000', for: 'ports on this machine for gateways' },
  APP_URL: {
    type: parseUrl,
    programs: ['standalone', 'gateway', 'shipments', 'webhooks'],
    otherwise: '`BASE_URL`',
    for: 'address of the web application, used in links',
  },
  BASE_URL: {
    type: parseUrl,
    programs: ['standalone', 'gateway', 'shipments', 'webhooks'],
    otherwise: 'from `HOST` and `PORT`; of shipments and webhooks `http://127.0.0.1:3000`',
    for: 'address of the API for clients; set it if `HOST` is `0.0.0.0` or behind a proxy',
  },
  DATA_DIR: {
    type: parseText,
    programs: ['standalone', 'services', 'cli'],
    default: './data',
    for: 'folder for all data; `npm run services` uses `./data/services`',
  },
  DISK_RESERVE,
  ENGINES_DIR: {
    type: parseText,
    programs: ['services'],
    default: '../shared/engines',
    for: 'folder with engines that start without Docker',
  },
  EVENTSTOREDB_URL: {
    type: parseText,
    programs: ['shipments', 'projections', 'services'],
    for: 'EventStoreDB connection string, `esdb://…`, with credentials and options',
  },
  HOST: {
    type: parseText,
    programs: ['standalone', 'gateway', 'shipments', 'webhooks'],
    default: '127.0.0.1',
    for: 'address to listen on',
  },
  KAFKA_BROKERS: { type: list, programs: [...KAFKA_PROGRAMS, 'services'], for: '`host:port`, comma-separated' },
  KAFKA_REPLICATION_FACTOR: {
    type: parseInteger(0, 100),
    programs: KAFKA_PROGRAMS,
    otherwise: "the brokers' default, 1 in Apache Kafka",
    for: 'copies of each topic, set when the topic is created; 3 on a cluster of three brokers',
  },
  KAFKA_SASL_MECHANISM: {
    type: parseOneOf('plain', 'scram-sha-256', 'scram-sha-512'),
    programs: KAFKA_PROGRAMS,
    for: '`plain`, `scram-sha-256` or `scram-sha-512`',
  },
  KAFKA_SASL_PASSWORD: {
    type: parseText,
    programs: KAFKA_PROGRAMS,
    for: 'Kafka password; required with `KAFKA_SASL_MECHANISM`',
  },
  KAFKA_SASL_USERNAME: {
    type: parseText,
    programs: KAFKA_PROGRAMS,
    for: 'Kafka user name; required with `KAFKA_SASL_MECHANISM`',
  },
  KAFKA_TLS: { type: parseBoolean, programs: KAFKA_PROGRAMS, default: 'false', for: 'TLS to the brokers' },
  KAFKA_TLS_CA: { type: parseText, programs: KAFKA_PROGRAMS, for: 'certificate authority of the brokers, as PEM' },
  KAFKA_TOPIC_PREFIX: { type: parseText, programs: KAFKA_PROGRAMS, default: '', for: 'prefix of all topic names' },
  LOG_LEVEL: {
    type: parseOneOf(...LOG_LEVELS),
    programs: ['standalone', ...SERVICE_PROGRAMS],
    default: 'info',
    for: 'log level; logs are JSON lines, or readable lines at a terminal',
  },
  MANAGEMENT_HOST: {
    type: parseText,
    programs: ['standalone', ...SERVICE_PROGRAMS],
    default: '127.0.0.1',
    for: 'address for `/metrics` and the health checks',
  },
  MANAGEMENT_PORT: {
    type: parsePort,
    programs: ['standalone', ...SERVICE_PROGRAMS],
    default: '9464',
    for: 'port for `/metrics` and the health checks',
  },
  MANAGEMENT_PORTS: {
    type: parseText,
    programs: ['compose'],
    default: '9464',
    for: 'ports on this machine for the management ports of gateways',
  },
  ...LIMIT_SETTINGS,
  MONGODB_URL: {
    type: parseText,
    programs: [...SERVICE_PROGRAMS, 'services'],
    for: 'MongoDB connection string, `mongodb://…`; the path names the database, default `tracking`',
  },
  PLACES_FILE: {
    type: parseText,
    programs: ['standalone', 'gateway', 'shipments'],
    for: 'UN/LOCODE code list (CSV from UNECE) that ports are checked against',
  },
  PORT: {
    type: parsePort,
    programs: ['standalone', 'gateway', 'shipments', 'webhooks', 'services'],
    default: '3000',
    for: 'port to listen on; shipments 4001, webhooks 4002',
  },
  RATE_LIMIT_OWNER_FACTOR: {
    type: parseInteger(1, 1_000),
    programs: ['standalone', 'gateway'],
    default: '4',
    for: 'limit for all keys and sessions of one user or service account together, in multiples of `RATE_LIMIT_PER_MINUTE`',
  },
  RATE_LIMIT_PER_MINUTE: {
    type: parseInteger(1, 1_000_000_000),
    programs: ['standalone', 'gateway'],
    default: '1000',
    for: 'maximum number of requests per minute and API key',
  },
  RETENTION_DEAD_LETTERS: {
    type: parseDuration,
    programs: DELIVERING_PROGRAMS,
    default: '90d',
    for: 'retention of dead letters',
  },
  RETENTION_DELIVERIES: {
    type: parseDuration,
    programs: DELIVERING_PROGRAMS,
    default: '30d',
    for: 'retention of succeeded and discarded deliveries; pending deliveries are never deleted',
  },
  RETENTION_EVENTS: {
    type: parseDuration,
    programs: ['standalone', 'gateway', 'projections'],
    default: '30d',
    for: 'retention of events at `/v1/events`; set the same value for all programs',
  },
  SECRETS_KEY: {
    type: bytes(32),
    programs: ['standalone', 'gateway', 'webhooks', 'setup'],
    otherwise: 'standalone creates one in the data folder',
    for: 'key that signs cursors and encrypts secrets at rest; 32 bytes as base64, the same for all programs',
  },
  SECRETS_KEY_LOST: {
    type: parseText,
    programs: ['standalone', 'gateway', 'webhooks', 'setup'],
    for: 'id of a lost key whose secrets are abandoned (see [Secrets key](running.md#secrets-key))',
  },
  SERVICES_TLS_CA: {
    type: parseText,
    programs: CALLING_PROGRAMS,
    for: 'TLS between the services: certificate authority, as PEM; plain text without it',
  },
  SERVICES_TLS_CERT: { type: parseText, programs: CALLING_PROGRAMS, for: 'certificate of the service, as PEM' },
  SERVICES_TLS_KEY: { type: parseText, programs: CALLING_PROGRAMS, for: 'private key of the service, as PEM' },
  SERVICES_TOKEN: {
    type: parseSecret(32),
    programs: CALLING_PROGRAMS,
    for: 'shared token of the services; 32 characters or more',
  },
  SHIPMENTS_URL: {
    type: parseServiceAddress,
    programs: ['gateway', 'webhooks'],
    for: '`host:port` of the service; calls use all addresses of the name in turn',
  },
  SHUTDOWN_DRAIN: {
    type: parseDuration,
    programs: ['standalone', 'gateway'],
    default: '3s',
    for: 'time at [shutdown](running.md#shutdown) in which requests on open connections get a response; at most 8 s',
  },
  TRUSTED_PROXIES: {
    type: parseCidrs,
    programs: ['standalone', 'gateway'],
    default: '',
    for: 'CIDRs of proxies whose `X-Forwarded-*` headers are trusted; without it, all clients of a proxy share one address at the [sign-in](identity.md#sign-in)',
  },
  WEBHOOKS_ALLOWED_CIDRS: {
    type: parseCidrs,
    programs: DELIVERING_PROGRAMS,
    default: '',
    for: 'non-public networks in which receivers are allowed, for development',
  },
  WEBHOOKS_ALLOW_HTTP: {
    type: parseBoolean,
    programs: DELIVERING_PROGRAMS,
    default: 'false',
    for: 'allows `http:` receivers in the networks of `WEBHOOKS_ALLOWED_CIDRS`',
  },
  WEBHOOKS_FAILING_AFTER: {
    type: parseDuration,
    programs: DELIVERING_PROGRAMS,
    default: '1h',
    for: 'time without a success after which the workspace’s other endpoints get `webhook_endpoint.failing`',
  },
  WEBHOOKS_RECOVERY_AFTER: {
    type: parseDuration,
    programs: DELIVERING_PROGRAMS,
    default: '10m',
    for: 'duration of failure after which a 2xx response starts the [recovery](delivery.md#recovery)',
  },
  WEBHOOKS_RETRY_CAP: {
    type: parseDuration,
    programs: DELIVERING_PROGRAMS,
    default: '24h',
    for: 'longest pause of the retry schedule',
  },
  WEBHOOKS_RETRY_FACTOR: {
    type: parseInteger(1, 100),
    programs: DELIVERING_PROGRAMS,
    default: '3',
    for: 'factor between one pause and the next',
  },
  WEBHOOKS_RETRY_FIRST: {
    type: parseDuration,
    programs: DELIVERING_PROGRAMS,
    default: '5s',
    for: 'first pause of the retry schedule',
  },
  WEBHOOKS_RETRY_WINDOW: {
    type: parseDuration,
    programs: DELIVERING_PROGRAMS,
    default: '72h',
    for: 'time from the first attempt to the last',
  },
  WEBHOOKS_TIMEOUT: {
    type: parseDuration,
    programs: [...DELIVERING_PROGRAMS, 'gateway'],
    default: '10s',
    for: 'timeout of an attempt, from name resolution to the last byte',
  },
  WEBHOOKS_URL: {
    type: parseServiceAddress,
    programs: ['gateway'],
    for: '`host:port` of the service; calls use all addresses of the name in turn',
  },
} as const satisfies Readonly<Record<string, SettingDefinition>>;

export type SettingName = keyof typeof SETTINGS;
export type SettingValue<N extends SettingName> = ReturnType<(typeof SETTINGS)[N]['type']>;

/** Type of a setting's value, which includes undefined unless the setting has a default. */
export type OptionalValue<N extends SettingName> =
  SettingValue<N> | ((typeof SETTINGS)[N] extends { readonly default: string } ? never : undefined);

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

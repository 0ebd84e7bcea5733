import { LOG_LEVELS } from './logging.ts';
import {
  boolean,
  bytes,
  cidrs,
  duration,
  email,
  integer,
  list,
  oneOf,
  port,
  secret,
  serviceAddress,
  type SettingType,
  text,
  url,
} from './setting-types.ts';

/** What is configured by environment variables; `compose` is Docker Compose, `services` is `npm run services`. */
export type Program =
  'standalone' | 'gateway' | 'shipments' | 'projections' | 'webhooks' | 'setup' | 'cli' | 'services' | 'compose';

export interface Setting {
  readonly type: SettingType<unknown>;
  /** As it would be given. Without one the setting may be missing; a program may have another default. */
  readonly default?: string;
  /** Who reads it. */
  readonly of: readonly Program[];
  /** What it is for, as docs/reference/settings.md says it. */
  readonly for: string;
  /** The default in words, where it is none that could be given. */
  readonly otherwise?: string;
}

const SERVICES = ['gateway', 'shipments', 'projections', 'webhooks', 'setup'] as const;
const KAFKA = ['shipments', 'webhooks', 'setup'] as const;
const TALKING = ['gateway', 'shipments', 'webhooks'] as const;
const SIGNING_IN = ['standalone', 'gateway'] as const;
const ATTEMPTING = ['standalone', 'webhooks'] as const;

/** Every setting of every program. What is read, taken for misspelt and documented derives from it. */
export const SETTINGS = {
  ADMINISTRATION_TOKEN: {
    type: secret(32),
    of: ['gateway', 'cli'],
    for: 'lets the command line in on the management port; 32 characters or more',
  },
  ADMINISTRATION_URL: { type: url, of: ['cli'], for: 'management port of a gateway, for the command line' },
  ADMIN_EMAIL: {
    type: email,
    of: SIGNING_IN,
    for: 'first admin of the workspace `default`, made where it has none; with `ADMIN_PASSWORD`',
  },
  ADMIN_PASSWORD: { type: secret(10), of: SIGNING_IN, for: 'their password, 10 to 200 characters' },
  API_KEY: { type: text, of: ['cli'], for: 'key of the public API, for `listen` and `events resend`' },
  API_PORTS: { type: text, of: ['compose'], default: '3000', for: 'ports of this machine for gateways' },
  APP_URL: {
    type: url,
    of: ['standalone', 'gateway', 'shipments', 'webhooks'],
    otherwise: '`BASE_URL`',
    for: 'where people reach the web application: links begin with it',
  },
  BASE_URL: {
    type: url,
    of: ['standalone', 'gateway', 'shipments', 'webhooks'],
    otherwise: 'from `HOST` and `PORT`; of shipments and webhooks `http://127.0.0.1:3000`',
    for: 'where clients reach the API: set it when `HOST` is `0.0.0.0` or a proxy stands before it',
  },
  DATA_DIR: {
    type: text,
    of: ['standalone', 'services', 'cli'],
    default: './data',
    for: 'everything that is kept; of `npm run services` `./data/services`',
  },
  ENGINES_DIR: { type: text, of: ['services'], default: '../shared/engines', for: 'engines that start without Docker' },
  EVENTSTOREDB_URL: {
    type: text,
    of: ['shipments', 'projections', 'services'],
    for: '`esdb://…`, with credentials and options',
  },
  HOST: {
    type: text,
    of: ['standalone', 'gateway', 'shipments', 'webhooks'],
    default: '127.0.0.1',
    for: 'where it listens',
  },
  KAFKA_BROKERS: { type: list, of: [...KAFKA, 'services'], for: '`host:port`, comma-separated' },
  KAFKA_REPLICATION_FACTOR: {
    type: integer(0, 100),
    of: KAFKA,
    otherwise: "the brokers', which Apache Kafka ships as 1",
    for: 'copies of topics, 3 on a cluster of three: made with the topic, not changed afterwards',
  },
  KAFKA_SASL_MECHANISM: {
    type: oneOf('plain', 'scram-sha-256', 'scram-sha-512'),
    of: KAFKA,
    for: '`plain`, `scram-sha-256` or `scram-sha-512`',
  },
  KAFKA_SASL_PASSWORD: { type: text, of: KAFKA, for: 'needed with a mechanism' },
  KAFKA_SASL_USERNAME: { type: text, of: KAFKA, for: 'needed with a mechanism' },
  KAFKA_TLS: { type: boolean, of: KAFKA, default: 'false', for: 'TLS to the brokers' },
  KAFKA_TLS_CA: { type: text, of: KAFKA, for: 'who signs their certificates, as PEM' },
  KAFKA_TOPIC_PREFIX: { type: text, of: KAFKA, default: '', for: 'names of topics begin with it' },
  LOG_LEVEL: {
    type: oneOf(...LOG_LEVELS),
    of: ['standalone', ...SERVICES],
    default: 'info',
    for: 'JSON lines; on a terminal one readable line each',
  },
  MANAGEMENT_HOST: {
    type: text,
    of: ['standalone', ...SERVICES],
    default: '127.0.0.1',
    for: 'where `/metrics` and the health checks are',
  },
  MANAGEMENT_PORT: { type: port, of: ['standalone', ...SERVICES], default: '9464', for: 'the same' },
  MANAGEMENT_PORTS: {
    type: text,
    of: ['compose'],
    default: '9464',
    for: 'ports of this machine for the management of gateways',
  },
  MONGODB_URL: {
    type: text,
    of: [...SERVICES, 'services'],
    for: '`mongodb://…`; the database is the one in its path, `tracking` without one',
  },
  PLACES_FILE: {
    type: text,
    of: ['standalone', 'gateway', 'shipments'],
    for: 'a UN/LOCODE code list (CSV as UNECE publishes it) to check ports against',
  },
  PORT: {
    type: port,
    of: ['standalone', 'gateway', 'shipments', 'webhooks', 'services'],
    default: '3000',
    for: 'where it listens; of shipments 4001, of webhooks 4002',
  },
  RATE_LIMIT_PER_MINUTE: {
    type: integer(1, 1_000_000_000),
    of: ['standalone', 'gateway'],
    default: '1000',
    for: 'requests per key',
  },
  RETENTION_DEAD_LETTERS: { type: duration, of: ATTEMPTING, default: '90d', for: 'how long dead letters are kept' },
  RETENTION_DELIVERIES: {
    type: duration,
    of: ATTEMPTING,
    default: '30d',
    for: 'how long deliveries that came to another end are kept; pending ones never go',
  },
  RETENTION_EVENTS: {
    type: duration,
    of: ['standalone', 'gateway', 'projections'],
    default: '30d',
    for: 'how long `/v1/events` answers what happened; the same on all',
  },
  SECRETS_KEY: {
    type: bytes(32),
    of: ['standalone', 'gateway', 'webhooks', 'setup'],
    otherwise: 'standalone makes one in the data folder',
    for: 'signs cursors, encrypts secrets at rest; 32 bytes as base64, the same on all',
  },
  SECRETS_KEY_LOST: {
    type: text,
    of: ['standalone', 'gateway', 'webhooks', 'setup'],
    for: 'accepts that the key of this id is lost (see [Secrets key](running.md#secrets-key))',
  },
  SERVICES_TLS_CA: {
    type: text,
    of: TALKING,
    for: 'TLS between the services: who signs their certificates, as PEM; plain text without',
  },
  SERVICES_TLS_CERT: { type: text, of: TALKING, for: 'certificate of the service, as PEM' },
  SERVICES_TLS_KEY: { type: text, of: TALKING, for: 'its key, as PEM' },
  SERVICES_TOKEN: {
    type: secret(32),
    of: TALKING,
    for: 'by which the services know each other; 32 characters or more',
  },
  SHIPMENTS_URL: {
    type: serviceAddress,
    of: ['gateway', 'webhooks'],
    for: '`host:port`; all addresses of the name are called in turn',
  },
  TRUSTED_PROXIES: {
    type: cidrs,
    of: ['standalone', 'gateway'],
    default: '',
    for: "CIDRs whose `X-Forwarded-*` are believed: the proxy's, or all who come through it share one address at the [sign-in](identity.md#sign-in)",
  },
  WEBHOOKS_ALLOWED_CIDRS: {
    type: cidrs,
    of: ATTEMPTING,
    default: '',
    for: 'receivers on these addresses although they are not public, for development',
  },
  WEBHOOKS_ALLOW_HTTP: { type: boolean, of: ATTEMPTING, default: 'false', for: '`http:` receivers, only inside those' },
  WEBHOOKS_FAILING_AFTER: {
    type: duration,
    of: ATTEMPTING,
    default: '1h',
    for: 'the workspace’s other endpoints are told of one without a success for so long',
  },
  WEBHOOKS_RECOVERY_AFTER: {
    type: duration,
    of: ATTEMPTING,
    default: '10m',
    for: 'an endpoint that failed for so long gets all that waits, paced, once it answers',
  },
  WEBHOOKS_RETRY_CAP: { type: duration, of: ATTEMPTING, default: '24h', for: 'longest pause of the retry schedule' },
  WEBHOOKS_RETRY_FACTOR: {
    type: integer(1, 100),
    of: ATTEMPTING,
    default: '3',
    for: 'by which each pause is longer than the one before',
  },
  WEBHOOKS_RETRY_FIRST: { type: duration, of: ATTEMPTING, default: '5s', for: 'first pause of the retry schedule' },
  WEBHOOKS_RETRY_WINDOW: { type: duration, of: ATTEMPTING, default: '72h', for: 'from the first attempt to the last' },
  WEBHOOKS_TIMEOUT: {
    type: duration,
    of: [...ATTEMPTING, 'gateway'],
    default: '10s',
    for: 'one attempt, from name resolution to the last byte',
  },
  WEBHOOKS_URL: {
    type: serviceAddress,
    of: ['gateway'],
    for: '`host:port`; all addresses of the name are called in turn',
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof SETTINGS;
export type SettingValue<N extends SettingName> = ReturnType<(typeof SETTINGS)[N]['type']>;

/** What a program answers where the variable is missing: undefined but for those with a default. */
export type OptionalValue<N extends SettingName> =
  SettingValue<N> | ((typeof SETTINGS)[N] extends { readonly default: string } ? never : undefined);

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

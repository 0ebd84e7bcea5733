import { KAFKA_SETTINGS } from './kafka-settings.ts';
import { DISK_RESERVE_SETTING, LIMIT_SETTINGS, RATE_LIMIT_SETTINGS } from './limit-settings.ts';
import { LOG_LEVELS } from './logging.ts';
import { MCP_SETTINGS, MCP_API_ACCESS_SETTINGS } from './mcp-settings.ts';
import {
  parseBoolean,
  createBase64BytesSettingType,
  parseCidrs,
  parseDuration,
  parseEmail,
  parseHostPortAddressSetting,
  createIntegerSettingParser,
  createChoiceSettingType,
  parsePortNumberSetting,
  createSecretSettingType,
  parseServiceAddress,
  type SettingType,
  parseTextSetting,
  parseHttpUrlSetting,
} from './setting-types.ts';

/** Name of a program that reads settings; `compose` stands for Docker Compose, `services` for `npm run services`. */
export type Program = (typeof SERVICE_PROGRAMS)[number] | 'standalone' | 'cli' | 'mcp' | 'services' | 'compose';

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
export const SERVICE_NAMES = ['gateway', 'shipments', 'projections', 'webhooks'] as const;
const PROGRAMS_OFFERING_USER_SIGN_IN = ['standalone', 'gateway'] as const;
const PROGRAMS_THAT_SEND_WEBHOOKS = ['standalone', 'webhooks'] as const;

/** Every setting of every program. The readers, the check for misspelled names and the documentation use this table. */
export const SETTINGS = {
  ADMINISTRATION_TOKEN: {
    type: createSecretSettingType(32),
    programs: ['gateway', 'cli'],
    for: 'token of the command line for the management port; 32 characters or more',
  },
  ADMINISTRATION_URL: {
    type: parseHttpUrlSetting,
    programs: ['cli'],
    for: "URL of a gateway's management port, for the command line",
  },
  ADMIN_EMAIL: {
    type: parseEmail,
    programs: PROGRAMS_OFFERING_USER_SIGN_IN,
    for: 'first admin of the workspace `default`, created if it has none; needs `ADMIN_PASSWORD`',
  },
  ADMIN_PASSWORD: {
    type: createSecretSettingType(10),
    programs: PROGRAMS_OFFERING_USER_SIGN_IN,
    for: 'password of the first admin, 10 to 200 characters',
  },
  ADVERTISED_ADDRESS: {
    type: parseHostPortAddressSetting,
    programs: ['projections', 'webhooks'],
    otherwise: 'from `HOST` and `PORT`; the first network address of the machine if `HOST` is `0.0.0.0`',
    for: '`host:port` at which other processes reach this one',
  },
  API_KEY: { type: parseTextSetting, programs: ['cli'], for: 'API key for `listen` and `events resend`' },
  API_PORTS: {
    type: parseTextSetting,
    programs: ['compose'],
    default: '3000',
    for: 'ports on this machine for gateways',
  },
  APP_URL: {
    type: parseHttpUrlSetting,
    programs: ['standalone', 'gateway', 'shipments', 'webhooks'],
    otherwise: '`BASE_URL`',
    for: 'address of the web application, used in links',
  },
  BASE_URL: {
    type: parseHttpUrlSetting,
    programs: ['standalone', 'gateway', 'shipments', 'webhooks'],
    otherwise: 'from `HOST` and `PORT`; of shipments and webhooks `http://127.0.0.1:3000`',
    for: 'address of the API for clients; set it if `HOST` is `0.0.0.0` or behind a proxy',
  },
  DATA_DIR: {
    type: parseTextSetting,
    programs: ['standalone', 'services', 'cli'],
    default: './data',
    for: 'folder for all data; `npm run services` uses `./data/services`',
  },
  DISK_RESERVE: DISK_RESERVE_SETTING,
  ENGINES_DIR: {
    type: parseTextSetting,
    programs: ['services'],
    default: '../shared/engines',
    for: 'folder with engines that start without Docker',
  },
  EVENTSTOREDB_URL: {
    type: parseTextSetting,
    programs: ['shipments', 'projections', 'services'],
    for: 'EventStoreDB [connection string](#eventstoredb) with hosts, credentials and options',
  },
  HOST: {
    type: parseTextSetting,
    programs: ['standalone', 'gateway', 'shipments', 'projections', 'webhooks', 'mcp'],
    default: '127.0.0.1',
    for: 'address to listen on',
  },
  ...KAFKA_SETTINGS,
  LOG_LEVEL: {
    type: createChoiceSettingType(...LOG_LEVELS),
    programs: ['standalone', ...SERVICE_PROGRAMS, 'mcp'],
    default: 'info',
    for: 'log level; logs are JSON lines, or readable lines at a terminal',
  },
  MANAGEMENT_HOST: {
    type: parseTextSetting,
    programs: ['standalone', ...SERVICE_PROGRAMS, 'mcp'],
    default: '127.0.0.1',
    for: 'address for `/metrics` and the health checks',
  },
  MANAGEMENT_PORT: {
    type: parsePortNumberSetting,
    programs: ['standalone', ...SERVICE_PROGRAMS, 'mcp'],
    default: '9464',
    for: 'port for `/metrics` and the health checks; mcp 9465',
  },
  MANAGEMENT_PORTS: {
    type: parseTextSetting,
    programs: ['compose'],
    default: '9464',
    for: 'ports on this machine for the management ports of gateways',
  },
  ...LIMIT_SETTINGS,
  ...MCP_SETTINGS,
  MONGODB_URL: {
    type: parseTextSetting,
    programs: [...SERVICE_PROGRAMS, 'services'],
    for: 'MongoDB [connection string](#mongodb), `mongodb://…`; the path names the database, default `tracking`',
  },
  PLACES_FILE: {
    type: parseTextSetting,
    programs: ['standalone', 'gateway', 'shipments'],
    for: 'UN/LOCODE code list (CSV from UNECE) that ports are checked against',
  },
  PORT: {
    type: parsePortNumberSetting,
    programs: ['standalone', 'gateway', 'shipments', 'projections', 'webhooks', 'mcp', 'services'],
    default: '3000',
    for: 'port to listen on; shipments 4001, webhooks 4002, projections 4003, mcp 3100',
  },
  ...RATE_LIMIT_SETTINGS,
  RELEASE: {
    type: parseTextSetting,
    programs: SERVICE_PROGRAMS,
    for: 'id of the release, which [orders updates](running.md#updates) on Kubernetes; the image contains it (`RELEASE_FILE`)',
  },
  RETENTION_DEAD_LETTERS: {
    type: parseDuration,
    programs: PROGRAMS_THAT_SEND_WEBHOOKS,
    default: '90d',
    for: 'retention of dead letters',
  },
  RETENTION_DELIVERIES: {
    type: parseDuration,
    programs: PROGRAMS_THAT_SEND_WEBHOOKS,
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
    type: createBase64BytesSettingType(32),
    programs: ['standalone', 'gateway', 'webhooks', 'setup'],
    otherwise: 'standalone creates one in the data folder',
    for: 'key that signs cursors and encrypts secrets at rest; 32 bytes as base64, the same for all programs',
  },
  SECRETS_KEY_LOST: {
    type: parseTextSetting,
    programs: ['standalone', 'gateway', 'webhooks', 'setup'],
    for: 'id of a lost secrets key; for one start, gives up the secrets encrypted with it (see [Secrets key](running.md#secrets-key))',
  },
  SERVICES_TLS_CA: {
    type: parseTextSetting,
    programs: SERVICE_NAMES,
    for: 'TLS between the services: certificate authority, as PEM; plain text without it',
  },
  SERVICES_TLS_CERT: { type: parseTextSetting, programs: SERVICE_NAMES, for: 'certificate of the service, as PEM' },
  SERVICES_TLS_KEY: { type: parseTextSetting, programs: SERVICE_NAMES, for: 'private key of the service, as PEM' },
  SERVICES_TOKEN: {
    type: createSecretSettingType(32),
    programs: SERVICE_NAMES,
    for: 'shared token of the services; 32 characters or more',
  },
  SHIPMENTS_URL: {
    type: parseServiceAddress,
    programs: ['gateway', 'webhooks'],
    for: '`host:port` of the service; calls use all addresses of the name',
  },
  SHUTDOWN_DRAIN: {
    type: parseDuration,
    programs: ['standalone', 'gateway', 'mcp'],
    default: '3s',
    for: 'time at [shutdown](running.md#shutdown) in which requests on open connections get a response; at most 8 s',
  },
  ...MCP_API_ACCESS_SETTINGS,
  TRUSTED_PROXIES: {
    type: parseCidrs,
    programs: ['standalone', 'gateway'],
    default: '',
    for: 'CIDRs of proxies whose `X-Forwarded-*` headers are trusted; without it, all clients of a proxy share one address at the [sign-in](identity.md#sign-in)',
  },
  WEBHOOKS_ALLOWED_CIDRS: {
    type: parseCidrs,
    programs: PROGRAMS_THAT_SEND_WEBHOOKS,
    default: '',
    for: 'non-public networks in which receivers are allowed, for development',
  },
  WEBHOOKS_ALLOW_HTTP: {
    type: parseBoolean,
    programs: PROGRAMS_THAT_SEND_WEBHOOKS,
    default: 'false',
    for: 'allows `http:` receivers in the networks of `WEBHOOKS_ALLOWED_CIDRS`',
  },
  WEBHOOKS_FAILING_AFTER: {
    type: parseDuration,
    programs: PROGRAMS_THAT_SEND_WEBHOOKS,
    default: '1h',
    for: 'time without a success after which the workspace’s other endpoints get `webhook_endpoint.failing`',
  },
  WEBHOOKS_RECOVERY_AFTER: {
    type: parseDuration,
    programs: PROGRAMS_THAT_SEND_WEBHOOKS,
    default: '10m',
    for: 'duration of failure after which a 2xx response starts the [recovery](delivery.md#recovery)',
  },
  WEBHOOKS_RETRY_CAP: {
    type: parseDuration,
    programs: PROGRAMS_THAT_SEND_WEBHOOKS,
    default: '24h',
    for: 'longest pause of the retry schedule',
  },
  WEBHOOKS_RETRY_FACTOR: {
    type: createIntegerSettingParser(1, 100),
    programs: PROGRAMS_THAT_SEND_WEBHOOKS,
    default: '3',
    for: 'factor between one pause and the next',
  },
  WEBHOOKS_RETRY_FIRST: {
    type: parseDuration,
    programs: PROGRAMS_THAT_SEND_WEBHOOKS,
    default: '5s',
    for: 'first pause of the retry schedule',
  },
  WEBHOOKS_RETRY_WINDOW: {
    type: parseDuration,
    programs: PROGRAMS_THAT_SEND_WEBHOOKS,
    default: '72h',
    for: 'time from the first attempt to the last',
  },
  WEBHOOKS_TIMEOUT: {
    type: parseDuration,
    programs: [...PROGRAMS_THAT_SEND_WEBHOOKS, 'gateway'],
    default: '10s',
    for: 'timeout of an attempt, from name resolution to the last byte',
  },
  WEBHOOKS_URL: {
    type: parseServiceAddress,
    programs: ['gateway'],
    for: '`host:port` of the service; calls use all addresses of the name',
  },
} as const satisfies Readonly<Record<string, SettingDefinition>>;

export type SettingName = keyof typeof SETTINGS;
export type SettingValue<N extends SettingName> = ReturnType<(typeof SETTINGS)[N]['type']>;

/** Type of a setting's value, which includes undefined unless the setting has a default. */
export type OptionalValue<N extends SettingName> =
  SettingValue<N> | ((typeof SETTINGS)[N] extends { readonly default: string } ? never : undefined);

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

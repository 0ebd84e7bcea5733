import { hkdfSync } from 'node:crypto';
import { DomainError } from '@tracking/contracts';
import type { ConnectionLimits } from './connection-guard.ts';
import type { ConfigReader } from './config.ts';
import { ConfigError } from './setting-types.ts';

export interface SecretsKeySettings {
  /** Secrets key of 32 bytes. All processes that share secrets have the same key. */
  readonly secretsKey: Uint8Array;
  /** ID of a lost key, which this key replaces. */
  readonly lostSecretsKey: string | undefined;
  /** Name of the setting or file that contains the key; `SECRETS_KEY` by default. */
  readonly keySource?: string;
}

/**
 * Returns the key that encrypts secrets at rest, after checking that the stored secrets use it.
 * @param use starts to use the key; returns the ID of the key in use if the stored secrets use another key
 * @throws ConfigError
 */
export async function deriveCheckedSecretsKey(
  { secretsKey, lostSecretsKey, keySource = 'SECRETS_KEY' }: SecretsKeySettings,
  use: (key: Uint8Array, lost: string | undefined) => Promise<string | undefined>,
): Promise<Uint8Array> {
  const key = deriveKey(secretsKey, 'webhook secrets');
  const inUse = await use(key, lostSecretsKey);
  if (inUse !== undefined) throw createSecretsKeyError(`${keySource} holds a different key`, inUse);
  return key;
}

/**
 * Returns the error for a start that cannot read the stored secrets, with instructions.
 * @param fault description of the problem, as a clause that names the setting
 * @param keyInUse ID of the key that encrypted the stored secrets
 */
export function createSecretsKeyError(fault: string, keyInUse: string): ConfigError {
  return new ConfigError(
    `${fault}, but stored secrets are encrypted with the key ${keyInUse}: restore that key, for example from a backup; if it ` +
      `is lost, start with SECRETS_KEY_LOST=${keyInUse}, then rotate the secrets of the webhook endpoints and set their headers again`,
  );
}

/** Derives a 32-byte key for one purpose, so that data made for one purpose cannot be used for another. */
export function deriveKey(key: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, new Uint8Array(), purpose, 32));
}

/** First admin of the workspace `default`, created if the workspace has none. */
export interface FirstAdminConfig {
  readonly email: string;
  readonly password: string;
}

/**
 * Reads the settings of the first admin; undefined if both are absent. @throws ConfigError if only one of the two is
 * set
 */
export function readFirstAdminConfig(read: ConfigReader): FirstAdminConfig | undefined {
  const [email, password] = [read.readSetting('ADMIN_EMAIL'), read.readSetting('ADMIN_PASSWORD')];
  if (email === undefined && password === undefined) return undefined;
  if (email === undefined) throw new ConfigError('ADMIN_PASSWORD is set but ADMIN_EMAIL is not: set both or neither');
  if (password === undefined)
    throw new ConfigError('ADMIN_EMAIL is set but ADMIN_PASSWORD is not: set both or neither');
  return { email, password };
}

/**
 * Creates the first admin.
 * @param create throws a DomainError for a common password or an e-mail that is already in use
 * @throws ConfigError that names the rejected setting
 */
export async function createFirstAdmin(
  { email, password }: FirstAdminConfig,
  create: (admin: FirstAdminConfig) => Promise<unknown>,
): Promise<void> {
  try {
    await create({ email, password });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const { param = 'email', message = error.message } = error.details[0] ?? {};
    throw new ConfigError(`${param === 'password' ? 'ADMIN_PASSWORD' : 'ADMIN_EMAIL'}: ${message}`, { cause: error });
  }
}

/** Settings of webhook deliveries; durations in milliseconds. */
export interface WebhookConfig {
  /** Networks in which receivers are allowed although they are not public. */
  readonly allowedCidrs: readonly string[];
  /** True if `http:` receivers are allowed in the networks of `allowedCidrs`. */
  readonly allowHttp: boolean;
  readonly firstMs: number;
  readonly factor: number;
  readonly capMs: number;
  readonly windowMs: number;
  readonly timeoutMs: number;
  /**
   * Duration of failure after which an endpoint that responds again receives all pending deliveries at a limited rate.
   */
  readonly recoveryAfterMs: number;
  /** Time without a success after which the workspace's other endpoints are notified that an endpoint is failing. */
  readonly failingAfterMs: number;
  /** Retention of deliveries in the log. */
  readonly retention: { readonly deliveriesMs: number; readonly deadLettersMs: number };
}

/** Reads the settings of webhook deliveries. @throws ConfigError */
export function readWebhookConfig(read: ConfigReader): WebhookConfig {
  return {
    allowedCidrs: read.readSetting('WEBHOOKS_ALLOWED_CIDRS'),
    allowHttp: read.readSetting('WEBHOOKS_ALLOW_HTTP'),
    firstMs: read.readSetting('WEBHOOKS_RETRY_FIRST'),
    factor: read.readSetting('WEBHOOKS_RETRY_FACTOR'),
    capMs: read.readSetting('WEBHOOKS_RETRY_CAP'),
    windowMs: read.readSetting('WEBHOOKS_RETRY_WINDOW'),
    timeoutMs: read.readSetting('WEBHOOKS_TIMEOUT'),
    recoveryAfterMs: read.readSetting('WEBHOOKS_RECOVERY_AFTER'),
    failingAfterMs: read.readSetting('WEBHOOKS_FAILING_AFTER'),
    retention: {
      deliveriesMs: read.readSetting('RETENTION_DELIVERIES'),
      deadLettersMs: read.readSetting('RETENTION_DEAD_LETTERS'),
    },
  };
}

/** Limits that apply to one caller of the service. */
export interface CallerLimitsConfig {
  readonly maxKeysPerOwner: number;
  readonly rateLimitPerMinute: number;
  readonly rateLimitOwnerFactor: number;
  /** Maximum number of bytes of one workspace's documents. */
  readonly storagePerWorkspace: number;
  /** Free bytes of the disk that documents cannot use. */
  readonly diskReserve: number;
  /** Limits of open event streams in one process. */
  readonly eventStreams: {
    readonly maxOpen: number;
    readonly maxPerCredential: number;
    readonly maxPerOwner: number;
    readonly maxPerWorkspace: number;
  };
}

/** @throws ConfigError */
export function readCallerLimitsConfig(read: ConfigReader): CallerLimitsConfig {
  return {
    maxKeysPerOwner: read.readSetting('MAX_API_KEYS_PER_OWNER'),
    rateLimitPerMinute: read.readSetting('RATE_LIMIT_PER_MINUTE'),
    rateLimitOwnerFactor: read.readSetting('RATE_LIMIT_OWNER_FACTOR'),
    storagePerWorkspace: read.readSetting('MAX_STORAGE_PER_WORKSPACE'),
    diskReserve: read.readSetting('DISK_RESERVE'),
    eventStreams: {
      maxOpen: read.readSetting('MAX_EVENT_STREAMS'),
      maxPerCredential: read.readSetting('MAX_EVENT_STREAMS_PER_KEY'),
      maxPerOwner: read.readSetting('MAX_EVENT_STREAMS_PER_OWNER'),
      maxPerWorkspace: read.readSetting('MAX_EVENT_STREAMS_PER_WORKSPACE'),
    },
  };
}

/** Limits of client connections in one process. */
export type ConnectionConfig = Pick<ConnectionLimits, 'maxConnections' | 'maxPerNetwork'>;

/** @throws ConfigError */
export function readConnectionLimitConfig(read: ConfigReader): ConnectionConfig {
  return {
    maxConnections: read.readSetting('MAX_CONNECTIONS'),
    maxPerNetwork: read.readSetting('MAX_CONNECTIONS_PER_NETWORK'),
  };
}

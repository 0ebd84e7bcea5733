import { hkdfSync } from 'node:crypto';
import { DomainError } from '@tracking/contracts';
import type { ConfigReader } from './config.ts';
import { ConfigError } from './setting-types.ts';

export interface SecretsKeySettings {
  /** 32 bytes, the same in every process that shares secrets. */
  readonly secretsKey: Uint8Array;
  /** Id of the key that was lost and that this one takes the place of. */
  readonly lostSecretsKey: string | undefined;
  /** Name of the setting that holds the key; `SECRETS_KEY` by default. */
  readonly keySource?: string;
}

/**
 * The key under which secrets are kept at rest, once it is known to be the one that they are kept under.
 * @param use takes it into use; answers the id of the one in use where that is another one
 * @throws ConfigError
 */
export async function openSealingKey(
  { secretsKey, lostSecretsKey, keySource: keySource = 'SECRETS_KEY' }: SecretsKeySettings,
  use: (key: Uint8Array, lost: string | undefined) => Promise<string | undefined>,
): Promise<Uint8Array> {
  const key = deriveKey(secretsKey, 'webhook secrets');
  const inUse = await use(key, lostSecretsKey);
  if (inUse !== undefined) throw createSecretsKeyError(`${keySource} holds another key`, inUse);
  return key;
}

/**
 * The refusal of a start that could not read the secrets kept at rest, with what to do.
 * @param fault what is wrong, as a clause that names the setting
 * @param keyInUse id of the key that they are sealed with
 */
export function createSecretsKeyError(fault: string, keyInUse: string): ConfigError {
  return new ConfigError(
    `${fault}, while secrets are stored under the key ${keyInUse}: put that one back, from a backup for instance; if it ` +
      `is lost, start with SECRETS_KEY_LOST=${keyInUse}, then rotate the secrets of the webhook endpoints and set their headers again`,
  );
}

/** A key for one purpose, so that nothing made for one can be used for another. 32 bytes. */
export function deriveKey(key: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, new Uint8Array(), purpose, 32));
}

/** The first admin of the workspace `default`, made if it has none. */
export interface FirstAdminConfig {
  readonly email: string;
  readonly password: string;
}

/** Undefined where neither is set. @throws ConfigError also where one is and the other is not */
export function readFirstAdminConfig(read: ConfigReader): FirstAdminConfig | undefined {
  const [email, password] = [read.get('ADMIN_EMAIL'), read.get('ADMIN_PASSWORD')];
  if (email === undefined && password === undefined) return undefined;
  if (email === undefined) throw new ConfigError('ADMIN_PASSWORD is set and ADMIN_EMAIL is not: give both, or none');
  if (password === undefined) throw new ConfigError('ADMIN_EMAIL is set and ADMIN_PASSWORD is not: give both, or none');
  return { email, password };
}

/**
 * Makes the first admin.
 * @param create refuses with a DomainError what no form shows: a password that everybody has, an e-mail that somebody has
 * @throws ConfigError naming the setting that is refused
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

/** Settings of deliveries; durations in milliseconds. */
export interface WebhookConfig {
  /** Receivers on these addresses are allowed although they are not public. */
  readonly allowedCidrs: readonly string[];
  /** `http:` receivers, inside those addresses only. */
  readonly allowHttp: boolean;
  readonly firstMs: number;
  readonly factor: number;
  readonly capMs: number;
  readonly windowMs: number;
  readonly timeoutMs: number;
  /** An endpoint that failed every attempt for so long gets all that waits, paced, as soon as it answers again. */
  readonly recoveryAfterMs: number;
  /** After this time without a success, the workspace's other endpoints are told that an endpoint fails. */
  readonly failingAfterMs: number;
  /** How long the log of deliveries is kept. */
  readonly retention: { readonly deliveriesMs: number; readonly deadLettersMs: number };
}

/** @throws ConfigError */
export function readWebhookConfig(read: ConfigReader): WebhookConfig {
  return {
    allowedCidrs: read.get('WEBHOOKS_ALLOWED_CIDRS'),
    allowHttp: read.get('WEBHOOKS_ALLOW_HTTP'),
    firstMs: read.get('WEBHOOKS_RETRY_FIRST'),
    factor: read.get('WEBHOOKS_RETRY_FACTOR'),
    capMs: read.get('WEBHOOKS_RETRY_CAP'),
    windowMs: read.get('WEBHOOKS_RETRY_WINDOW'),
    timeoutMs: read.get('WEBHOOKS_TIMEOUT'),
    recoveryAfterMs: read.get('WEBHOOKS_RECOVERY_AFTER'),
    failingAfterMs: read.get('WEBHOOKS_FAILING_AFTER'),
    retention: {
      deliveriesMs: read.get('RETENTION_DELIVERIES'),
      deadLettersMs: read.get('RETENTION_DEAD_LETTERS'),
    },
  };
}

import { resolve } from 'node:path';
import {
  ConfigError,
  ConfigReader,
  readFirstAdminConfig,
  readWebhookConfig,
  type EnvironmentVariables,
  type FirstAdminConfig,
  type LogLevel,
  type MisspelledVariable,
  type WebhookConfig,
} from '@tracking/runtime';

/** Settings of the standalone server; docs/reference/settings.md lists them. */
export interface StandaloneConfig {
  readonly host: string;
  readonly port: number;
  /** Where clients reach the API; undefined: where it listens. */
  readonly baseUrl: string | undefined;
  /** Where people reach the web application; undefined: as `baseUrl`. */
  readonly appUrl: string | undefined;
  readonly dataDir: string;
  readonly secretsKey: Uint8Array | undefined;
  /** Id of the key that was lost and that this one takes the place of. */
  readonly lostSecretsKey: string | undefined;
  readonly rateLimitPerMinute: number;
  /** How long published events are kept, in milliseconds. */
  readonly eventRetentionMs: number;
  readonly managementHost: string;
  readonly managementPort: number;
  readonly trustedProxies: readonly string[];
  readonly placesFile: string | undefined;
  readonly logLevel: LogLevel;
  readonly webhooks: WebhookConfig;
  /** Undefined: a one-time link makes them. */
  readonly firstAdmin: FirstAdminConfig | undefined;
  /** Variables that are none of these, and look like one. */
  readonly misspelt: readonly MisspelledVariable[];
}

/** @throws ConfigError naming the variable that is wrong */
export function loadConfig(env: EnvironmentVariables = process.env): StandaloneConfig {
  const read = new ConfigReader(env);
  const settings = {
    host: read.get('HOST'),
    port: read.get('PORT'),
    baseUrl: read.get('BASE_URL'),
    appUrl: read.get('APP_URL'),
    dataDir: resolve(read.get('DATA_DIR')),
    secretsKey: read.get('SECRETS_KEY'),
    lostSecretsKey: read.get('SECRETS_KEY_LOST'),
    rateLimitPerMinute: read.get('RATE_LIMIT_PER_MINUTE'),
    eventRetentionMs: read.get('RETENTION_EVENTS'),
    managementHost: read.get('MANAGEMENT_HOST'),
    managementPort: read.get('MANAGEMENT_PORT'),
    trustedProxies: read.get('TRUSTED_PROXIES'),
    placesFile: read.get('PLACES_FILE'),
    logLevel: read.get('LOG_LEVEL'),
    webhooks: readWebhookConfig(read),
    firstAdmin: readFirstAdminConfig(read),
  };
  return { ...settings, misspelt: read.findMisspelledVariables() };
}

export { ConfigError };

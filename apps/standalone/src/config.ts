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
  type ConnectionConfig,
  readConnectionLimitConfig,
  readCallerLimitsConfig,
  type CallerLimitsConfig,
} from '@tracking/runtime';

/** Settings of the standalone server; docs/reference/settings.md lists them. */
export interface StandaloneConfig extends CallerLimitsConfig {
  readonly host: string;
  readonly port: number;
  /** URL at which clients reach the API; if undefined, the address that the server listens on. */
  readonly baseUrl: string | undefined;
  /** URL at which users reach the web application; if undefined, `baseUrl`. */
  readonly appUrl: string | undefined;
  readonly dataDir: string;
  readonly secretsKey: Uint8Array | undefined;
  /** ID of a lost key, which this key replaces. */
  readonly lostSecretsKey: string | undefined;
  readonly connections: ConnectionConfig;
  /** Milliseconds within which open connections can end in order at shutdown. */
  readonly drainMs: number;
  /** Retention of published events in milliseconds. */
  readonly eventRetentionMs: number;
  readonly managementHost: string;
  readonly managementPort: number;
  readonly trustedProxies: readonly string[];
  readonly placesFile: string | undefined;
  readonly logLevel: LogLevel;
  readonly webhooks: WebhookConfig;
  /** First admin to create; if undefined, a one-time link creates the first admin. */
  readonly firstAdmin: FirstAdminConfig | undefined;
  /** Variables that look like misspelled settings. */
  readonly misspelt: readonly MisspelledVariable[];
}

/** Reads the settings of the standalone server. @throws ConfigError that names the invalid variable */
export function loadConfig(env: EnvironmentVariables = process.env): StandaloneConfig {
  const read = new ConfigReader(env);
  const settings = {
    host: read.readSetting('HOST'),
    port: read.readSetting('PORT'),
    baseUrl: read.readSetting('BASE_URL'),
    appUrl: read.readSetting('APP_URL'),
    dataDir: resolve(read.readSetting('DATA_DIR')),
    secretsKey: read.readSetting('SECRETS_KEY'),
    lostSecretsKey: read.readSetting('SECRETS_KEY_LOST'),
    ...readCallerLimitsConfig(read),
    connections: readConnectionLimitConfig(read),
    drainMs: read.readSetting('SHUTDOWN_DRAIN'),
    eventRetentionMs: read.readSetting('RETENTION_EVENTS'),
    managementHost: read.readSetting('MANAGEMENT_HOST'),
    managementPort: read.readSetting('MANAGEMENT_PORT'),
    trustedProxies: read.readSetting('TRUSTED_PROXIES'),
    placesFile: read.readSetting('PLACES_FILE'),
    logLevel: read.readSetting('LOG_LEVEL'),
    webhooks: readWebhookConfig(read),
    firstAdmin: readFirstAdminConfig(read),
  };
  return { ...settings, misspelt: read.findMisspelledVariables() };
}

export { ConfigError };

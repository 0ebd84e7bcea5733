import { resolve } from 'node:path';
import {
  ConfigError,
  ConfigReader,
  LOG_LEVELS,
  readWebhookConfig,
  type Environment,
  type LogLevel,
  type Misspelt,
  type WebhookConfig,
} from '@tracking/runtime';

/** Settings of the standalone server; README.md lists them. */
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
  readonly managementHost: string;
  readonly managementPort: number;
  readonly trustedProxies: readonly string[];
  readonly placesFile: string | undefined;
  readonly logLevel: LogLevel;
  readonly webhooks: WebhookConfig;
  /** Variables that are none of these, and look like one. */
  readonly misspelt: readonly Misspelt[];
}

/** @throws ConfigError naming the variable that is wrong */
export function loadConfig(env: Environment = process.env): StandaloneConfig {
  const read = new ConfigReader(env);
  const url = (name: string) => (read.optional(name) === undefined ? undefined : read.url(name, ''));
  const settings = {
    host: read.string('HOST', '127.0.0.1'),
    port: read.integer('PORT', 3000, 0, 65535),
    baseUrl: url('BASE_URL'),
    appUrl: url('APP_URL'),
    dataDir: resolve(read.string('DATA_DIR', './data')),
    secretsKey: read.bytes('SECRETS_KEY', 32),
    lostSecretsKey: read.optional('SECRETS_KEY_LOST'),
    rateLimitPerMinute: read.integer('RATE_LIMIT_PER_MINUTE', 1000, 1, 1_000_000_000),
    managementHost: read.string('MANAGEMENT_HOST', '127.0.0.1'),
    managementPort: read.integer('MANAGEMENT_PORT', 9464, 0, 65535),
    trustedProxies: read.cidrs('TRUSTED_PROXIES'),
    placesFile: read.optional('PLACES_FILE'),
    logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    webhooks: readWebhookConfig(read),
  };
  return { ...settings, misspelt: read.misspelt() };
}

export { ConfigError };

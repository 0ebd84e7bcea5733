import { resolve } from 'node:path';
import { ConfigError, ConfigReader, LOG_LEVELS, type Environment, type LogLevel } from '@tracking/runtime';

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
  readonly rateLimitPerMinute: number;
  readonly managementHost: string;
  readonly managementPort: number;
  readonly trustedProxies: readonly string[];
  readonly placesFile: string | undefined;
  readonly logLevel: LogLevel;
  readonly webhooks: WebhookConfig;
}

/** Durations in milliseconds. */
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
}

/** @throws ConfigError naming the variable that is wrong */
export function loadConfig(env: Environment = process.env): StandaloneConfig {
  const read = new ConfigReader(env);
  const url = (name: string) => (read.optional(name) === undefined ? undefined : read.url(name, ''));
  return {
    host: read.string('HOST', '127.0.0.1'),
    port: read.integer('PORT', 3000, 0, 65535),
    baseUrl: url('BASE_URL'),
    appUrl: url('APP_URL'),
    dataDir: resolve(read.string('DATA_DIR', './data')),
    secretsKey: read.bytes('SECRETS_KEY', 32),
    rateLimitPerMinute: read.integer('RATE_LIMIT_PER_MINUTE', 1000, 1, 1_000_000_000),
    managementHost: read.string('MANAGEMENT_HOST', '127.0.0.1'),
    managementPort: read.integer('MANAGEMENT_PORT', 9464, 0, 65535),
    trustedProxies: read.cidrs('TRUSTED_PROXIES'),
    placesFile: read.optional('PLACES_FILE'),
    logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    webhooks: {
      allowedCidrs: read.cidrs('WEBHOOKS_ALLOWED_CIDRS'),
      allowHttp: read.boolean('WEBHOOKS_ALLOW_HTTP', false),
      firstMs: read.duration('WEBHOOKS_RETRY_FIRST', '5s'),
      factor: read.integer('WEBHOOKS_RETRY_FACTOR', 3, 1, 100),
      capMs: read.duration('WEBHOOKS_RETRY_CAP', '24h'),
      windowMs: read.duration('WEBHOOKS_RETRY_WINDOW', '72h'),
      timeoutMs: read.duration('WEBHOOKS_TIMEOUT', '10s'),
    },
  };
}

export { ConfigError };

import type { GrpcTls } from '@tracking/distributed';
import { ConfigReader, readWebhookTimeout, type Environment, type SecretsKeySettings } from '@tracking/runtime';
import {
  callerTls,
  channelToken,
  mongoSettings,
  secret,
  serviceAddress,
  serviceSettings,
  secretsKeySettings,
  type ServiceSettings,
} from '@tracking/service';

/** Settings of the gateway; README.md lists them. */
export interface GatewayConfig extends ServiceSettings, SecretsKeySettings {
  readonly host: string;
  readonly port: number;
  /** Where clients reach the API. */
  readonly baseUrl: string;
  /** Where people reach the web application. */
  readonly appUrl: string;
  readonly mongo: { readonly url: string };
  /** Where the replicas of each service are. */
  readonly services: { readonly shipments: string; readonly webhooks: string };
  readonly token: string;
  readonly tls?: GrpcTls;
  /** Lets operators in on the management port. */
  readonly administrationToken: string;
  readonly rateLimitPerMinute: number;
  readonly trustedProxies: readonly string[];
  readonly placesFile: string | undefined;
  /** Of one attempt at an endpoint, in milliseconds; the webhooks service's own. */
  readonly webhookTimeoutMs: number;
}

/** @throws ConfigError naming the variable that is wrong */
export function loadConfig(env: Environment = process.env): GatewayConfig {
  const read = new ConfigReader(env);
  const host = read.string('HOST', '127.0.0.1');
  const port = read.integer('PORT', 3000, 0, 65535);
  const baseUrl = read.url('BASE_URL', `http://${host.includes(':') ? `[${host}]` : host}:${port}`);
  return {
    ...serviceSettings(read),
    host,
    port,
    baseUrl,
    appUrl: read.url('APP_URL', baseUrl),
    mongo: mongoSettings(read),
    services: {
      shipments: serviceAddress(read, 'SHIPMENTS_URL'),
      webhooks: serviceAddress(read, 'WEBHOOKS_URL'),
    },
    token: channelToken(read),
    ...callerTls(read),
    administrationToken: secret(read, 'ADMINISTRATION_TOKEN'),
    ...secretsKeySettings(read),
    rateLimitPerMinute: read.integer('RATE_LIMIT_PER_MINUTE', 1000, 1, 1_000_000_000),
    trustedProxies: read.cidrs('TRUSTED_PROXIES'),
    placesFile: read.optional('PLACES_FILE'),
    webhookTimeoutMs: readWebhookTimeout(read),
  };
}

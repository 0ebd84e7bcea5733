import type { GrpcTls } from '@tracking/distributed';
import {
  ConfigReader,
  readFirstAdminConfig,
  type EnvironmentVariables,
  type FirstAdminConfig,
  type SecretsKeySettings,
} from '@tracking/runtime';
import {
  readClientTls,
  readChannelToken,
  readMongoSettings,
  readServiceSettings,
  readSecretsKeySettings,
  type ServiceSettings,
} from '@tracking/service';

/** Settings of the gateway; docs/reference/settings.md lists them. */
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
  /** How long published events are answered, in milliseconds; the projections' own. */
  readonly eventRetentionMs: number;
  readonly trustedProxies: readonly string[];
  readonly placesFile: string | undefined;
  /** Timeout of one attempt at an endpoint, in milliseconds; the same as in the webhooks service. */
  readonly webhookTimeoutMs: number;
  /** Undefined: the command line makes them. */
  readonly firstAdmin: FirstAdminConfig | undefined;
}

/** @throws ConfigError naming the variable that is wrong */
export function loadConfig(env: EnvironmentVariables = process.env): GatewayConfig {
  const read = new ConfigReader(env);
  const host = read.get('HOST');
  const port = read.get('PORT');
  const baseUrl = read.get('BASE_URL', `http://${host.includes(':') ? `[${host}]` : host}:${port}`);
  return {
    ...readServiceSettings(read),
    host,
    port,
    baseUrl,
    appUrl: read.get('APP_URL', baseUrl),
    mongo: readMongoSettings(read),
    services: {
      shipments: read.required('SHIPMENTS_URL'),
      webhooks: read.required('WEBHOOKS_URL'),
    },
    token: readChannelToken(read),
    ...readClientTls(read),
    administrationToken: read.required('ADMINISTRATION_TOKEN'),
    ...readSecretsKeySettings(read),
    rateLimitPerMinute: read.get('RATE_LIMIT_PER_MINUTE'),
    eventRetentionMs: read.get('RETENTION_EVENTS'),
    trustedProxies: read.get('TRUSTED_PROXIES'),
    placesFile: read.get('PLACES_FILE'),
    webhookTimeoutMs: read.get('WEBHOOKS_TIMEOUT'),
    firstAdmin: readFirstAdminConfig(read),
  };
}

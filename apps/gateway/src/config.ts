import type { GrpcClientTls } from '@tracking/distributed';
import {
  ConfigReader,
  readFirstAdminConfig,
  type EnvironmentVariables,
  type FirstAdminConfig,
  type SecretsKeySettings,
  type ConnectionConfig,
  readConnectionLimitConfig,
  readCallerLimitsConfig,
  type CallerLimitsConfig,
} from '@tracking/runtime';
import {
  readClientTls,
  readServicesToken,
  readMongoSettings,
  readServiceSettings,
  readSecretsKeySettings,
  type CommonServiceSettings,
} from '@tracking/service';

/** Settings of the gateway; docs/reference/settings.md lists them. */
export interface GatewayConfig extends CommonServiceSettings, SecretsKeySettings, CallerLimitsConfig {
  readonly host: string;
  readonly port: number;
  /** Public base URL of the API. */
  readonly baseUrl: string;
  /** Public URL of the web application. */
  readonly appUrl: string;
  readonly mongo: { readonly url: string };
  /** Addresses of the replicas of each service. */
  readonly services: { readonly shipments: string; readonly webhooks: string };
  readonly token: string;
  readonly tls?: GrpcClientTls;
  /** Token for operators on the management port. */
  readonly administrationToken: string;
  readonly connections: ConnectionConfig;
  /** Milliseconds within which open connections can end in order at shutdown. */
  readonly drainMs: number;
  /** Milliseconds for which published events are returned. The projections service must have the same value. */
  readonly eventRetentionMs: number;
  readonly trustedProxies: readonly string[];
  readonly placesFile: string | undefined;
  /** Timeout in milliseconds of one attempt at an endpoint. The webhooks service must have the same value. */
  readonly webhookTimeoutMs: number;
  /** First admin to create; if undefined, create admins on the command line. */
  readonly firstAdmin: FirstAdminConfig | undefined;
}

/** Reads the settings from the environment. @throws ConfigError naming the invalid variable */
export function loadConfig(env: EnvironmentVariables = process.env): GatewayConfig {
  const read = new ConfigReader(env);
  const host = read.readSetting('HOST');
  const port = read.readSetting('PORT');
  const baseUrl = read.readSetting('BASE_URL', `http://${host.includes(':') ? `[${host}]` : host}:${port}`);
  return {
    ...readServiceSettings(read),
    host,
    port,
    baseUrl,
    appUrl: read.readSetting('APP_URL', baseUrl),
    mongo: readMongoSettings(read),
    services: {
      shipments: read.readRequiredSetting('SHIPMENTS_URL'),
      webhooks: read.readRequiredSetting('WEBHOOKS_URL'),
    },
    token: readServicesToken(read),
    ...readClientTls(read),
    administrationToken: read.readRequiredSetting('ADMINISTRATION_TOKEN'),
    ...readSecretsKeySettings(read),
    ...readCallerLimitsConfig(read),
    connections: readConnectionLimitConfig(read),
    drainMs: read.readSetting('SHUTDOWN_DRAIN'),
    eventRetentionMs: read.readSetting('RETENTION_EVENTS'),
    trustedProxies: read.readSetting('TRUSTED_PROXIES'),
    placesFile: read.readSetting('PLACES_FILE'),
    webhookTimeoutMs: read.readSetting('WEBHOOKS_TIMEOUT'),
    firstAdmin: readFirstAdminConfig(read),
  };
}

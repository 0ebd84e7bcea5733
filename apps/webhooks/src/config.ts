import type { GrpcServerTls, KafkaOptions } from '@tracking/distributed';
import {
  ConfigReader,
  readWebhookConfig,
  type Environment,
  type SecretsKeySettings,
  type WebhookConfig,
} from '@tracking/runtime';
import {
  channelToken,
  kafkaSettings,
  mongoSettings,
  serverTls,
  serviceSettings,
  secretsKeySettings,
  type ServiceSettings,
} from '@tracking/service';

/** Settings of the webhooks service; README.md lists them. */
export interface WebhooksConfig extends ServiceSettings, SecretsKeySettings {
  /** `host:port` where requests of the gateway are taken. */
  readonly address: string;
  readonly token: string;
  readonly tls?: GrpcServerTls;
  readonly kafka: KafkaOptions;
  readonly mongo: { readonly url: string };
  /** Where people reach the web application: links in sandbox events begin with it. */
  readonly appUrl: string;
  readonly webhooks: WebhookConfig;
}

/** @throws ConfigError naming the variable that is wrong */
export function loadConfig(env: Environment = process.env): WebhooksConfig {
  const read = new ConfigReader(env);
  return {
    ...serviceSettings(read),
    address: `${read.string('HOST', '127.0.0.1')}:${read.integer('PORT', 4002, 0, 65535)}`,
    token: channelToken(read),
    ...serverTls(read),
    kafka: kafkaSettings(read, 'webhooks'),
    mongo: mongoSettings(read),
    ...secretsKeySettings(read),
    appUrl: read.url('APP_URL', 'http://127.0.0.1:3000'),
    webhooks: readWebhookConfig(read),
  };
}

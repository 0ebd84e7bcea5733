import type { PublicAddresses } from '@tracking/contracts';
import type { GrpcServerTls, GrpcClientTls, KafkaOptions } from '@tracking/distributed';
import {
  ConfigReader,
  readWebhookConfig,
  type EnvironmentVariables,
  type SecretsKeySettings,
  type WebhookConfig,
} from '@tracking/runtime';
import {
  getAdvertisedAddress,
  readClientTls,
  readServicesToken,
  readKafkaSettings,
  readMongoSettings,
  readPublicUrlSettings,
  readServerTls,
  readServiceSettings,
  readSecretsKeySettings,
  type CommonServiceSettings,
} from '@tracking/service';

/** Settings of the webhooks service; docs/reference/settings.md lists them. */
export interface WebhooksConfig extends CommonServiceSettings, SecretsKeySettings {
  /** Address `host:port` that listens for requests from the gateway. */
  readonly address: string;
  /** Address `host:port` at which other replicas reach this one. */
  readonly advertisedAddress: string;
  readonly token: string;
  readonly tls?: GrpcServerTls;
  /** Addresses of the shipments service's replicas, and the settings of connections to them. */
  readonly shipments: { readonly services: { readonly shipments: string }; readonly tls?: true | GrpcClientTls };
  readonly kafka: KafkaOptions;
  readonly mongo: { readonly url: string };
  readonly addresses: PublicAddresses;
  readonly webhooks: WebhookConfig;
}

/** @throws ConfigError that names the invalid variable */
export function loadConfig(env: EnvironmentVariables = process.env): WebhooksConfig {
  const read = new ConfigReader(env);
  const server = readServerTls(read);
  // A service that accepts only TLS calls also makes only TLS calls.
  const { tls = server.tls && true } = readClientTls(read);
  const address = `${read.readSetting('HOST')}:${read.readSetting('PORT', '4002')}`;
  return {
    ...readServiceSettings(read),
    address,
    advertisedAddress: read.readSetting('ADVERTISED_ADDRESS', getAdvertisedAddress(address)),
    token: readServicesToken(read),
    ...server,
    shipments: { services: { shipments: read.readRequiredSetting('SHIPMENTS_URL') }, ...(tls && { tls }) },
    kafka: readKafkaSettings(read, 'webhooks'),
    mongo: readMongoSettings(read),
    ...readSecretsKeySettings(read),
    addresses: readPublicUrlSettings(read),
    webhooks: readWebhookConfig(read),
  };
}

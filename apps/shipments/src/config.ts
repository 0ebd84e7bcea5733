import type { EventStoreDbOptions, GrpcServerTls, KafkaOptions } from '@tracking/distributed';
import { ConfigReader, type EnvironmentVariables } from '@tracking/runtime';
import {
  channelToken,
  eventStoreDbSettings,
  kafkaSettings,
  mongoSettings,
  serverTls,
  serviceSettings,
  type ServiceSettings,
} from '@tracking/service';

/** Settings of the shipments service; docs/reference/settings.md lists them. */
export interface ShipmentsConfig extends ServiceSettings {
  /** `host:port` where commands are taken. */
  readonly address: string;
  readonly token: string;
  readonly tls?: GrpcServerTls;
  readonly eventStoreDb: EventStoreDbOptions;
  readonly kafka: KafkaOptions;
  readonly mongo: { readonly url: string };
  /** Where people reach the web application: links in events begin with it. */
  readonly appUrl: string;
  readonly placesFile: string | undefined;
}

/** @throws ConfigError naming the variable that is wrong */
export function loadConfig(env: EnvironmentVariables = process.env): ShipmentsConfig {
  const read = new ConfigReader(env);
  return {
    ...serviceSettings(read),
    address: `${read.get('HOST')}:${read.get('PORT', '4001')}`,
    token: channelToken(read),
    ...serverTls(read),
    eventStoreDb: eventStoreDbSettings(read),
    kafka: kafkaSettings(read, 'shipments'),
    mongo: mongoSettings(read),
    appUrl: read.get('APP_URL', 'http://127.0.0.1:3000'),
    placesFile: read.get('PLACES_FILE'),
  };
}

import type { PublicAddresses } from '@tracking/contracts';
import type { EventStoreDbOptions, GrpcServerTls, KafkaOptions } from '@tracking/distributed';
import { ConfigReader, type EnvironmentVariables } from '@tracking/runtime';
import {
  readChannelToken,
  readEventStoreDbSettings,
  readKafkaSettings,
  readMongoSettings,
  readPublicAddresses,
  readServerTls,
  readServiceSettings,
  type ServiceSettings,
} from '@tracking/service';

/** Settings of the shipments service; docs/reference/settings.md lists them. */
export interface ShipmentsConfig extends ServiceSettings {
  /** Address on which the service accepts commands, `host:port`. */
  readonly address: string;
  readonly token: string;
  readonly tls?: GrpcServerTls;
  readonly eventStoreDb: EventStoreDbOptions;
  readonly kafka: KafkaOptions;
  readonly mongo: { readonly url: string };
  readonly addresses: PublicAddresses;
  readonly placesFile: string | undefined;
}

/** Reads the settings from the environment. @throws ConfigError naming the invalid variable */
export function loadConfig(env: EnvironmentVariables = process.env): ShipmentsConfig {
  const read = new ConfigReader(env);
  return {
    ...readServiceSettings(read),
    address: `${read.get('HOST')}:${read.get('PORT', '4001')}`,
    token: readChannelToken(read),
    ...readServerTls(read),
    eventStoreDb: readEventStoreDbSettings(read),
    kafka: readKafkaSettings(read, 'shipments'),
    mongo: readMongoSettings(read),
    addresses: readPublicAddresses(read),
    placesFile: read.get('PLACES_FILE'),
  };
}

import type { PublicAddresses } from '@tracking/contracts';
import type { EventStoreDbOptions, GrpcClientTls, GrpcServerTls, KafkaOptions } from '@tracking/distributed';
import { ConfigReader, type EnvironmentVariables } from '@tracking/runtime';
import {
  readServicesToken,
  readClientTls,
  readEventStoreDbSettings,
  readKafkaSettings,
  readMongoSettings,
  readPublicUrlSettings,
  readServerTls,
  readServiceSettings,
  type CommonServiceSettings,
} from '@tracking/service';

/** Settings of the shipments service; docs/reference/settings.md lists them. */
export interface ShipmentsConfig extends CommonServiceSettings {
  /** Address on which the service accepts commands, `host:port`. */
  readonly address: string;
  readonly token: string;
  readonly tls?: GrpcServerTls;
  /** TLS settings of connections to the projections service; plain text without them. */
  readonly clientTls: true | GrpcClientTls | undefined;
  readonly eventStoreDb: EventStoreDbOptions;
  readonly kafka: KafkaOptions;
  readonly mongo: { readonly url: string };
  readonly addresses: PublicAddresses;
  readonly placesFile: string | undefined;
}

/** Reads the settings from the environment. @throws ConfigError naming the invalid variable */
export function loadConfig(env: EnvironmentVariables = process.env): ShipmentsConfig {
  const read = new ConfigReader(env);
  const server = readServerTls(read);
  // A service that accepts only TLS calls also makes only TLS calls.
  const { tls: clientTls = server.tls && true } = readClientTls(read);
  return {
    ...readServiceSettings(read),
    address: `${read.readSetting('HOST')}:${read.readSetting('PORT', '4001')}`,
    token: readServicesToken(read),
    ...server,
    clientTls,
    eventStoreDb: readEventStoreDbSettings(read),
    kafka: readKafkaSettings(read, 'shipments'),
    mongo: readMongoSettings(read),
    addresses: readPublicUrlSettings(read),
    placesFile: read.readSetting('PLACES_FILE'),
  };
}

import type { EventStoreDbOptions, GrpcServerTls } from '@tracking/distributed';
import { ConfigReader, type EnvironmentVariables } from '@tracking/runtime';
import {
  getAdvertisedAddress,
  readServicesToken,
  readEventStoreDbSettings,
  readMongoSettings,
  readServerTls,
  readServiceSettings,
  type CommonServiceSettings,
} from '@tracking/service';

/** Settings of the projections service; docs/reference/settings.md lists them. */
export interface ProjectionsConfig extends CommonServiceSettings {
  /** Address `host:port` on which the service reports its progress to other services. */
  readonly address: string;
  /** Address `host:port` at which other services reach this process. */
  readonly advertisedAddress: string;
  readonly token: string;
  readonly tls?: GrpcServerTls;
  readonly eventStoreDb: EventStoreDbOptions;
  readonly mongo: { readonly url: string };
  /** Milliseconds for which published events are kept. */
  readonly eventRetentionMs: number;
}

/** Reads the settings from the environment. @throws ConfigError naming the invalid variable */
export function loadConfig(env: EnvironmentVariables = process.env): ProjectionsConfig {
  const read = new ConfigReader(env);
  const address = `${read.readSetting('HOST')}:${read.readSetting('PORT', '4003')}`;
  return {
    ...readServiceSettings(read),
    address,
    advertisedAddress: read.readSetting('ADVERTISED_ADDRESS', getAdvertisedAddress(address)),
    token: readServicesToken(read),
    ...readServerTls(read),
    eventStoreDb: readEventStoreDbSettings(read),
    mongo: readMongoSettings(read),
    eventRetentionMs: read.readSetting('RETENTION_EVENTS'),
  };
}

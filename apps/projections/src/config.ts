import type { EventStoreDbOptions } from '@tracking/distributed';
import { ConfigReader, type EnvironmentVariables } from '@tracking/runtime';
import {
  readEventStoreDbSettings,
  readMongoSettings,
  readServiceSettings,
  type ServiceSettings,
} from '@tracking/service';

/** Settings of the projections service; docs/reference/settings.md lists them. */
export interface ProjectionsConfig extends ServiceSettings {
  readonly eventStoreDb: EventStoreDbOptions;
  readonly mongo: { readonly url: string };
  /** Milliseconds for which published events are kept. */
  readonly eventRetentionMs: number;
}

/** Reads the settings from the environment. @throws ConfigError naming the invalid variable */
export function loadConfig(env: EnvironmentVariables = process.env): ProjectionsConfig {
  const read = new ConfigReader(env);
  return {
    ...readServiceSettings(read),
    eventStoreDb: readEventStoreDbSettings(read),
    mongo: readMongoSettings(read),
    eventRetentionMs: read.get('RETENTION_EVENTS'),
  };
}

import type { EventStoreDbOptions } from '@tracking/distributed';
import { ConfigReader, type EnvironmentVariables } from '@tracking/runtime';
import { eventStoreDbSettings, mongoSettings, serviceSettings, type ServiceSettings } from '@tracking/service';

/** Settings of the projections service; docs/reference/settings.md lists them. */
export interface ProjectionsConfig extends ServiceSettings {
  readonly eventStoreDb: EventStoreDbOptions;
  readonly mongo: { readonly url: string };
  /** How long published events are kept, in milliseconds. */
  readonly eventRetentionMs: number;
}

/** @throws ConfigError naming the variable that is wrong */
export function loadConfig(env: EnvironmentVariables = process.env): ProjectionsConfig {
  const read = new ConfigReader(env);
  return {
    ...serviceSettings(read),
    eventStoreDb: eventStoreDbSettings(read),
    mongo: mongoSettings(read),
    eventRetentionMs: read.get('RETENTION_EVENTS'),
  };
}

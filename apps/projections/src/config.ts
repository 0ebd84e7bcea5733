import type { EventStoreDbOptions } from '@tracking/distributed';
import { ConfigReader, type Environment } from '@tracking/runtime';
import { eventStoreDbSettings, mongoSettings, serviceSettings, type ServiceSettings } from '@tracking/service';

/** Settings of the projections service; README.md lists them. */
export interface ProjectionsConfig extends ServiceSettings {
  readonly eventStoreDb: EventStoreDbOptions;
  readonly mongo: { readonly url: string };
}

/** @throws ConfigError naming the variable that is wrong */
export function loadConfig(env: Environment = process.env): ProjectionsConfig {
  const read = new ConfigReader(env);
  return { ...serviceSettings(read), eventStoreDb: eventStoreDbSettings(read), mongo: mongoSettings(read) };
}

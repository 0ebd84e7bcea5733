import type { KafkaOptions } from '@tracking/distributed';
import { ConfigError, ConfigReader, type EnvironmentVariables, type SecretsKeySettings } from '@tracking/runtime';
import {
  readKafkaSettings,
  readMongoSettings,
  readSecretsKeySettings,
  readServiceSettings,
  type CommonServiceSettings,
} from '@tracking/service';

/** Services in the order in which an update replaces them, because each learns new events before those after it. */
export const SERVICE_UPDATE_ORDER = ['projections', 'shipments', 'webhooks', 'gateway'] as const;
export type UpdatedService = (typeof SERVICE_UPDATE_ORDER)[number];

/** Settings of the set-up; docs/reference/settings.md lists them. */
export interface SetupConfig extends CommonServiceSettings, SecretsKeySettings {
  readonly kafka: KafkaOptions;
  /** Number of partitions of each topic whose order matters per key only. */
  readonly topicPartitions: number;
  readonly mongo: { readonly url: string };
}

/** Reads the settings of the set-up. @throws ConfigError that names the invalid variable */
export function loadConfig(env: EnvironmentVariables = process.env): SetupConfig {
  const read = new ConfigReader({ ...env, MANAGEMENT_PORT: '0' });
  return {
    ...readServiceSettings(read),
    ...readSecretsKeySettings(read),
    kafka: readKafkaSettings(read, 'setup'),
    topicPartitions: read.readSetting('KAFKA_PARTITIONS', '32'),
    mongo: readMongoSettings(read),
  };
}

/** Settings of the wait for the turn of a service in an update. */
export interface ServiceUpdateTurnConfig extends CommonServiceSettings {
  /** Service that starts after the wait. */
  readonly service: UpdatedService;
  readonly mongo: { readonly url: string };
}

/**
 * Reads the settings of the wait for the turn of a service.
 * @param given name of the service from the command line
 * @throws ConfigError that names the invalid variable or argument
 */
export function loadServiceUpdateTurnConfig(
  given: string | undefined,
  env: EnvironmentVariables = process.env,
): ServiceUpdateTurnConfig {
  const service = SERVICE_UPDATE_ORDER.find((name) => name === given);
  if (service === undefined) throw new ConfigError(`wait: expected one of ${SERVICE_UPDATE_ORDER.join(', ')}`);
  const read = new ConfigReader({ ...env, MANAGEMENT_PORT: '0' });
  return { ...readServiceSettings(read), service, mongo: readMongoSettings(read) };
}

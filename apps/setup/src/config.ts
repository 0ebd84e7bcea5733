import type { KafkaOptions } from '@tracking/distributed';
import { ConfigReader, type EnvironmentVariables, type SecretsKeySettings } from '@tracking/runtime';
import {
  readKafkaSettings,
  readMongoSettings,
  readSecretsKeySettings,
  readServiceSettings,
  type ServiceSettings,
} from '@tracking/service';

/** Settings of the set-up; docs/reference/settings.md lists them. */
export interface SetupConfig extends ServiceSettings, SecretsKeySettings {
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

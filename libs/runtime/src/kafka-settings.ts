import {
  parseCommaSeparatedList,
  parseBoolean,
  createIntegerSettingParser,
  createChoiceSettingType,
  parseTextSetting,
} from './setting-types.ts';

const PROGRAMS_USING_KAFKA = ['shipments', 'webhooks', 'setup'] as const;

/** Settings of the Kafka client and of its topics. */
export const KAFKA_SETTINGS = {
  KAFKA_BROKERS: {
    type: parseCommaSeparatedList,
    programs: [...PROGRAMS_USING_KAFKA, 'services'],
    for: '`host:port`, comma-separated',
  },
  KAFKA_PARTITIONS: {
    type: createIntegerSettingParser(1, 10_000),
    programs: ['setup'],
    default: '32',
    for: 'minimum [partitions](../scaling.md#kafka-partitions) of the topics of events and of dead letters; `setup` adds missing ones and removes none',
  },
  KAFKA_REPLICATION_FACTOR: {
    type: createIntegerSettingParser(0, 100),
    programs: PROGRAMS_USING_KAFKA,
    otherwise: "the brokers' default, 1 in Apache Kafka",
    for: 'copies of each topic, set when the topic is created; 3 on a cluster of three brokers',
  },
  KAFKA_SASL_MECHANISM: {
    type: createChoiceSettingType('plain', 'scram-sha-256', 'scram-sha-512'),
    programs: PROGRAMS_USING_KAFKA,
    for: '`plain`, `scram-sha-256` or `scram-sha-512`',
  },
  KAFKA_SASL_PASSWORD: {
    type: parseTextSetting,
    programs: PROGRAMS_USING_KAFKA,
    for: 'Kafka password; required with `KAFKA_SASL_MECHANISM`',
  },
  KAFKA_SASL_USERNAME: {
    type: parseTextSetting,
    programs: PROGRAMS_USING_KAFKA,
    for: 'Kafka user name; required with `KAFKA_SASL_MECHANISM`',
  },
  KAFKA_TLS: { type: parseBoolean, programs: PROGRAMS_USING_KAFKA, default: 'false', for: 'TLS to the brokers' },
  KAFKA_TLS_CA: {
    type: parseTextSetting,
    programs: PROGRAMS_USING_KAFKA,
    for: 'certificate authority of the brokers, as PEM',
  },
  KAFKA_TOPIC_PREFIX: {
    type: parseTextSetting,
    programs: PROGRAMS_USING_KAFKA,
    default: '',
    for: 'prefix of all topic names',
  },
} as const;

import { parseCommaSeparatedList, parseBoolean, parseInteger, parseOneOf, parseText } from './setting-types.ts';

const KAFKA_PROGRAMS = ['shipments', 'webhooks', 'setup'] as const;

/** Settings of the Kafka client and of its topics. */
export const KAFKA_SETTINGS = {
  KAFKA_BROKERS: {
    type: parseCommaSeparatedList,
    programs: [...KAFKA_PROGRAMS, 'services'],
    for: '`host:port`, comma-separated',
  },
  KAFKA_PARTITIONS: {
    type: parseInteger(1, 10_000),
    programs: ['setup'],
    default: '32',
    for: 'minimum [partitions](../scaling.md#kafka-partitions) of the topics of events and of dead letters; `setup` adds missing ones and removes none',
  },
  KAFKA_REPLICATION_FACTOR: {
    type: parseInteger(0, 100),
    programs: KAFKA_PROGRAMS,
    otherwise: "the brokers' default, 1 in Apache Kafka",
    for: 'copies of each topic, set when the topic is created; 3 on a cluster of three brokers',
  },
  KAFKA_SASL_MECHANISM: {
    type: parseOneOf('plain', 'scram-sha-256', 'scram-sha-512'),
    programs: KAFKA_PROGRAMS,
    for: '`plain`, `scram-sha-256` or `scram-sha-512`',
  },
  KAFKA_SASL_PASSWORD: {
    type: parseText,
    programs: KAFKA_PROGRAMS,
    for: 'Kafka password; required with `KAFKA_SASL_MECHANISM`',
  },
  KAFKA_SASL_USERNAME: {
    type: parseText,
    programs: KAFKA_PROGRAMS,
    for: 'Kafka user name; required with `KAFKA_SASL_MECHANISM`',
  },
  KAFKA_TLS: { type: parseBoolean, programs: KAFKA_PROGRAMS, default: 'false', for: 'TLS to the brokers' },
  KAFKA_TLS_CA: { type: parseText, programs: KAFKA_PROGRAMS, for: 'certificate authority of the brokers, as PEM' },
  KAFKA_TOPIC_PREFIX: { type: parseText, programs: KAFKA_PROGRAMS, default: '', for: 'prefix of all topic names' },
} as const;

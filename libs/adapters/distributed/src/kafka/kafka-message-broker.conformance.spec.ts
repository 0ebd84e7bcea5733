import { jest } from '@jest/globals';
import { declareMessageBrokerTests } from '@tracking/testing';
import { createKafkaSubject, NO_KAFKA_REASON } from '../../test/kafka/kafka-subject.ts';

jest.setTimeout(120_000);

if (NO_KAFKA_REASON === undefined) declareMessageBrokerTests('Kafka', createKafkaSubject());
else it.skip(`message broker on Kafka [not tested: ${NO_KAFKA_REASON}]`, () => undefined);

import { jest } from '@jest/globals';
import { messageBrokerConformance } from '@tracking/testing';
import { kafkaSubject, NO_KAFKA_REASON } from '../../test/kafka/kafka-subject.ts';

jest.setTimeout(120_000);

if (NO_KAFKA_REASON === undefined) messageBrokerConformance('Kafka', kafkaSubject());
else it.skip(`message broker on Kafka [not tested: ${NO_KAFKA_REASON}]`, () => undefined);

import { noMetrics, silentLogger, type MessageBrokerSubject } from '@tracking/testing';
import { KafkaMessageBroker } from '../../src/kafka/kafka-message-broker.ts';
import type { KafkaLimits } from '../../src/kafka/kafka-client.ts';
import { KafkaTestNode } from './kafka-engine.ts';

/** Reason why no Kafka is available for tests; undefined if there is one. */
export const NO_KAFKA_REASON =
  process.env['KAFKA_BROKERS'] || process.env['ENGINES_DIR']
    ? undefined
    : 'neither KAFKA_BROKERS nor ENGINES_DIR is set';

export function openKafkaMessageBrokerForTest(
  brokers: readonly string[],
  limits: Partial<KafkaLimits> = {},
): KafkaMessageBroker {
  const quick = { sessionTimeoutMs: 6_000, ...limits };
  return new KafkaMessageBroker({ brokers, limits: quick, logger: silentLogger, metrics: noMetrics });
}

/** The adapter on the cluster of `KAFKA_BROKERS`; otherwise on a node from `ENGINES_DIR`, which can be killed. */
export function createKafkaSubject(): MessageBrokerSubject {
  const opened: KafkaMessageBroker[] = [];
  let engine: KafkaTestNode | undefined;
  let brokers: readonly string[] = process.env['KAFKA_BROKERS']?.split(',') ?? [];

  const openAgain = () => {
    const broker = openKafkaMessageBrokerForTest(brokers);
    opened.push(broker);
    return Promise.resolve(broker);
  };
  const subject: MessageBrokerSubject = {
    deadlineMs: 30_000,
    // Topics created by the adapter accept 4 MiB.
    tooLarge: 5_000_000,
    async openTestedAdapter() {
      if (brokers.length === 0) {
        engine = await KafkaTestNode.startEngine(process.env['ENGINES_DIR'] ?? '');
        brokers = engine.brokers;
      }
      return openAgain();
    },
    async closeAndReopenAdapter() {
      await opened.pop()?.close();
      return openAgain();
    },
    openSecond: openAgain,
    async close() {
      await Promise.all(opened.splice(0).map((broker) => broker.close()));
      await engine?.destroyTestNode();
    },
  };
  if (brokers.length > 0) return subject;
  /** Kills the node; the process that published and consumed keeps running beside the new one. */
  const crash = async () => {
    await engine?.killAndRestart();
    return openAgain();
  };
  return { ...subject, simulateCrash: crash };
}

import { randomBytes } from 'node:crypto';
import { Kafka, type KafkaMessage, logLevel } from 'kafkajs';

/** Reads a topic from its beginning, and goes on as messages come, until it is left. */
export async function follow(brokers: string, topic: string) {
  const kafka = new Kafka({ clientId: 'journeys', brokers: brokers.split(','), logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: `journeys-${randomBytes(4).toString('hex')}` });
  const messages: KafkaMessage[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachMessage: ({ message }) => {
      messages.push(message);
      return Promise.resolve();
    },
  });
  return { messages: messages as readonly KafkaMessage[], leave: () => consumer.disconnect() };
}

import { Kafka, logLevel } from 'kafkajs';

export interface TopicMessage {
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function createKafkaClient(brokers: string): Kafka {
  return new Kafka({ clientId: 'journeys', brokers: brokers.split(','), logLevel: logLevel.NOTHING });
}

/** Reads all current messages of a topic, in order within each partition. */
export async function readTopic(brokers: string, topic: string): Promise<readonly TopicMessage[]> {
  const kafka = createKafkaClient(brokers);
  const admin = kafka.admin();
  await admin.connect();
  const ends = new Map((await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => [partition, Number(high)]));
  await admin.disconnect();
  const messages: TopicMessage[] = [];
  const left = new Set([...ends].filter(([, high]) => high > 0).map(([partition]) => partition));
  const { promise: whole, resolve } = Promise.withResolvers<void>();
  if (left.size === 0) resolve();
  const consumer = kafka.consumer({ groupId: `journeys-${Date.now()}` });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachMessage: ({ partition, message: { key, value, headers = {}, offset } }) => {
      const texts = Object.entries(headers).map(([name, text]) => [name, String(text)]);
      messages.push({ key: String(key), value: String(value), headers: Object.fromEntries(texts) });
      if (Number(offset) + 1 >= (ends.get(partition) ?? 0)) left.delete(partition);
      if (left.size === 0) resolve();
      return Promise.resolve();
    },
  });
  await whole;
  await consumer.disconnect();
  return messages;
}

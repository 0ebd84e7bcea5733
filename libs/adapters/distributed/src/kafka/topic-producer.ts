import { type PartitionMetadata, Partitioners } from 'kafkajs';
import { BusyError, type BrokerMessage, MessageRefusedError } from '@tracking/ports';
import { ENGINE_NAME } from './kafka-client.ts';
import { type MessageWithIndex, OrderedProducer, type ProducerOptions } from './ordered-producer.ts';

const MESSAGE_OVERHEAD_BYTES = 64;

/**
 * Sends messages to one topic with several producers, because a producer of kafkajs can have only one batch in flight.
 * The key of a message selects the producer by the same hash as the partition. All messages of a key therefore have one
 * producer and keep their order, even when partitions are added. If the number of producers divides the number of
 * partitions, each producer has its own group of partitions.
 */
export class TopicProducer {
  private readonly producers: readonly OrderedProducer[];
  private readonly partitioner = Partitioners.DefaultPartitioner();
  /** One partition for each producer: the partitioner hashes a key, and takes the remainder by their number. */
  private readonly partitionMetadata: PartitionMetadata[];
  private count = 0;
  private bytes = 0;

  constructor(private readonly options: ProducerOptions) {
    const { producersPerTopic } = options.limits;
    this.producers = Array.from({ length: producersPerTopic }, () => new OrderedProducer(options));
    this.partitionMetadata = this.producers.map((_, partitionId) => ({
      partitionId,
      partitionErrorCode: 0,
      leader: 0,
      replicas: [],
      isr: [],
    }));
  }

  /** Number of unacknowledged messages. */
  get depth(): number {
    return this.count;
  }

  /**
   * Resolves when all messages are acknowledged. If it rejects, no message of the call is still being sent.
   * @throws BusyError, MessageRefusedError, UnavailableError
   */
  async publishMessages(messages: readonly BrokerMessage[]): Promise<void> {
    const indexed = messages.map((message, index) => ({ message, index, bytes: computeMessageSizeBytes(message) }));
    const bytes = indexed.reduce((sum, one) => sum + one.bytes, 0);
    const { maxWaiting, maxWaitingBytes } = this.options.limits;
    const isFull = this.count + messages.length > maxWaiting || this.bytes + bytes > maxWaitingBytes;
    if (this.count > 0 && isFull) {
      throw new BusyError(ENGINE_NAME, `${this.count} messages are already waiting; retry later`);
    }
    this.count += messages.length;
    this.bytes += bytes;
    const sent = [...this.assignMessagesToProducers(indexed)].map(([producer, part]) => producer.publishMessages(part));
    const failures = (await Promise.allSettled(sent)).flatMap((one) =>
      one.status === 'rejected' ? [one.reason as unknown] : [],
    );
    this.count -= messages.length;
    this.bytes -= bytes;
    if (failures.length > 0) throw failures.find((error) => error instanceof MessageRefusedError) ?? failures[0];
  }

  /** Rejects all unacknowledged messages. */
  closeTopicProducer(): void {
    for (const producer of this.producers) producer.closeProducer();
  }

  private assignMessagesToProducers(messages: readonly MessageWithIndex[]): Map<OrderedProducer, MessageWithIndex[]> {
    const parts = new Map<OrderedProducer, MessageWithIndex[]>();
    for (const indexed of messages) {
      const producer = this.chooseProducerOfKey(indexed.message);
      const part = parts.get(producer);
      if (part === undefined) parts.set(producer, [indexed]);
      else part.push(indexed);
    }
    return parts;
  }

  private chooseProducerOfKey({ key, value }: BrokerMessage): OrderedProducer {
    const { partitionMetadata } = this;
    const { clusterTopic: topic } = this.options;
    const producer = this.producers[this.partitioner({ topic, partitionMetadata, message: { key, value } })];
    if (producer === undefined) throw new Error(`${topic}: no producer for a key`);
    return producer;
  }
}

/** Returns the approximate size of a message in a request and in memory. */
function computeMessageSizeBytes({ key, value, headers }: BrokerMessage): number {
  const texts = [key, value, ...Object.entries(headers).flat()];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), MESSAGE_OVERHEAD_BYTES);
}

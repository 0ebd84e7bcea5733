import type { logCreator, RetryOptions } from 'kafkajs';
import {
  Unavailable,
  type BatchHandler,
  type ConsumeOptions,
  type Logger,
  type Message,
  type MessageBroker,
  type Metrics,
  type TopicSpec,
} from '@tracking/ports';
import { GroupMember } from './group-member.ts';
import { KafkaClient, ENDLESS_RETRIES, FEW_RETRIES } from './kafka-client.ts';
import { ENGINE, within } from './kafka-errors.ts';
import { kafkaLogs } from './kafka-log.ts';
import { DEFAULT_LIMITS, type KafkaLimits, type KafkaOptions } from './kafka-options.ts';
import { KafkaTopics } from './kafka-topics.ts';
import { LostResponses } from './lost-responses.ts';
import { TopicProducer } from './topic-producer.ts';

export interface KafkaMessageBrokerOptions extends KafkaOptions {
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Topics of a Kafka cluster, each with a producer of its own, so that one which fails holds up no other. */
export class KafkaMessageBroker implements MessageBroker {
  private readonly limits: KafkaLimits;
  private readonly prefix: string;
  /** One for all clients, so that they do not each complain of the same broker. */
  private readonly logs: logCreator;
  private readonly lost = new LostResponses();
  private readonly topics: KafkaTopics;
  private readonly producers = new Map<string, TopicProducer>();
  private readonly members = new Map<GroupMember, Promise<void>>();
  private readonly closing = new AbortController();

  constructor(private readonly options: KafkaMessageBrokerOptions) {
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.prefix = options.topicPrefix ?? '';
    this.logs = kafkaLogs(options.logger);
    this.topics = new KafkaTopics(
      () => this.connect(FEW_RETRIES),
      this.limits.adminTimeoutMs,
      options.replicationFactor,
    );
    options.metrics.gauge('message_broker_waiting', 'Messages that the broker has not acknowledged yet.', [], () =>
      [...this.producers.values()].reduce((sum, producer) => sum + producer.depth, 0),
    );
  }

  async ensureTopics(topics: readonly TopicSpec[]): Promise<void> {
    this.refuseWhenClosed();
    await this.topics.ensure(topics.map((topic) => ({ ...topic, name: this.prefix + topic.name })));
  }

  async publish(topic: string, messages: readonly Message[]): Promise<void> {
    this.refuseWhenClosed();
    if (messages.length === 0) return;
    let producer = this.producers.get(topic);
    if (producer === undefined) {
      const openClient = () => this.connect(FEW_RETRIES);
      const { limits, options } = this;
      const clusterTopic = this.prefix + topic;
      producer = new TopicProducer({ topic, clusterTopic, openClient, limits, logger: options.logger });
      this.producers.set(topic, producer);
    }
    await producer.publish(messages);
  }

  async consume({ topic, group, maxBatch = 500, signal }: ConsumeOptions, handler: BatchHandler): Promise<void> {
    this.refuseWhenClosed();
    const membership = {
      topic,
      clusterTopic: this.prefix + topic,
      clusterGroup: this.prefix + group,
      maxBatch,
      handler,
      leaving: AbortSignal.any([signal, this.closing.signal]),
    };
    const { logger, metrics } = this.options;
    const member = new GroupMember({
      membership,
      openClient: () => this.connect(ENDLESS_RETRIES),
      pingBroker: () => this.topics.produced(membership.clusterTopic),
      limits: this.limits,
      logger,
      metrics,
    });
    const over = member.run().finally(() => this.members.delete(member));
    this.members.set(member, over);
    await over;
  }

  async produced(topic: string): Promise<readonly number[]> {
    this.refuseWhenClosed();
    return this.topics.produced(this.prefix + topic);
  }

  /**
   * Whether all is well with the cluster and with what this process has to do with it.
   * @throws Unavailable where it does not answer, connections to it break off, or a consumer cannot take part in its group
   */
  async check(topic: string): Promise<void> {
    await this.produced(topic);
    if (this.lost.areMany) throw new Unavailable(ENGINE, 'connections break off');
    for (const member of this.members.keys()) {
      if (member.isOutOfGroup) throw new Unavailable(ENGINE, 'a consumer is not in its group');
    }
  }

  async lag(topic: string, group: string): Promise<number> {
    this.refuseWhenClosed();
    return this.topics.lag(this.prefix + topic, this.prefix + group);
  }

  async close(): Promise<void> {
    this.closing.abort();
    for (const producer of this.producers.values()) producer.close();
    this.topics.close();
    await within(this.limits.closeTimeoutMs, Promise.all(this.members.values())).catch(() => {
      this.options.logger.warn({}, 'message broker: closed with messages in hand, which come again');
    });
    for (const member of this.members.keys()) member.destroy();
  }

  private connect(retry: RetryOptions): KafkaClient {
    const { options: cluster, limits, logs, lost } = this;
    return new KafkaClient({ cluster, limits, retry, logs, lost });
  }

  private refuseWhenClosed(): void {
    if (this.closing.signal.aborted) throw new Unavailable(ENGINE, 'closed');
  }
}

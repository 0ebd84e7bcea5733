import type { Admin, ITopicConfig, logCreator, RetryOptions } from 'kafkajs';
import {
  type BatchHandler,
  type ConsumeOptions,
  type Logger,
  type Message,
  type MessageBroker,
  type Metrics,
  type TopicSpec,
  Unavailable,
} from '@tracking/ports';
import { retry } from '@tracking/resilience';
import { GroupMember } from './group-member.ts';
import {
  DEFAULT_KAFKA_LIMITS,
  UNLIMITED_RETRY_OPTIONS,
  ENGINE_NAME,
  LIMITED_RETRY_OPTIONS,
  KafkaClient,
  type KafkaLimits,
  createKafkaLogCreator,
  type KafkaOptions,
  LostResponseCounter,
  describeReason,
  withTimeout,
} from './kafka-client.ts';
import { TopicProducer } from './topic-producer.ts';

const TOPIC_POLL_PAUSE_OPTIONS = { firstPauseMs: 50, maxPauseMs: 500 };
/** Value of `max.message.bytes` of created topics. An event with a large shipment exceeds the default of 1 MiB. */
const MAX_MESSAGE_BYTES = 4 * 1_048_576;

interface KafkaMessageBrokerOptions extends KafkaOptions {
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Topics of a Kafka cluster. Each has its own producer, so that a failing topic does not delay others. */
export class KafkaMessageBroker implements MessageBroker {
  private readonly limits: KafkaLimits;
  private readonly prefix: string;
  /** All clients share this logger, so that a failure of a broker is logged only once. */
  private readonly logs: logCreator;
  private readonly lost = new LostResponseCounter();
  private readonly topics: KafkaTopics;
  private readonly producers = new Map<string, TopicProducer>();
  private readonly members = new Map<GroupMember, Promise<void>>();
  private readonly closing = new AbortController();

  constructor(private readonly options: KafkaMessageBrokerOptions) {
    this.limits = { ...DEFAULT_KAFKA_LIMITS, ...options.limits };
    this.prefix = options.topicPrefix ?? '';
    this.logs = createKafkaLogCreator(options.logger);
    this.topics = new KafkaTopics(
      () => this.connect(LIMITED_RETRY_OPTIONS),
      this.limits.adminTimeoutMs,
      options.replicationFactor,
    );
    options.metrics.gauge('message_broker_waiting', 'Messages that the broker has not acknowledged yet.', [], () =>
      [...this.producers.values()].reduce((sum, producer) => sum + producer.depth, 0),
    );
  }

  async ensureTopics(topics: readonly TopicSpec[]): Promise<void> {
    this.throwIfClosed();
    await this.topics.ensureTopicsExist(topics.map((topic) => ({ ...topic, name: this.prefix + topic.name })));
  }

  async publish(topic: string, messages: readonly Message[]): Promise<void> {
    this.throwIfClosed();
    if (messages.length === 0) return;
    let producer = this.producers.get(topic);
    if (producer === undefined) {
      const openClient = () => this.connect(LIMITED_RETRY_OPTIONS);
      const { limits, options } = this;
      const clusterTopic = this.prefix + topic;
      producer = new TopicProducer({ topic, clusterTopic, openClient, limits, logger: options.logger });
      this.producers.set(topic, producer);
    }
    await producer.publish(messages);
  }

  async consume({ topic, group, maxBatch = 500, signal }: ConsumeOptions, handler: BatchHandler): Promise<void> {
    this.throwIfClosed();
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
      openClient: () => this.connect(UNLIMITED_RETRY_OPTIONS),
      pingBroker: () => this.topics.produced(membership.clusterTopic),
      limits: this.limits,
      logger,
      metrics,
    });
    const over = member.run().finally(() => this.members.delete(member));
    this.members.set(member, over);
    await over;
  }

  async countPublished(topic: string): Promise<readonly number[]> {
    this.throwIfClosed();
    return this.topics.produced(this.prefix + topic);
  }

  /**
   * Checks the cluster and the connections and consumers of this process.
   * @throws Unavailable if the cluster does not respond, connections break, or a consumer is not a member of its group
   */
  async checkHealth(topic: string): Promise<void> {
    await this.countPublished(topic);
    if (this.lost.exceedThreshold)
      throw new Unavailable(ENGINE_NAME, 'connections to the brokers break repeatedly; check the network');
    for (const member of this.members.keys()) {
      if (member.isOutOfGroup)
        throw new Unavailable(ENGINE_NAME, 'a consumer of this process is not a member of its group');
    }
  }

  async lag(topic: string, group: string): Promise<number> {
    this.throwIfClosed();
    return this.topics.lag(this.prefix + topic, this.prefix + group);
  }

  async close(): Promise<void> {
    this.closing.abort();
    for (const producer of this.producers.values()) producer.close();
    this.topics.close();
    await withTimeout(this.limits.closeTimeoutMs, Promise.all(this.members.values())).catch(() => {
      this.options.logger.warn({}, 'message broker: closed with unfinished messages, which will be delivered again');
    });
    for (const member of this.members.keys()) member.destroy();
  }

  private connect(retry: RetryOptions): KafkaClient {
    const { options: cluster, limits, logs, lost } = this;
    return new KafkaClient({ cluster, limits, retry, logs, lost });
  }

  private throwIfClosed(): void {
    if (this.closing.signal.aborted) throw new Unavailable(ENGINE_NAME, 'closed');
  }
}

/** Creates topics and reads lags. Topic names include the prefix. */
class KafkaTopics {
  private connection: { readonly client: KafkaClient; readonly admin: Promise<Admin> } | undefined;

  constructor(
    private readonly open: () => KafkaClient,
    private readonly timeoutMs: number,
    private readonly replicationFactor: number | undefined,
  ) {}

  async ensureTopicsExist(topics: readonly TopicSpec[]): Promise<void> {
    await this.queryCluster(async (admin, signal) => {
      const known = new Set(await admin.listTopics());
      const missing = topics.filter((topic) => !known.has(topic.name));
      if (missing.length === 0) return;
      // kafkajs does not wait for leaders, because it would log the topics that it has just created as unknown.
      await admin.createTopics({ topics: missing.map((topic) => this.toTopicConfig(topic)), waitForLeaders: false });
      await retry(() => expectLeaders(admin, missing), { ...TOPIC_POLL_PAUSE_OPTIONS, signal });
    });
  }

  /** Returns the offset after the last message of each partition. */
  async produced(topic: string): Promise<readonly number[]> {
    const ends = await this.queryCluster((admin) => admin.fetchTopicOffsets(topic));
    return [...ends].sort((a, b) => a.partition - b.partition).map(({ high }) => Number(high));
  }

  async lag(topic: string, groupId: string): Promise<number> {
    return this.queryCluster(async (admin) => {
      const [ends, [committed]] = await Promise.all([
        admin.fetchTopicOffsets(topic),
        admin.fetchOffsets({ groupId, topics: [topic] }),
      ]);
      const offsets = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
      // A group without an offset (-1), or whose next message was deleted by retention, continues at the earliest
      // message.
      return ends.reduce((sum, { partition, low, high }) => {
        return sum + Number(high) - Math.max(offsets.get(partition) ?? -1, Number(low));
      }, 0);
    });
  }

  close(): void {
    this.connection?.client.destroy();
  }

  private toTopicConfig({ name, partitions, retentionMs }: TopicSpec): ITopicConfig {
    const configEntries = [
      { name: 'retention.ms', value: String(retentionMs) },
      { name: 'max.message.bytes', value: String(MAX_MESSAGE_BYTES) },
    ];
    const base = { topic: name, numPartitions: partitions, configEntries };
    if (this.replicationFactor === undefined) return base;
    const required = Math.max(1, this.replicationFactor - 1);
    configEntries.push({ name: 'min.insync.replicas', value: String(required) });
    return { ...base, replicationFactor: this.replicationFactor };
  }

  /** Runs a query on a shared connection, and opens a new connection after an error. */
  private async queryCluster<T>(question: (admin: Admin, signal: AbortSignal) => Promise<T>): Promise<T> {
    const over = new AbortController();
    const connection = (this.connection ??= this.connect());
    try {
      const answer = connection.admin.then((admin) => question(admin, over.signal));
      return await withTimeout(this.timeoutMs, answer);
    } catch (error) {
      connection.client.destroy();
      if (this.connection === connection) this.connection = undefined;
      throw error instanceof Unavailable ? error : new Unavailable(ENGINE_NAME, describeReason(error));
    } finally {
      over.abort();
    }
  }

  private connect(): { client: KafkaClient; admin: Promise<Admin> } {
    const client = this.open();
    const admin = client.kafka.admin();
    return { client, admin: admin.connect().then(() => admin) };
  }
}

/** Checks that all partitions have leaders. @throws Error if one has no leader or is unknown to a broker */
async function expectLeaders(admin: Admin, topics: readonly TopicSpec[]): Promise<void> {
  const metadata = await admin.fetchTopicMetadata({ topics: topics.map(({ name }) => name) });
  const leaders = metadata.topics.flatMap(({ partitions }) => partitions.map(({ leader }) => leader));
  if (leaders.some((leader) => leader < 0)) throw new Error('a partition of a new topic has no leader yet');
}

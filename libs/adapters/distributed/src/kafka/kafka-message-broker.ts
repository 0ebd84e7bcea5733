import type { Admin, ITopicConfig, logCreator, RetryOptions } from 'kafkajs';
import {
  type BatchHandler,
  type ConsumeOptions,
  type Logger,
  type BrokerMessage,
  type MessageBroker,
  type Metrics,
  type TopicSpec,
  UnavailableError,
} from '@tracking/ports';
import { retry } from '@tracking/resilience';
import { KafkaGroupMember } from './group-member.ts';
import {
  DEFAULT_KAFKA_LIMITS,
  UNLIMITED_KAFKA_RETRY_OPTIONS,
  ENGINE_NAME,
  LIMITED_KAFKA_RETRY_OPTIONS,
  KafkaClient,
  type KafkaLimits,
  createKafkaLogCreator,
  type KafkaOptions,
  LostResponseCounter,
  describeKafkaFailure,
  rejectAfterTimeout,
} from './kafka-client.ts';
import { TopicProducer } from './topic-producer.ts';

/** Type of the error if the user may not change a topic. */
const TOPIC_CHANGE_REFUSED_TYPE = 'TOPIC_AUTHORIZATION_FAILED';
const TOPIC_POLL_PAUSE_OPTIONS = { firstPauseMs: 50, maxPauseMs: 500 };
/** Value of `max.message.bytes` of created topics. An event with a large shipment exceeds the default of 1 MiB. */
const MAX_MESSAGE_BYTES = 4 * 1_048_576;

interface KafkaMessageBrokerOptions extends KafkaOptions {
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Topics of a Kafka cluster. Each has its own producers, so that a failing topic does not delay others. */
export class KafkaMessageBroker implements MessageBroker {
  private readonly limits: KafkaLimits;
  private readonly prefix: string;
  /** All clients share this logger, so that a failure of a broker is logged only once. */
  private readonly logs: logCreator;
  private readonly lost = new LostResponseCounter();
  private readonly topics: KafkaTopicAdmin;
  private readonly producers = new Map<string, TopicProducer>();
  private readonly members = new Map<KafkaGroupMember, Promise<void>>();
  private readonly closing = new AbortController();

  constructor(private readonly options: KafkaMessageBrokerOptions) {
    this.limits = { ...DEFAULT_KAFKA_LIMITS, ...options.limits };
    this.prefix = options.topicPrefix ?? '';
    this.logs = createKafkaLogCreator(options.logger);
    this.topics = new KafkaTopicAdmin(
      () => this.createKafkaClient(LIMITED_KAFKA_RETRY_OPTIONS),
      this.limits.adminTimeoutMs,
      options,
    );
    options.metrics.createGauge(
      'message_broker_waiting',
      'Messages that the broker has not acknowledged yet.',
      [],
      () => [...this.producers.values()].reduce((sum, producer) => sum + producer.depth, 0),
    );
  }

  async ensureTopics(topics: readonly TopicSpec[]): Promise<void> {
    this.throwIfClosed();
    await this.topics.ensureTopicsExist(topics.map((topic) => ({ ...topic, name: this.prefix + topic.name })));
  }

  async publishMessages(topic: string, messages: readonly BrokerMessage[]): Promise<void> {
    this.throwIfClosed();
    if (messages.length === 0) return;
    let producer = this.producers.get(topic);
    if (producer === undefined) {
      const createKafkaClient = () => this.createKafkaClient(LIMITED_KAFKA_RETRY_OPTIONS);
      const { limits, options } = this;
      const clusterTopic = this.prefix + topic;
      producer = new TopicProducer({ topic, clusterTopic, createKafkaClient, limits, logger: options.logger });
      this.producers.set(topic, producer);
    }
    await producer.publishMessages(messages);
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
    const member = new KafkaGroupMember({
      membership,
      createKafkaClient: () => this.createKafkaClient(UNLIMITED_KAFKA_RETRY_OPTIONS),
      pingBroker: () => this.topics.readEndOffsets(membership.clusterTopic),
      limits: this.limits,
      logger,
      metrics,
    });
    const over = member.consumeUntilLeavingGroup().finally(() => this.members.delete(member));
    this.members.set(member, over);
    await over;
  }

  async countPublishedMessages(topic: string): Promise<readonly number[]> {
    this.throwIfClosed();
    return this.topics.readEndOffsets(this.prefix + topic);
  }

  /**
   * Checks the cluster and the connections and consumers of this process.
   * @throws UnavailableError if the cluster does not respond, connections break, or a consumer is not a member of its
   *   group
   */
  async checkHealth(topic: string): Promise<void> {
    await this.countPublishedMessages(topic);
    if (this.lost.exceedThreshold)
      throw new UnavailableError(ENGINE_NAME, 'connections to the brokers break repeatedly; check the network');
    for (const member of this.members.keys()) {
      if (member.isOutOfGroup)
        throw new UnavailableError(ENGINE_NAME, 'a consumer of this process is not a member of its group');
    }
  }

  async readConsumerLag(topic: string, group: string): Promise<number> {
    this.throwIfClosed();
    return this.topics.readConsumerLag(this.prefix + topic, this.prefix + group);
  }

  async close(): Promise<void> {
    this.closing.abort();
    for (const producer of this.producers.values()) producer.closeTopicProducer();
    this.topics.close();
    await rejectAfterTimeout(this.limits.closeTimeoutMs, Promise.all(this.members.values())).catch(() => {
      this.options.logger.warn({}, 'message broker: closed with unfinished messages, which will be delivered again');
    });
    for (const member of this.members.keys()) member.leaveGroupImmediately();
  }

  private createKafkaClient(retry: RetryOptions): KafkaClient {
    const { options: cluster, limits, logs, lost } = this;
    return new KafkaClient({ cluster, limits, retry, logs, lost });
  }

  private throwIfClosed(): void {
    if (this.closing.signal.aborted) throw new UnavailableError(ENGINE_NAME, 'closed');
  }
}

/** Creates topics and reads lags. Topic names include the prefix. */
class KafkaTopicAdmin {
  private connection: { readonly client: KafkaClient; readonly admin: Promise<Admin> } | undefined;

  constructor(
    private readonly open: () => KafkaClient,
    private readonly timeoutMs: number,
    private readonly options: Pick<KafkaMessageBrokerOptions, 'logger' | 'replicationFactor'>,
  ) {}

  async ensureTopicsExist(topics: readonly TopicSpec[]): Promise<void> {
    await this.runKafkaAdminQuery(async (admin, signal) => {
      const known = new Set(await admin.listTopics());
      const missing = topics.filter((topic) => !known.has(topic.name));
      if (missing.length > 0) {
        // kafkajs does not wait for leaders, because it would log the topics that it has just created as unknown.
        await admin.createTopics({ topics: missing.map((topic) => this.toTopicConfig(topic)), waitForLeaders: false });
      }
      const narrow = await this.addPartitions(
        admin,
        topics.filter((topic) => known.has(topic.name)),
      );
      const changed = [...missing, ...narrow];
      if (changed.length > 0)
        await retry(() => checkPartitionLeaders(admin, changed), { ...TOPIC_POLL_PAUSE_OPTIONS, signal });
    });
  }

  /**
   * Adds partitions to existing topics that have fewer than specified. A topic that the user may not change keeps its
   * partitions.
   * @returns the changed topics
   */
  private async addPartitions(admin: Admin, existing: readonly TopicSpec[]): Promise<readonly TopicSpec[]> {
    const changed: TopicSpec[] = [];
    const counts = await countPartitions(admin, existing);
    for (const topic of existing) {
      const count = counts.get(topic.name) ?? 0;
      if (count >= topic.partitions) continue;
      try {
        await admin.createPartitions({ topicPartitions: [{ topic: topic.name, count: topic.partitions }] });
        changed.push(topic);
      } catch (error) {
        if (describeKafkaFailure(error) !== TOPIC_CHANGE_REFUSED_TYPE) throw error;
        const fields = { topic: topic.name, partitions: count, wanted: topic.partitions };
        this.options.logger.warn(fields, 'message broker: the user may not add partitions to the topic');
      }
    }
    return changed;
  }

  /** Returns the offset after the last message of each partition. */
  async readEndOffsets(topic: string): Promise<readonly number[]> {
    const ends = await this.runKafkaAdminQuery((admin) => admin.fetchTopicOffsets(topic));
    return [...ends].sort((a, b) => a.partition - b.partition).map(({ high }) => Number(high));
  }

  async readConsumerLag(topic: string, groupId: string): Promise<number> {
    return this.runKafkaAdminQuery(async (admin) => {
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
    this.connection?.client.destroyKafkaClient();
  }

  private toTopicConfig({ name, partitions, retentionMs }: TopicSpec): ITopicConfig {
    const configEntries = [
      { name: 'retention.ms', value: String(retentionMs) },
      { name: 'max.message.bytes', value: String(MAX_MESSAGE_BYTES) },
    ];
    const base = { topic: name, numPartitions: partitions, configEntries };
    const { replicationFactor } = this.options;
    if (replicationFactor === undefined) return base;
    const required = Math.max(1, replicationFactor - 1);
    configEntries.push({ name: 'min.insync.replicas', value: String(required) });
    return { ...base, replicationFactor };
  }

  /** Runs a query on a shared connection, and opens a new connection after an error. */
  private async runKafkaAdminQuery<T>(question: (admin: Admin, signal: AbortSignal) => Promise<T>): Promise<T> {
    const over = new AbortController();
    const connection = (this.connection ??= this.connectAdmin());
    try {
      const answer = connection.admin.then((admin) => question(admin, over.signal));
      return await rejectAfterTimeout(this.timeoutMs, answer);
    } catch (error) {
      connection.client.destroyKafkaClient();
      if (this.connection === connection) this.connection = undefined;
      throw error instanceof UnavailableError ? error : new UnavailableError(ENGINE_NAME, describeKafkaFailure(error));
    } finally {
      over.abort();
    }
  }

  private connectAdmin(): { client: KafkaClient; admin: Promise<Admin> } {
    const client = this.open();
    const admin = client.kafka.admin();
    return { client, admin: admin.connect().then(() => admin) };
  }
}

/** Returns the number of partitions of each topic. */
async function countPartitions(admin: Admin, topics: readonly TopicSpec[]): Promise<ReadonlyMap<string, number>> {
  // Without topics, a broker would describe all topics of the cluster.
  if (topics.length === 0) return new Map();
  const metadata = await admin.fetchTopicMetadata({ topics: topics.map(({ name }) => name) });
  return new Map(metadata.topics.map(({ name, partitions }) => [name, partitions.length]));
}

/** Checks that all partitions exist and have leaders. @throws Error if one has no leader or is unknown to a broker */
async function checkPartitionLeaders(admin: Admin, topics: readonly TopicSpec[]): Promise<void> {
  const metadata = await admin.fetchTopicMetadata({ topics: topics.map(({ name }) => name) });
  const leaders = metadata.topics.flatMap(({ partitions }) => partitions.map(({ leader }) => leader));
  const expected = topics.reduce((sum, { partitions }) => sum + partitions, 0);
  if (leaders.length < expected) throw new Error('a broker does not know all partitions yet');
  if (leaders.some((leader) => leader < 0)) throw new Error('a partition of a new topic has no leader yet');
}

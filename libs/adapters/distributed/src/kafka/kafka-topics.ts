import type { Admin, ITopicConfig } from 'kafkajs';
import { Unavailable, type TopicSpec } from '@tracking/ports';
import { retry } from '@tracking/resilience';
import type { KafkaClient } from './kafka-client.ts';
import { ENGINE, reasonOf, within } from './kafka-errors.ts';

const POLL = { firstPauseMs: 50, longestPauseMs: 500 };
/** Brokers take 1 MiB unless told otherwise: an event with a large shipment in it can be more. */
const MAX_MESSAGE_BYTES = 4 * 1_048_576;

/** What is asked of the cluster about topics and groups, under the names that the cluster knows. */
export class KafkaTopics {
  private connection: { readonly client: KafkaClient; readonly admin: Promise<Admin> } | undefined;

  constructor(
    private readonly open: () => KafkaClient,
    private readonly timeoutMs: number,
    private readonly replicationFactor: number | undefined,
  ) {}

  async ensure(topics: readonly TopicSpec[]): Promise<void> {
    await this.ask(async (admin, signal) => {
      const known = new Set(await admin.listTopics());
      const missing = topics.filter((topic) => !known.has(topic.name));
      if (missing.length === 0) return;
      // Waiting for leaders, kafkajs reports topics as unknown that it has just made.
      await admin.createTopics({ topics: missing.map((topic) => this.config(topic)), waitForLeaders: false });
      await retry(() => expectLeaders(admin, missing), { ...POLL, signal });
    });
  }

  /** The offsets after the last messages, by partition. */
  async produced(topic: string): Promise<readonly number[]> {
    const ends = await this.ask((admin) => admin.fetchTopicOffsets(topic));
    return [...ends].sort((a, b) => a.partition - b.partition).map(({ high }) => Number(high));
  }

  async lag(topic: string, groupId: string): Promise<number> {
    return this.ask(async (admin) => {
      const [ends, [committed]] = await Promise.all([
        admin.fetchTopicOffsets(topic),
        admin.fetchOffsets({ groupId, topics: [topic] }),
      ]);
      const offsets = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
      // Without an offset (-1), or with one that retention has overtaken, the group goes on at the earliest message.
      return ends.reduce((sum, { partition, low, high }) => {
        return sum + Number(high) - Math.max(offsets.get(partition) ?? -1, Number(low));
      }, 0);
    });
  }

  close(): void {
    this.connection?.client.destroy();
  }

  private config({ name, partitions, retentionMs }: TopicSpec): ITopicConfig {
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

  /** On one connection for all, made anew after an error. */
  private async ask<T>(question: (admin: Admin, signal: AbortSignal) => Promise<T>): Promise<T> {
    const over = new AbortController();
    const connection = (this.connection ??= this.connect());
    try {
      const answer = connection.admin.then((admin) => question(admin, over.signal));
      return await within(this.timeoutMs, answer);
    } catch (error) {
      connection.client.destroy();
      if (this.connection === connection) this.connection = undefined;
      throw error instanceof Unavailable ? error : new Unavailable(ENGINE, reasonOf(error));
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

/** @throws Error while a partition of them has no leader, or not every broker knows of it */
async function expectLeaders(admin: Admin, topics: readonly TopicSpec[]): Promise<void> {
  const metadata = await admin.fetchTopicMetadata({ topics: topics.map(({ name }) => name) });
  const leaders = metadata.topics.flatMap(({ partitions }) => partitions.map(({ leader }) => leader));
  if (leaders.some((leader) => leader < 0)) throw new Error('a partition has no leader yet');
}

import { createHash } from 'node:crypto';
import { setInterval } from 'node:timers';
import {
  Unavailable,
  type BatchHandler,
  type ConsumeOptions,
  type CountRetry,
  type Logger,
  type Message,
  type MessageBroker,
  type ReceivedMessage,
  type TopicSpec,
} from '@tracking/ports';
import { ConsumerGroup } from './consumer-group.ts';
import { LiveTail, type TailLimits } from './live-tail.ts';
import { LIMIT, messageOf, type Database } from './sqlite-database.ts';
import type { SqliteReaders } from './sqlite-readers.ts';
import { ENGINE, type SqliteWriter } from './sqlite-writer.ts';

const READ = `SELECT position, key, value, headers FROM messages
  WHERE topic = ? AND partition = ? AND position > ? ORDER BY position ${LIMIT}`;
const OFFSET = 'SELECT position FROM offsets WHERE consumer_group = ? AND topic = ? AND partition = ?';
/** Looks at what waits, not at what was handled: partition by partition, each from its offset on. */
const LAG = `SELECT sum((SELECT count(*) FROM messages WHERE topic = ?1 AND partition = p.value AND position > coalesce(
    (SELECT position FROM offsets WHERE consumer_group = ?2 AND topic = ?1 AND partition = p.value), 0)))
  FROM json_each(?3) AS p`;
const HEAD = 'SELECT max(position, (SELECT coalesce(max(position), 0) FROM offsets)) FROM message_sequence';
const TOPICS = 'SELECT name, partitions, retention_ms FROM topics';
const TRIM_EVERY_MS = 60_000;

/**
 * Topics in the one file of the process. Nothing here is flushed by itself: whatever made a message, and whatever is made
 * of it, stands in the same log, so that a power cut which loses it also loses the checkpoint that was moved past its
 * publication, and never loses it while something made of it survives. For the same reason a message is handed over while
 * it is still on its way there: whatever a handler writes stands behind it, at best in the same commit. Should the engine
 * refuse it, whoever publishes it has to repeat that, as after any failure.
 */
export class SqliteMessageBroker implements MessageBroker {
  private readonly groups = new Map<string, ConsumerGroup>();
  private readonly topics = new Map<string, TopicSpec>();
  private readonly tail: LiveTail<ReceivedMessage>;
  private readonly trimming: NodeJS.Timeout;
  private closed = false;

  constructor(
    private readonly writer: SqliteWriter,
    private readonly database: Database,
    private readonly readers: SqliteReaders,
    live: TailLimits,
    private readonly logger: Logger,
    private readonly countRetry: CountRetry,
  ) {
    this.tail = new LiveTail(this.head(), live);
    this.trimming = setInterval(() => void this.trim(Date.now()), TRIM_EVERY_MS).unref();
  }

  async ensureTopics(topics: readonly TopicSpec[]): Promise<void> {
    this.refuseWhenClosed();
    this.writer.admit();
    await this.writer.run({ kind: 'topics', topics }, topics.length, 'soon', () => undefined);
  }

  async publish(topic: string, messages: readonly Message[]): Promise<void> {
    this.refuseWhenClosed();
    const { partitions } = this.topic(topic);
    if (messages.length === 0) return;
    this.writer.admit();
    const placed = messages.map((message) => ({ ...message, partition: partitionOf(message.key, partitions) }));
    const cells = placed.flatMap(({ partition, key, value, headers }) => [
      partition,
      key,
      value,
      JSON.stringify(headers),
    ]);
    const first = this.tail.last + 1;
    const entries = placed.map((message, index) => ({
      characters: message.key.length + message.value.length,
      item: { ...message, topic, offset: String(first + index) },
    }));
    const operation = { kind: 'publish', topic, at: Date.now(), first, cells } as const;
    const stored = this.writer.run(operation, messages.length, 'soon', () => undefined);
    this.tail.push(entries);
    const touched = new Set(placed.map(({ partition }) => partition));
    const wake = () => {
      for (const group of this.groups.values()) if (group.topic === topic) group.wake(touched);
    };
    wake();
    await stored;
    // For those who read what is stored, since they are further back than what is kept in memory.
    wake();
  }

  async consume({ topic, group: name, maxBatch = 500, signal }: ConsumeOptions, handler: BatchHandler): Promise<void> {
    this.refuseWhenClosed();
    const { partitions } = this.topic(topic);
    const key = JSON.stringify([topic, name]);
    let group = this.groups.get(key);
    if (group === undefined) {
      group = new ConsumerGroup(topic, partitions, this.log(topic, name), this.logger, this.countRetry);
      this.groups.set(key, group);
    }
    await group.join(handler, maxBatch, signal);
  }

  /** One sequence numbers the messages of all topics. */
  async produced(topic: string): Promise<readonly number[]> {
    this.refuseWhenClosed();
    this.topic(topic);
    return [this.head()];
  }

  async lag(topic: string, group: string): Promise<number> {
    this.refuseWhenClosed();
    const partitions = JSON.stringify([...Array(this.topic(topic).partitions).keys()]);
    const { json } = await this.readers.read({ kind: 'rows', sql: { text: LAG, values: [topic, group, partitions] } });
    return (JSON.parse(json) as number[])[0] ?? 0;
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.trimming);
    await Promise.all([...this.groups.values()].map((group) => group.close()));
  }

  /** Deletes what is older than its topic keeps, a piece at a time, between which others write. */
  async trim(now: number): Promise<void> {
    try {
      for (const [name, count, retention] of this.database.rows(TOPICS)) {
        for (let partition = 0; partition < Number(count); partition += 1) {
          const before = now - Number(retention);
          const operation = { kind: 'trim', topic: String(name), partition, before } as const;
          const piece = () =>
            this.writer.run(operation, 1, 'soon', ({ deleted, more }) => {
              if (deleted > 0) this.tail.clear();
              return more;
            });
          while (!this.closed && (await piece()));
        }
      }
    } catch (error) {
      this.countRetry('deleting old messages');
      this.logger.warn({ reason: messageOf(error) }, 'storage: old messages are deleted later');
    }
  }

  private log(topic: string, group: string) {
    return {
      committed: (partition: number) => Number(this.database.value(OFFSET, [group, topic, partition]) ?? 0),
      read: (partition: number, after: number, limit: number) => {
        if (!this.tail.covers(after)) return this.readStored(topic, partition, after, limit);
        return this.tail.after(after, limit, (message) => message.topic === topic && message.partition === partition)
          .items;
      },
      commit: (partition: number, position: number) => {
        const operation = { kind: 'commit', group, topic, partition, position } as const;
        // Where nothing can be written any more, the next process handles these messages again.
        this.writer.run(operation, 1, 'later', () => undefined).catch(() => undefined);
      },
    };
  }

  private readStored(topic: string, partition: number, after: number, limit: number): ReceivedMessage[] {
    return this.database.rows(READ, [topic, partition, after, limit]).map(([position, key, value, headers]) => ({
      topic,
      partition,
      offset: String(position),
      key: String(key),
      value: String(value),
      headers: JSON.parse(String(headers)) as Record<string, string>,
    }));
  }

  /** Position of the last message of all; one that was handled may not have been stored, and its position is not given again. */
  private head(): number {
    return Number(this.database.value(HEAD));
  }

  private topic(name: string): TopicSpec {
    const known = this.topics.get(name);
    if (known) return known;
    const row = this.database.row('SELECT partitions, retention_ms FROM topics WHERE name = ?', [name]);
    if (row === undefined) throw new Unavailable(ENGINE, `there is no topic ${name}`);
    const spec = { name, partitions: Number(row[0]), retentionMs: Number(row[1]) };
    this.topics.set(name, spec);
    return spec;
  }

  private refuseWhenClosed(): void {
    if (this.closed) throw new Unavailable(ENGINE, 'closed');
  }
}

/** Spread evenly, and the same in every start. */
function partitionOf(key: string, partitions: number): number {
  return partitions === 1 ? 0 : createHash('sha1').update(key).digest().readUInt32BE(0) % partitions;
}

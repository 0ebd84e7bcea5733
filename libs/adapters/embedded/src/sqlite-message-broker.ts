import { hash } from 'node:crypto';
import { setInterval } from 'node:timers';
import {
  type BatchHandler,
  type ConsumeOptions,
  type CountRetry,
  type Logger,
  type BrokerMessage,
  type MessageBroker,
  type ReceivedBrokerMessage,
  type TopicSpec,
  UnavailableError,
} from '@tracking/ports';
import { retry, waitForAbort } from '@tracking/resilience';
import { ChangeSignal, LogTailCache, type LogTailCacheLimits } from './live-tail.ts';
import { LIMIT_CLAUSE_SQL, getErrorMessage } from './sqlite-database.ts';
import type { SqliteStorage } from './sqlite-reader-pool.ts';
import { ENGINE_NAME } from './sqlite-writer.ts';

const READ_MESSAGES_SQL = `SELECT position, key, value, headers FROM messages
  WHERE topic = ? AND partition = ? AND position > ? ORDER BY position ${LIMIT_CLAUSE_SQL}`;
const SELECT_OFFSET_SQL = 'SELECT position FROM offsets WHERE consumer_group = ? AND topic = ? AND partition = ?';
/** Counts waiting messages per partition after the group's offset, without reading handled messages. */
const SELECT_LAG_SQL = `SELECT sum((SELECT count(*) FROM messages WHERE topic = ?1 AND partition = p.value AND position > coalesce(
    (SELECT position FROM offsets WHERE consumer_group = ?2 AND topic = ?1 AND partition = p.value), 0)))
  FROM json_each(?3) AS p`;
/** An offset can exceed the last position: a message can be handled before it is stored, and then lost in a crash. */
const SELECT_HEAD_SQL = 'SELECT max(position, (SELECT coalesce(max(position), 0) FROM offsets)) FROM message_sequence';
const SELECT_TOPICS_SQL = 'SELECT name, partitions, retention_ms FROM topics';
const TRIM_INTERVAL_MS = 60_000;
const FIRST_RETRY_PAUSE_MS = 50;

interface SqliteMessageBrokerOptions {
  /** Limits of the newest messages kept in memory. */
  readonly live: LogTailCacheLimits;
  readonly logger: Logger;
  readonly countRetry: CountRetry;
}

/**
 * Topics in the SQLite file of the process.
 * No write needs its own fsync. The publisher's checkpoint, the message and the writes of its handler follow each
 * other in one write-ahead log: a power failure that loses a message also loses the checkpoint after it, and the
 * message is published again.
 * For the same reason, consumers receive a message before it is stored: their writes follow it, usually in the same
 * commit. If storing fails, `publishMessages` rejects and the publisher repeats it.
 */
export class SqliteMessageBroker implements MessageBroker {
  private readonly groups = new Map<string, ConsumerGroup>();
  private readonly topics = new Map<string, TopicSpec>();
  private readonly tail: LogTailCache<ReceivedBrokerMessage>;
  private readonly trimming: NodeJS.Timeout;
  private closed = false;

  constructor(
    private readonly storage: SqliteStorage,
    private readonly options: SqliteMessageBrokerOptions,
  ) {
    this.tail = new LogTailCache(this.readHeadPosition(), options.live);
    this.trimming = setInterval(() => void this.deleteExpiredMessages(Date.now()), TRIM_INTERVAL_MS).unref();
  }

  async ensureTopics(topics: readonly TopicSpec[]): Promise<void> {
    this.throwIfClosed();
    this.storage.writer.throwIfNotWritable();
    await this.storage.writer.addOperationToBatch({ kind: 'topics', topics }, topics.length, 'soon', () => undefined);
  }

  async publishMessages(topic: string, messages: readonly BrokerMessage[]): Promise<void> {
    this.throwIfClosed();
    const { partitions } = this.findTopicSpec(topic);
    if (messages.length === 0) return;
    this.storage.writer.throwIfNotWritable();
    const placed = messages.map((message) => ({ ...message, partition: hashToPartition(message.key, partitions) }));
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
    const stored = this.storage.writer.addOperationToBatch(operation, messages.length, 'soon', () => undefined);
    this.tail.appendItemsToTail(entries);
    const touched = new Set(placed.map(({ partition }) => partition));
    this.wakeConsumerGroups(topic, touched);
    await stored;
    // Notifies groups again that are far behind: they read the file, which contains the messages only now.
    this.wakeConsumerGroups(topic, touched);
  }

  private wakeConsumerGroups(topic: string, partitions: ReadonlySet<number>): void {
    for (const group of this.groups.values()) if (group.topic === topic) group.notifyMembersOfNewMessages(partitions);
  }

  async consume({ topic, group: name, maxBatch = 500, signal }: ConsumeOptions, handler: BatchHandler): Promise<void> {
    this.throwIfClosed();
    const spec = this.findTopicSpec(topic);
    const key = JSON.stringify([topic, name]);
    let group = this.groups.get(key);
    if (group === undefined) {
      group = new ConsumerGroup(spec, this.createTopicReaderWithGroupOffsets(topic, name), this.options);
      this.groups.set(key, group);
    }
    await group.runConsumerGroupMember(handler, maxBatch, signal);
  }

  /** One sequence numbers the messages of all topics. */
  async countPublishedMessages(topic: string): Promise<readonly number[]> {
    this.throwIfClosed();
    this.findTopicSpec(topic);
    return [this.readHeadPosition()];
  }

  async readConsumerLag(topic: string, group: string): Promise<number> {
    this.throwIfClosed();
    const partitions = JSON.stringify([...Array(this.findTopicSpec(topic).partitions).keys()]);
    const sql = { text: SELECT_LAG_SQL, values: [topic, group, partitions] };
    const { json } = await this.storage.readers.runReadInThread({ kind: 'rows', sql });
    return (JSON.parse(json) as number[])[0] ?? 0;
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.trimming);
    await Promise.all([...this.groups.values()].map((group) => group.closeConsumerGroup()));
  }

  /** Deletes messages older than the retention of their topic. */
  async deleteExpiredMessages(now: number): Promise<void> {
    try {
      for (const [name, count, retention] of this.storage.database.readRows(SELECT_TOPICS_SQL)) {
        for (let partition = 0; partition < Number(count); partition += 1) {
          await this.deleteOldPartitionMessages(String(name), partition, now - Number(retention));
        }
      }
    } catch (error) {
      this.options.countRetry('deleting old messages');
      this.options.logger.warn(
        { reason: getErrorMessage(error) },
        'storage: old messages could not be deleted; retrying later',
      );
    }
  }

  /** Deletes some messages at a time, so that other writes run in between. */
  private async deleteOldPartitionMessages(topic: string, partition: number, before: number): Promise<void> {
    const operation = { kind: 'trim', topic, partition, before } as const;
    let isMore = true;
    while (isMore && !this.closed) {
      isMore = await this.storage.writer.addOperationToBatch(operation, 1, 'soon', ({ deleted, more }) => {
        if (deleted > 0) this.tail.dropAllBufferedItems();
        return more;
      });
    }
  }

  private createTopicReaderWithGroupOffsets(topic: string, group: string): TopicLog {
    const { writer, database } = this.storage;
    return {
      committed: (partition) =>
        Number(database.readFirstValueOfQuery(SELECT_OFFSET_SQL, [group, topic, partition]) ?? 0),
      read: (partition, after, limit) => {
        if (!this.tail.hasAllItemsInMemoryAfter(after)) return this.readStoredMessages(topic, partition, after, limit);
        const isWanted = (message: ReceivedBrokerMessage) => message.topic === topic && message.partition === partition;
        return this.tail.listCachedItemsAfterPosition(after, limit, isWanted).items;
      },
      commit: (partition, position) => {
        const operation = { kind: 'commit', group, topic, partition, position } as const;
        // A failed commit means that nothing can be written any longer: the next process handles these messages again.
        writer.addOperationToBatch(operation, 1, 'later', () => undefined).catch(() => undefined);
      },
    };
  }

  /** Reads messages from the file. Stops at the limit of characters, because a backlog may contain large messages. */
  private readStoredMessages(topic: string, partition: number, after: number, limit: number): ReceivedBrokerMessage[] {
    const messages: ReceivedBrokerMessage[] = [];
    let left = this.options.live.characters;
    for (const row of this.storage.database.iterateSqlQueryRows(READ_MESSAGES_SQL, [topic, partition, after, limit])) {
      const [offset = '', key = '', value = '', headers = ''] = row.map(String);
      messages.push({ topic, partition, offset, key, value, headers: JSON.parse(headers) as Record<string, string> });
      if ((left -= value.length) < 0) break;
    }
    return messages;
  }

  /** Position of the last message of all topics. Positions are never reused. */
  private readHeadPosition(): number {
    return Number(this.storage.database.readFirstValueOfQuery(SELECT_HEAD_SQL));
  }

  private findTopicSpec(name: string): TopicSpec {
    const known = this.topics.get(name);
    if (known) return known;
    const row = this.storage.database.readRow('SELECT partitions, retention_ms FROM topics WHERE name = ?', [name]);
    if (row === undefined) throw new UnavailableError(ENGINE_NAME, `cannot use topic ${name}: it does not exist`);
    const spec = { name, partitions: Number(row[0]), retentionMs: Number(row[1]) };
    this.topics.set(name, spec);
    return spec;
  }

  private throwIfClosed(): void {
    if (this.closed) throw new UnavailableError(ENGINE_NAME, 'closed');
  }
}

/** Distributes keys evenly, and equally after every start. */
function hashToPartition(key: string, partitions: number): number {
  return partitions === 1 ? 0 : Number.parseInt(hash('sha1', key).slice(0, 8), 16) % partitions;
}

/** Topic log from which a consumer group reads messages and to which it commits offsets. */
interface TopicLog {
  /** Returns the stored position of the last handled message; 0 before the first. */
  committed(partition: number): number;
  read(partition: number, after: number, limit: number): ReceivedBrokerMessage[];
  /** Stores the current end of the event log. The caller need not await it. */
  commit(partition: number, position: number): void;
}

interface ConsumerGroupMember {
  readonly handler: BatchHandler;
  readonly maxBatch: number;
  /** Aborts when another member may handle the batch, which never happens while the process runs. */
  readonly fenced: AbortSignal;
  readonly inHand: Set<Promise<void>>;
}

/**
 * Members of one group in this process. Each partition has one loop that gives a batch at a time to the member whose
 * turn it is, so that a partition never moves during a batch.
 */
class ConsumerGroup {
  private readonly members: ConsumerGroupMember[] = [];
  private readonly closing = new AbortController();
  private loops: Promise<void>[] = [];
  /** Notified per partition of new messages or members. */
  private readonly signals: readonly ChangeSignal[];

  readonly topic: string;

  constructor(
    { name, partitions }: TopicSpec,
    private readonly log: TopicLog,
    private readonly options: { readonly logger: Logger; readonly countRetry: CountRetry },
  ) {
    this.topic = name;
    this.signals = Array.from({ length: partitions }, () => new ChangeSignal());
  }

  /** Notifies of new messages. */
  notifyMembersOfNewMessages(partitions: Iterable<number>): void {
    for (const partition of partitions) this.signals[partition]?.notifyWaiters();
  }

  /** Handles messages until the signal aborts or the group closes, and the member's current batches are finished. */
  async runConsumerGroupMember(handler: BatchHandler, maxBatch: number, signal: AbortSignal): Promise<void> {
    const member: ConsumerGroupMember = { handler, maxBatch, fenced: new AbortController().signal, inHand: new Set() };
    this.members.push(member);
    if (this.loops.length === 0) {
      this.loops = this.signals.map((signal, partition) => this.consumePartition(partition, signal));
    }
    this.notifyMembersOfNewMessages(this.signals.keys());
    await waitForAbort(signal, this.closing.signal);
    this.members.splice(this.members.indexOf(member), 1);
    await Promise.all(member.inHand);
  }

  async closeConsumerGroup(): Promise<void> {
    this.closing.abort();
    this.notifyMembersOfNewMessages(this.signals.keys());
    await Promise.all(this.loops);
  }

  private async consumePartition(partition: number, changes: ChangeSignal): Promise<void> {
    // The stored position is read once, because no other process handles this partition for the group.
    let handled: number | undefined;
    const handleNext = async () => {
      handled = await this.handleNextMessages(partition, handled ?? this.log.committed(partition), changes);
    };
    const onFailure = (error: unknown, tries: number) => this.reportHandlerFailure(partition, error, tries);
    while (!this.closing.signal.aborted) {
      // Each batch uses a new retry, so that pauses grow only while nothing is committed.
      const options = { signal: this.closing.signal, firstPauseMs: FIRST_RETRY_PAUSE_MS, onFailure };
      await retry(handleNext, options).catch(() => undefined);
    }
  }

  /** Waits for messages after a position and handles them. Returns the last handled position. */
  private async handleNextMessages(partition: number, position: number, changes: ChangeSignal): Promise<number> {
    while (!this.closing.signal.aborted) {
      const { changed } = changes;
      const member = this.members[partition % this.members.length];
      const messages = member === undefined ? [] : this.log.read(partition, position, member.maxBatch);
      const last = messages[messages.length - 1];
      if (member !== undefined && last !== undefined) {
        const next = Number(last.offset);
        await this.handleMessages(member, messages, () => this.log.commit(partition, next));
        return next;
      }
      await changed;
    }
    return position;
  }

  private async handleMessages(
    member: ConsumerGroupMember,
    messages: readonly ReceivedBrokerMessage[],
    commit: () => void,
  ): Promise<void> {
    const handled = member.handler(messages, member.fenced).then(commit);
    const inHand = handled.catch(() => undefined);
    member.inHand.add(inHand);
    await handled.finally(() => member.inHand.delete(inHand));
  }

  private reportHandlerFailure(partition: number, error: unknown, tries: number): void {
    const { topic } = this;
    this.options.countRetry('handling messages');
    const about = { topic, partition, tries, reason: getErrorMessage(error) };
    this.options.logger.warn(
      about,
      'message broker: a handler failed on a batch of messages, which will be handled again',
    );
  }
}

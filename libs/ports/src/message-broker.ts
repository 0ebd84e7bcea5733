export interface TopicSpec {
  readonly name: string;
  /** Minimum number of partitions. A topic is created with this number. */
  readonly partitions: number;
  /** Milliseconds for which messages are kept. Offsets of consumer groups are kept longer. */
  readonly retentionMs: number;
}

export interface BrokerMessage {
  /** Key of the message, never empty. Messages of one key keep their publishing order. */
  readonly key: string;
  /** Body of the message, JSON text. */
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ReceivedBrokerMessage extends BrokerMessage {
  readonly topic: string;
  readonly partition: number;
  /** Offset of the message. Offsets increase within a partition and have no other meaning. */
  readonly offset: string;
}

export interface ConsumeOptions {
  readonly topic: string;
  /**
   * Name of the consumer group. Each message goes to one member. A group without an offset starts at the earliest kept
   * message.
   */
  readonly group: string;
  /** Maximum number of messages in one batch; 500 by default. */
  readonly maxBatch?: number;
  /** Signal that ends the consumption after the current batch. */
  readonly signal: AbortSignal;
}

/**
 * Handles messages of one partition, in order. The offset is committed after the handler resolves. If the handler
 * throws, this or another member receives the same messages again after a pause, so handling must be idempotent.
 * @param fenced aborts when the partition is assigned to another member, which may handle the same messages
 * concurrently
 */
export type BatchHandler = (messages: readonly ReceivedBrokerMessage[], fenced: AbortSignal) => Promise<void>;

/**
 * The broker permanently refuses a message, for example because it is too large. This message and later messages of its
 * key in the same call are not stored. Other messages of the call may be stored.
 */
export class MessageRefusedError extends Error {
  override readonly name = 'MessageRefused';
  constructor(
    readonly topic: string,
    /** Index of the refused message in the call. */
    readonly index: number,
    readonly reason: string,
  ) {
    super(`${topic}: the broker permanently refuses a message: ${reason}`);
  }
}

/**
 * Topics of keyed messages with consumer groups.
 * Durability: When `publishMessages` resolves, every required replica has the batch. Ordering: Messages of a key keep
 * the order of the calls of `publishMessages`; the adapter sends one batch of a key at a time. Delivery is at least
 * once: A batch with an unknown outcome is sent again completely, so consumers drop repeats by the event id in the
 * message. If `publishMessages` rejects, consumers may have received the batch; repeat the call until it resolves. A
 * handled message whose offset was not committed before a crash is delivered again.
 */
export interface MessageBroker {
  /**
   * Creates missing topics. An adapter may add partitions to a topic that has fewer than specified, and never removes
   * any. When partitions are added, the partition of a key can change.
   */
  ensureTopics(topics: readonly TopicSpec[]): Promise<void>;

  /**
   * Publishes a batch of messages.
   * @throws UnavailableError if the broker did not acknowledge in time: the batch may be stored, repeat it
   * @throws BusyError if too many messages are waiting: nothing was sent
   * @throws MessageRefusedError
   */
  publishMessages(topic: string, messages: readonly BrokerMessage[]): Promise<void>;

  /**
   * Consumes messages until the signal aborts. Consumption continues after a loss of the broker, handler errors and
   * rebalances. Partitions are handled concurrently, each in order. Resolves when the last batch is finished.
   */
  consume(options: ConsumeOptions, handler: BatchHandler): Promise<void>;

  /**
   * Returns the number of messages ever published to the topic, per partition or for the whole store, in a fixed order.
   * The numbers only increase. If one is missing or smaller than before, the broker has lost acknowledged messages: its
   * topic or disk was replaced, or a lagging replica took over.
   * @throws UnavailableError
   */
  countPublishedMessages(topic: string): Promise<readonly number[]>;

  /** Returns the number of messages in all partitions that the group has not committed. */
  readConsumerLag(topic: string, group: string): Promise<number>;

  /** Ends consumption after the current batches, within a bounded time. Unacknowledged publishes reject. */
  close(): Promise<void>;
}

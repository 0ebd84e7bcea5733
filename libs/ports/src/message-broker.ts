export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  /** How long messages are kept, in milliseconds; consumers' offsets outlive it. */
  readonly retentionMs: number;
}

export interface Message {
  /** Messages of one key stay in the order they were published in. Never empty. */
  readonly key: string;
  /** JSON text. */
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ReceivedMessage extends Message {
  readonly topic: string;
  readonly partition: number;
  /** Grows within the partition; opaque otherwise. */
  readonly offset: string;
}

export interface ConsumeOptions {
  readonly topic: string;
  /** Each message goes to one member of a group. A group without an offset starts at the earliest message kept. */
  readonly group: string;
  /** Most messages in one batch; 500 by default. */
  readonly maxBatch?: number;
  /** Ends the consumption after the batch in hand. */
  readonly signal: AbortSignal;
}

/**
 * Handles messages of one partition, in order. Their offsets are committed after it resolves. When it throws, the same
 * messages come again after a pause, to this or another member: all work must bear repetition.
 * @param fenced aborts when the partition was taken away; what is then still under way may be done by another as well
 */
export type BatchHandler = (messages: readonly ReceivedMessage[], fenced: AbortSignal) => Promise<void>;

/**
 * Topics of keyed messages with consumer groups.
 *
 * Durability: a published batch is kept by every required replica when `publish` resolves.
 * Ordering: per key, in the order in which `publish` was called; the adapter sends one batch at a time.
 * At least once: a batch whose outcome was unknown is sent again whole, so consumers drop repeats by the event id in the
 * message; a message that was handled but whose offset was not committed before a crash comes again.
 */
export interface MessageBroker {
  /** Makes what is missing of these topics; leaves those that exist as they are. */
  ensureTopics(topics: readonly TopicSpec[]): Promise<void>;

  /**
   * @throws Unavailable when the broker did not acknowledge in time: perhaps kept, repeat it
   * @throws Busy when too much is waiting: certainly not sent
   */
  publish(topic: string, messages: readonly Message[]): Promise<void>;

  /**
   * Consumes until the signal aborts, for as long as the process lives: outlasts the loss of the broker, handler errors
   * and rebalances. Partitions are handled side by side, each in order. Resolves when the last batch in hand is done.
   */
  consume(options: ConsumeOptions, handler: BatchHandler): Promise<void>;

  /** Messages that the group has not committed yet, over all partitions. */
  lag(topic: string, group: string): Promise<number>;

  /** Ends consumption after the batches in hand, within a bounded time; unacknowledged publishes reject. */
  close(): Promise<void>;
}

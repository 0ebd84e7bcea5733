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
 * The broker will never take one of the messages, as when it is too large. It is certainly not kept, nor is any later one
 * of its key in the same call; the others of the call may be.
 */
export class MessageRefused extends Error {
  override readonly name = 'MessageRefused';
  constructor(
    readonly topic: string,
    /** Index of the message among those of the call. */
    readonly index: number,
    reason: string,
  ) {
    super(`${topic}: a message is refused for ever: ${reason}`);
  }
}

/**
 * Topics of keyed messages with consumer groups.
 *
 * Durability: a published batch is kept by every required replica when `publish` resolves.
 * Ordering: per key, in the order in which `publish` was called; the adapter sends one batch at a time.
 * At least once: a batch whose outcome was unknown is sent again whole, so consumers drop repeats by the event id in the
 * message; they may have seen one whose `publish` rejected, which is to be repeated until it resolves. A message that was
 * handled but whose offset was not committed before a crash comes again.
 */
export interface MessageBroker {
  /** Makes what is missing of these topics; leaves those that exist as they are. */
  ensureTopics(topics: readonly TopicSpec[]): Promise<void>;

  /**
   * @throws Unavailable when the broker did not acknowledge in time: perhaps kept, repeat it
   * @throws Busy when too much is waiting: certainly not sent
   * @throws MessageRefused
   */
  publish(topic: string, messages: readonly Message[]): Promise<void>;

  /**
   * Consumes until the signal aborts, for as long as the process lives: outlasts the loss of the broker, handler errors
   * and rebalances. Partitions are handled side by side, each in order. Resolves when the last batch in hand is done.
   */
  consume(options: ConsumeOptions, handler: BatchHandler): Promise<void>;

  /**
   * How many messages the topic was given, each partition or the store as a whole, whether or not they are still kept:
   * numbers which only grow, in a fixed order. Where one is smaller than it was, or missing, the broker has lost messages
   * that it had acknowledged: its topic or its disk was replaced, or a replica took over that had lagged behind.
   * @throws Unavailable
   */
  produced(topic: string): Promise<readonly number[]>;

  /** Messages that the group has not committed yet, over all partitions. */
  lag(topic: string, group: string): Promise<number>;

  /** Ends consumption after the batches in hand, within a bounded time; unacknowledged publishes reject. */
  close(): Promise<void>;
}

import { setImmediate } from 'node:timers/promises';
import { Partitioners, type Producer } from 'kafkajs';
import { MessageRefusedError, UnavailableError, type Logger, type BrokerMessage } from '@tracking/ports';
import { monotonicMs, retry } from '@tracking/resilience';
import {
  ENGINE_NAME,
  type KafkaClient,
  type KafkaLimits,
  METADATA_MAX_AGE_MS,
  describeKafkaFailure,
  RetryLogger,
  rejectAfterTimeout,
} from './kafka-client.ts';

/** Maximum size of a batch in bytes: half of what a broker accepts by default (`message.max.bytes`). */
const MAX_BATCH_BYTES = 512 * 1_024;
const MAX_BATCH_MESSAGES = 1_000;
const RETRY_BACKOFF_LIMITS = { firstPauseMs: 50, maxPauseMs: 1_000 };
/** Error types of messages that the broker never accepts. Nothing was stored, and a retry does not help. */
const MESSAGE_REFUSAL_ERROR_TYPES = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']);

/** A message that a caller of the topic publishes together with others. */
export interface MessageWithIndex {
  readonly message: BrokerMessage;
  /** Index among the messages of the caller. */
  readonly index: number;
  /** Approximate size in a request and in memory. */
  readonly bytes: number;
}

/** A call of `publishMessages` that waits for its acknowledgement. */
interface PendingPublish {
  /** Monotonic time in milliseconds. */
  readonly deadline: number;
  /** Number of unacknowledged messages. */
  left: number;
  acknowledged(): void;
  failed(error: Error): void;
}

/** Messages of one call that are sent in one batch. */
interface ChunkOfMessages {
  readonly call: PendingPublish;
  readonly messages: readonly MessageWithIndex[];
  readonly bytes: number;
}

export interface ProducerOptions {
  /** Name of the topic that callers use. */
  readonly topic: string;
  /** Name of the topic in the cluster, with its prefix. */
  readonly clusterTopic: string;
  createKafkaClient(): KafkaClient;
  readonly limits: KafkaLimits;
  readonly logger: Logger;
}

/**
 * Sends messages to one topic in their order, one batch at a time; messages that arrive meanwhile form the next batch.
 * After a failed send, kafkajs reuses its sequence numbers for the next one, and the broker drops that as a duplicate
 * although it acknowledges it. So concurrent sends, or another batch after a failed one, would lose messages. After any
 * error, a new producer sends the same batch again.
 */
export class OrderedProducer {
  private waiting: ChunkOfMessages[] = [];
  private readonly closing = new AbortController();
  private connection: { readonly client: KafkaClient; readonly producer: Promise<Producer> } | undefined;
  private readonly reporter: RetryLogger;
  private isSending = false;

  constructor(private readonly options: ProducerOptions) {
    const { topic, logger } = options;
    this.reporter = new RetryLogger(
      'message broker: sending failed; the same messages are sent again',
      { topic },
      logger,
    );
  }

  /** @throws UnavailableError; MessageRefusedError with the index of the refused message */
  publishMessages(messages: readonly MessageWithIndex[]): Promise<void> {
    const settled = new Promise<void>((acknowledged, failed) => {
      const deadline = monotonicMs() + this.options.limits.publishTimeoutMs;
      this.waiting.push(
        ...splitMessagesIntoChunks(messages, { deadline, left: messages.length, acknowledged, failed }),
      );
    });
    if (!this.isSending) void this.sendQueuedMessagesInBatches();
    return settled;
  }

  /** Rejects all unacknowledged messages. */
  closeProducer(): void {
    this.closing.abort();
    this.disconnectProducer();
  }

  private async sendQueuedMessagesInBatches(): Promise<void> {
    this.isSending = true;
    // Messages that are published in one turn of the event loop form one batch.
    await setImmediate();
    for (let batch = this.takeNextBatch(); batch.length > 0; batch = this.takeNextBatch()) {
      const failure = await this.sendMessageBatchUntilDeadline(batch);
      if (failure === undefined) for (const chunk of batch) acknowledgePublishedChunk(chunk);
      else if (failure instanceof UnavailableError) {
        // Waiting messages must not overtake failed messages that their caller may publish again.
        for (const { call } of [...batch, ...this.waiting.splice(0)]) call.failed(failure);
      } else this.isolateRefusedMessage(batch, failure);
    }
    this.isSending = false;
  }

  /** Sends several messages one by one to find the refused one. Later messages of its call are not sent. */
  private isolateRefusedMessage(batch: readonly ChunkOfMessages[], reason: string): void {
    const singles = batch.flatMap(({ call, messages }) => messages.map((message) => ({ call, message })));
    const [refused] = singles;
    if (refused === undefined) return;
    const { call, message } = refused;
    if (singles.length > 1)
      this.waiting.unshift(...singles.map((one) => ({ call: one.call, messages: [one.message], bytes: Infinity })));
    else {
      this.waiting = this.waiting.filter((chunk) => chunk.call !== call);
      call.failed(new MessageRefusedError(this.options.topic, message.index, reason));
    }
  }

  private takeNextBatch(): ChunkOfMessages[] {
    let bytes = 0;
    let messages = 0;
    const end = this.waiting.findIndex((chunk, at) => {
      bytes += chunk.bytes;
      messages += chunk.messages.length;
      return at > 0 && (bytes > MAX_BATCH_BYTES || messages > MAX_BATCH_MESSAGES);
    });
    return this.waiting.splice(0, end === -1 ? this.waiting.length : end);
  }

  /**
   * Sends a batch and returns the reason why it is not acknowledged. The reason is a text if the broker never accepts
   * the batch.
   */
  private async sendMessageBatchUntilDeadline(
    batch: readonly ChunkOfMessages[],
  ): Promise<UnavailableError | string | undefined> {
    const { signal } = this.closing;
    const deadline = batch[0]?.call.deadline ?? 0;
    const messages = batch
      .flatMap((chunk) => chunk.messages)
      .map(({ message: { key, value, headers } }) => ({ key, value, headers }));
    const onFailure = (error: unknown) => {
      this.disconnectProducer();
      if (isTransient(error) && !signal.aborted) this.reporter.reportRetryFailure(describeKafkaFailure(error));
    };
    try {
      const send = () => rejectAfterTimeout(deadline - monotonicMs(), this.sendMessages(messages), signal);
      await retry(send, { ...RETRY_BACKOFF_LIMITS, signal, deadline, isTransient, onFailure });
    } catch (error) {
      if (!isTransient(error)) return describeKafkaFailure(error);
      if (signal.aborted) return new UnavailableError(ENGINE_NAME, 'closed');
      return error instanceof UnavailableError ? error : new UnavailableError(ENGINE_NAME, describeKafkaFailure(error));
    }
    this.reporter.reportRetrySuccess();
    return undefined;
  }

  private async sendMessages(
    messages: { key: string; value: string; headers: Record<string, string> }[],
  ): Promise<void> {
    if (this.closing.signal.aborted) throw new UnavailableError(ENGINE_NAME, 'closed');
    this.connection ??= this.connectProducer();
    const producer = await this.connection.producer;
    const { clusterTopic: topic, limits } = this.options;
    await producer.send({ topic, messages, acks: -1, timeout: limits.requestTimeoutMs });
  }

  private connectProducer(): { client: KafkaClient; producer: Promise<Producer> } {
    const client = this.options.createKafkaClient();
    const producer = client.kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      metadataMaxAge: METADATA_MAX_AGE_MS,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    return { client, producer: producer.connect().then(() => producer) };
  }

  private disconnectProducer(): void {
    this.connection?.client.destroyKafkaClient();
    this.connection = undefined;
  }
}

function isTransient(error: unknown): boolean {
  return !MESSAGE_REFUSAL_ERROR_TYPES.has(describeKafkaFailure(error));
}

function splitMessagesIntoChunks(messages: readonly MessageWithIndex[], call: PendingPublish): ChunkOfMessages[] {
  const made: { call: PendingPublish; messages: MessageWithIndex[]; bytes: number }[] = [];
  for (const message of messages) {
    const { bytes } = message;
    const last = made[made.length - 1];
    if (last === undefined || last.bytes + bytes > MAX_BATCH_BYTES || last.messages.length >= MAX_BATCH_MESSAGES) {
      made.push({ call, messages: [message], bytes });
    } else {
      last.messages.push(message);
      last.bytes += bytes;
    }
  }
  return made;
}

function acknowledgePublishedChunk({ call, messages }: ChunkOfMessages): void {
  call.left -= messages.length;
  if (call.left === 0) call.acknowledged();
}

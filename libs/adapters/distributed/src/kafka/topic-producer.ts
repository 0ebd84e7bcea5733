import { Partitioners, type Producer } from 'kafkajs';
import { Busy, MessageRefused, Unavailable, type Logger, type Message } from '@tracking/ports';
import { monotonicMs, retry } from '@tracking/resilience';
import {
  ENGINE_NAME,
  type KafkaClient,
  type KafkaLimits,
  describeReason,
  RetryReporter,
  withTimeout,
} from './kafka-client.ts';

/** Maximum size of a batch in bytes: half of what a broker accepts by default (`message.max.bytes`). */
const MAX_BATCH_BYTES = 512 * 1_024;
const MAX_BATCH_MESSAGES = 1_000;
const MESSAGE_OVERHEAD_BYTES = 64;
const RETRY_PAUSE_OPTIONS = { firstPauseMs: 50, maxPauseMs: 1_000 };
/** Error types of messages that the broker never accepts. Nothing was stored, and a retry does not help. */
const REFUSAL_ERROR_TYPES = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']);

/** A call of `publish` that waits for its acknowledgement. */
interface PendingPublish {
  /** Monotonic time in milliseconds. */
  readonly deadline: number;
  /** Number of unacknowledged messages. */
  left: number;
  acknowledged(): void;
  failed(error: Error): void;
}

/** Messages of one call that are sent in one batch. */
interface MessageChunk {
  readonly call: PendingPublish;
  readonly messages: readonly Message[];
  /** Index of the chunk's first message in the call. */
  readonly index: number;
  readonly bytes: number;
}

interface TopicProducerOptions {
  /** Name of the topic that callers use. */
  readonly topic: string;
  /** Name of the topic in the cluster, with its prefix. */
  readonly clusterTopic: string;
  openClient(): KafkaClient;
  readonly limits: KafkaLimits;
  readonly logger: Logger;
}

/**
 * Sends messages to one topic, one batch at a time; messages that arrive meanwhile form the next batch. After a failed
 * send, kafkajs reuses its sequence numbers for the next one, and the broker drops that as a duplicate although it
 * acknowledges it. So concurrent sends, or another batch after a failed one, would lose messages. After any error, a
 * new producer sends the same batch again.
 */
export class TopicProducer {
  private waiting: MessageChunk[] = [];
  private readonly closing = new AbortController();
  private connection: { readonly client: KafkaClient; readonly producer: Promise<Producer> } | undefined;
  private readonly reporter: RetryReporter;
  private isSending = false;
  private count = 0;

  constructor(private readonly options: TopicProducerOptions) {
    const { topic, logger } = options;
    this.reporter = new RetryReporter(
      'message broker: sending failed; the same messages are sent again',
      { topic },
      logger,
    );
  }

  /** Number of unacknowledged messages. */
  get depth(): number {
    return this.count;
  }

  async publish(messages: readonly Message[]): Promise<void> {
    const { maxWaiting, publishTimeoutMs } = this.options.limits;
    if (this.count > 0 && this.count + messages.length > maxWaiting) {
      throw new Busy(ENGINE_NAME, `${this.count} messages are already waiting; retry later`);
    }
    this.count += messages.length;
    const settled = new Promise<void>((acknowledged, failed) => {
      const deadline = monotonicMs() + publishTimeoutMs;
      this.waiting.push(...splitIntoChunks(messages, { deadline, left: messages.length, acknowledged, failed }));
    });
    if (!this.isSending) void this.sendAll();
    await settled.finally(() => (this.count -= messages.length));
  }

  /** Rejects all unacknowledged messages. */
  close(): void {
    this.closing.abort();
    this.disconnect();
  }

  private async sendAll(): Promise<void> {
    this.isSending = true;
    for (let batch = this.takeNextBatch(); batch.length > 0; batch = this.takeNextBatch()) {
      const failure = await this.sendUntilAcknowledged(batch);
      if (failure === undefined) for (const chunk of batch) acknowledgeChunk(chunk);
      else if (failure instanceof Unavailable) {
        // Waiting messages must not overtake failed messages that their caller may publish again.
        for (const { call } of [...batch, ...this.waiting.splice(0)]) call.failed(failure);
      } else this.rejectChunks(batch, failure);
    }
    this.isSending = false;
  }

  /** Sends several messages one by one to find the refused one. Later messages of its call are not sent. */
  private rejectChunks(batch: readonly MessageChunk[], reason: string): void {
    const [first, ...others] = batch.flatMap(splitIntoSingles);
    if (first === undefined) return;
    if (others.length > 0) this.waiting.unshift(first, ...others);
    else {
      this.waiting = this.waiting.filter(({ call }) => call !== first.call);
      first.call.failed(new MessageRefused(this.options.topic, first.index, reason));
    }
  }

  private takeNextBatch(): MessageChunk[] {
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
  private async sendUntilAcknowledged(batch: readonly MessageChunk[]): Promise<Unavailable | string | undefined> {
    const { signal } = this.closing;
    const deadline = batch[0]?.call.deadline ?? 0;
    const messages = batch
      .flatMap((chunk) => chunk.messages)
      .map(({ key, value, headers }) => ({ key, value, headers }));
    const onFailure = (error: unknown) => {
      this.disconnect();
      if (isTransient(error) && !signal.aborted) this.reporter.reportFailure(describeReason(error));
    };
    try {
      const send = () => withTimeout(deadline - monotonicMs(), this.send(messages), signal);
      await retry(send, { ...RETRY_PAUSE_OPTIONS, signal, deadline, isTransient, onFailure });
    } catch (error) {
      if (!isTransient(error)) return describeReason(error);
      if (signal.aborted) return new Unavailable(ENGINE_NAME, 'closed');
      return error instanceof Unavailable ? error : new Unavailable(ENGINE_NAME, describeReason(error));
    }
    this.reporter.reportSuccess();
    return undefined;
  }

  private async send(messages: { key: string; value: string; headers: Record<string, string> }[]): Promise<void> {
    this.connection ??= this.connect();
    const producer = await this.connection.producer;
    const { clusterTopic: topic, limits } = this.options;
    await producer.send({ topic, messages, acks: -1, timeout: limits.requestTimeoutMs });
  }

  private connect(): { client: KafkaClient; producer: Promise<Producer> } {
    const client = this.options.openClient();
    const producer = client.kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    return { client, producer: producer.connect().then(() => producer) };
  }

  private disconnect(): void {
    this.connection?.client.destroy();
    this.connection = undefined;
  }
}

function isTransient(error: unknown): boolean {
  return !REFUSAL_ERROR_TYPES.has(describeReason(error));
}

function splitIntoChunks(messages: readonly Message[], call: PendingPublish): MessageChunk[] {
  const made: { call: PendingPublish; messages: Message[]; index: number; bytes: number }[] = [];
  for (const [index, message] of messages.entries()) {
    const bytes = messageSizeBytes(message);
    const last = made[made.length - 1];
    if (last === undefined || last.bytes + bytes > MAX_BATCH_BYTES || last.messages.length >= MAX_BATCH_MESSAGES) {
      made.push({ call, messages: [message], index, bytes });
    } else {
      last.messages.push(message);
      last.bytes += bytes;
    }
  }
  return made;
}

/** Splits a chunk into chunks of one message each. */
function splitIntoSingles({ call, messages, index }: MessageChunk): MessageChunk[] {
  return messages.map((message, at) => ({ call, messages: [message], index: index + at, bytes: Infinity }));
}

function acknowledgeChunk({ call, messages }: MessageChunk): void {
  call.left -= messages.length;
  if (call.left === 0) call.acknowledged();
}

function messageSizeBytes({ key, value, headers }: Message): number {
  const texts = [key, value, ...Object.entries(headers).flat()];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), MESSAGE_OVERHEAD_BYTES);
}

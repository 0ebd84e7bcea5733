import { setTimeout as pause } from 'node:timers/promises';
import { Partitioners, type Producer } from 'kafkajs';
import { Busy, MessageRefused, Unavailable, type Logger, type Message } from '@tracking/ports';
import type { KafkaClient } from './kafka-client.ts';
import { ENGINE, reasonOf, within } from './kafka-errors.ts';
import type { KafkaLimits } from './kafka-options.ts';
import { Trouble } from './trouble.ts';

/** Half of what a broker takes in one batch of records by default (`message.max.bytes`). */
const MAX_BYTES = 512 * 1_024;
const MAX_MESSAGES = 1_000;
const OVERHEAD_BYTES = 64;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** The broker will never take it: certain that nothing was kept, useless to repeat. */
const REFUSALS = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']);

/** One call of `publish`. */
interface Call {
  /** On the monotonic clock. */
  readonly deadline: number;
  /** Messages of it that are not kept yet. */
  left: number;
  kept(): void;
  failed(error: Error): void;
}

/** Messages of one call that go in one send. */
interface Piece {
  readonly call: Call;
  readonly messages: readonly Message[];
  /** Of its first message among those of the call. */
  readonly index: number;
  readonly bytes: number;
}

/**
 * Sends to one topic, one batch at a time; what arrives meanwhile makes the next one. Two sends at once, or another batch
 * after a failed one, lose messages that kafkajs calls acknowledged: a failed send gives its sequence numbers to the next
 * one, which the broker then takes for a repeat. So after any error: a new producer, and the same batch again.
 */
export class TopicProducer {
  private waiting: Piece[] = [];
  private readonly closing = new AbortController();
  private link: { readonly client: KafkaClient; readonly producer: Promise<Producer> } | undefined;
  private readonly trouble: Trouble;
  private isSending = false;
  private count = 0;

  constructor(
    /** As the caller knows it, and as the cluster does. */
    private readonly topic: string,
    private readonly clusterTopic: string,
    private readonly open: () => KafkaClient,
    private readonly limits: KafkaLimits,
    logger: Logger,
  ) {
    this.trouble = new Trouble('message broker: the same messages are sent again', { topic }, logger);
  }

  /** Messages not acknowledged yet. */
  get depth(): number {
    return this.count;
  }

  async publish(messages: readonly Message[]): Promise<void> {
    if (this.count > 0 && this.count + messages.length > this.limits.maxWaiting) {
      throw new Busy(ENGINE, `${this.count} messages are waiting`);
    }
    this.count += messages.length;
    const settled = new Promise<void>((kept, failed) => {
      const deadline = performance.now() + this.limits.publishTimeoutMs;
      this.waiting.push(...pieces(messages, { deadline, left: messages.length, kept, failed }));
    });
    if (!this.isSending) void this.sendAll();
    await settled.finally(() => (this.count -= messages.length));
  }

  /** Rejects what is not acknowledged. */
  close(): void {
    this.closing.abort();
    this.unlink();
  }

  private async sendAll(): Promise<void> {
    this.isSending = true;
    for (let batch = this.next(); batch.length > 0; batch = this.next()) {
      const failure = await this.sendUntilKept(batch);
      if (failure === undefined) for (const piece of batch) keep(piece);
      else if (failure instanceof Unavailable) {
        // What waits must not overtake what may have to be repeated.
        for (const { call } of [...batch, ...this.waiting.splice(0)]) call.failed(failure);
      } else this.refuse(batch, failure);
    }
    this.isSending = false;
  }

  /** Of several messages each is sent alone, to find the one; nothing of its call is sent after it. */
  private refuse(batch: readonly Piece[], reason: string): void {
    const [first, ...others] = batch.flatMap(alone);
    if (first === undefined) return;
    if (others.length > 0) this.waiting.unshift(first, ...others);
    else {
      this.waiting = this.waiting.filter(({ call }) => call !== first.call);
      first.call.failed(new MessageRefused(this.topic, first.index, reason));
    }
  }

  private next(): Piece[] {
    let bytes = 0;
    let messages = 0;
    const end = this.waiting.findIndex((piece, at) => {
      bytes += piece.bytes;
      messages += piece.messages.length;
      return at > 0 && (bytes > MAX_BYTES || messages > MAX_MESSAGES);
    });
    return this.waiting.splice(0, end === -1 ? this.waiting.length : end);
  }

  /** Answers why they are not kept: a text where they never will be. */
  private async sendUntilKept(batch: readonly Piece[]): Promise<Unavailable | string | undefined> {
    const deadline = batch[0]?.call.deadline ?? 0;
    const messages = batch
      .flatMap((piece) => piece.messages)
      .map(({ key, value, headers }) => ({ key, value, headers }));
    for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(2 * wait, LONGEST_PAUSE_MS)) {
      const left = deadline - performance.now();
      try {
        await within(left, this.send(messages), this.closing.signal);
        this.trouble.isOver();
        return undefined;
      } catch (error) {
        this.unlink();
        const reason = reasonOf(error);
        if (REFUSALS.has(reason)) return reason;
        if (this.closing.signal.aborted) return new Unavailable(ENGINE, 'closed');
        this.trouble.goesOn(reason);
        if (left <= wait) return error instanceof Unavailable ? error : new Unavailable(ENGINE, reason);
      }
      await pause(wait, undefined, { signal: this.closing.signal }).catch(() => undefined);
    }
  }

  private async send(messages: { key: string; value: string; headers: Record<string, string> }[]): Promise<void> {
    this.link ??= this.connect();
    const producer = await this.link.producer;
    await producer.send({ topic: this.clusterTopic, messages, acks: -1, timeout: this.limits.requestTimeoutMs });
  }

  private connect(): { client: KafkaClient; producer: Promise<Producer> } {
    const client = this.open();
    const producer = client.kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    return { client, producer: producer.connect().then(() => producer) };
  }

  private unlink(): void {
    this.link?.client.abandon();
    this.link = undefined;
  }
}

function pieces(messages: readonly Message[], call: Call): Piece[] {
  const made: { call: Call; messages: Message[]; index: number; bytes: number }[] = [];
  for (const [index, message] of messages.entries()) {
    const bytes = sizeOf(message);
    const last = made[made.length - 1];
    if (last === undefined || last.bytes + bytes > MAX_BYTES || last.messages.length >= MAX_MESSAGES) {
      made.push({ call, messages: [message], index, bytes });
    } else {
      last.messages.push(message);
      last.bytes += bytes;
    }
  }
  return made;
}

/** Each message as a piece that goes with no other. */
function alone({ call, messages, index }: Piece): Piece[] {
  return messages.map((message, at) => ({ call, messages: [message], index: index + at, bytes: Infinity }));
}

function keep({ call, messages }: Piece): void {
  call.left -= messages.length;
  if (call.left === 0) call.kept();
}

function sizeOf({ key, value, headers }: Message): number {
  const texts = [key, value, ...Object.entries(headers).flat()];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), OVERHEAD_BYTES);
}

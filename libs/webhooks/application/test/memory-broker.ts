import type { BatchHandler, ConsumeOptions, Message, MessageBroker, ReceivedMessage } from '@tracking/ports';

const PARTITIONS = 2;
const AGAIN_MS = 5;

/** Topics in memory, which outlive the processes of a test as a broker does. */
export class MemoryTopics {
  private readonly topics = new Map<string, ReceivedMessage[][]>();
  /** Next offset, by group, topic and partition. */
  readonly committed = new Map<string, number>();
  /** Partitions being consumed, by the same keys. */
  readonly taken = new Set<string>();
  private waiting: (() => void)[] = [];

  partitions(topic: string): ReceivedMessage[][] {
    const known = this.topics.get(topic) ?? Array.from({ length: PARTITIONS }, () => []);
    this.topics.set(topic, known);
    return known;
  }

  messages(topic: string): readonly ReceivedMessage[] {
    return this.partitions(topic).flat();
  }

  append(topic: string, messages: readonly Message[]): void {
    for (const message of messages) {
      const partition = [...message.key].reduce((sum, char) => sum + char.charCodeAt(0), 0) % PARTITIONS;
      const log = this.partitions(topic)[partition] ?? [];
      log.push({ ...message, topic, partition, offset: String(log.length) });
    }
    const { waiting } = this;
    this.waiting = [];
    for (const wake of waiting) wake();
  }

  /** Resolves when something was appended, or the signal aborts. */
  change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      this.waiting.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

/** One process's connection to the topics. */
export class MemoryBroker implements MessageBroker {
  private readonly closing = new AbortController();
  private readonly loops = new Set<Promise<void>>();

  constructor(private readonly topics: MemoryTopics) {}

  ensureTopics(): Promise<void> {
    return Promise.resolve();
  }

  publish(topic: string, messages: readonly Message[]): Promise<void> {
    this.topics.append(topic, messages);
    return Promise.resolve();
  }

  async consume(options: ConsumeOptions, handler: BatchHandler): Promise<void> {
    const loops = this.topics
      .partitions(options.topic)
      .map((_, partition) => this.partition(options, partition, handler));
    for (const loop of loops) this.loops.add(loop);
    await Promise.all(loops);
  }

  lag(topic: string, group: string): Promise<number> {
    const behind = this.topics
      .partitions(topic)
      .map((log, partition) => log.length - (this.topics.committed.get(`${group} ${topic} ${partition}`) ?? 0));
    return Promise.resolve(behind.reduce((sum, messages) => sum + messages, 0));
  }

  async close(): Promise<void> {
    this.closing.abort();
    await Promise.all(this.loops);
  }

  private async partition(options: ConsumeOptions, partition: number, handler: BatchHandler): Promise<void> {
    const { topic, group, maxBatch = 500 } = options;
    const { committed, taken } = this.topics;
    const key = `${group} ${topic} ${partition}`;
    const signal = AbortSignal.any([options.signal, this.closing.signal]);
    while (!signal.aborted) {
      const next = committed.get(key) ?? 0;
      const batch = this.topics.partitions(topic)[partition]?.slice(next, next + maxBatch) ?? [];
      if (taken.has(key) || batch.length === 0) {
        await Promise.race([this.topics.change(signal), new Promise((resolve) => setTimeout(resolve, AGAIN_MS))]);
        continue;
      }
      taken.add(key);
      try {
        await handler(batch, signal);
        committed.set(key, next + batch.length);
      } catch {
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
      taken.delete(key);
    }
  }
}

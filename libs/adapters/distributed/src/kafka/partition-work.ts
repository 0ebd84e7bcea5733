import { setImmediate } from 'node:timers/promises';
import type { KafkaMessage } from 'kafkajs';
import {
  UnavailableError,
  type BatchHandler,
  type CountRetry,
  type Logger,
  type ReceivedBrokerMessage,
} from '@tracking/ports';
import { retry } from '@tracking/resilience';
import { describeKafkaFailure, RetryLogger } from './kafka-client.ts';

const FIRST_RETRY_PAUSE_MS = 50;
const MESSAGE_HANDLING_RETRY: RetriedWorkStep = {
  metric: 'handling messages',
  logLine: 'message broker: a handler failed on a batch of messages, which will be handled again',
  maxPauseMs: 5_000,
  isFault: (error) => !(error instanceof UnavailableError),
};
const OFFSET_COMMIT_RETRY: RetriedWorkStep = {
  metric: 'committing an offset',
  logLine: 'message broker: the offset of handled messages could not be committed; retrying',
  maxPauseMs: 1_000,
  isFault: () => false,
};

/** A step of the work that is retried until it succeeds. */
interface RetriedWorkStep {
  /** Label of the step in the metric of retries. */
  readonly metric: string;
  readonly logLine: string;
  readonly maxPauseMs: number;
  /** Returns true if the failure is a fault and not a temporary outage of an engine. */
  isFault(error: unknown): boolean;
}

interface PartitionMessageHandlerOptions {
  readonly partition: number;
  readonly messages: readonly ReceivedBrokerMessage[];
  readonly handler: BatchHandler;
  readonly maxBatch: number;
  /** Signal that stops the start of further messages. */
  readonly leaving: AbortSignal;
  /** Lets kafkajs fetch messages again. @param next offset of the first unhandled message */
  commit(partition: number, next: string): Promise<void>;
  /** @param last offset of the last message that must not be fetched again */
  resolve(last: string): void;
  readonly countRetry: CountRetry;
  readonly logger: Logger;
}

/**
 * Fetched messages of one partition. Each batch is retried until its handler succeeds; then its offset is committed.
 */
export class PartitionMessageHandler {
  /** Offset after the last handled message; undefined if none was handled. */
  next: string | undefined;
  /** Resolves when all work has ended. Never rejects. */
  readonly done: Promise<void>;
  readonly partition: number;
  private readonly fencing = new AbortController();
  /** Aborts when this member leaves the group, or another member owns the partition. */
  private readonly stopping: AbortSignal;

  constructor(private readonly options: PartitionMessageHandlerOptions) {
    const { partition, messages } = options;
    this.partition = partition;
    this.stopping = AbortSignal.any([this.fencing.signal, options.leaving]);
    this.done = this.handleMessages(messages);
  }

  get isFenced(): boolean {
    return this.fencing.signal.aborted;
  }

  private get isStopping(): boolean {
    return this.stopping.aborted;
  }

  /** Prevents further commits, because another member owns the partition. */
  stopOffsetCommitsOfLostPartition(): void {
    this.fencing.abort();
  }

  /** Lets kafkajs fetch the next messages. */
  allowFetchOfNextMessages(): void {
    if (this.next !== undefined && !this.isFenced) this.options.resolve(String(BigInt(this.next) - 1n));
  }

  private async handleMessages(messages: readonly ReceivedBrokerMessage[]): Promise<void> {
    const { maxBatch } = this.options;
    for (let at = 0; at < messages.length && !this.isStopping; at += maxBatch) {
      const batch = messages.slice(at, at + maxBatch);
      const last = batch[batch.length - 1];
      if (last === undefined) return;
      const handle = () => this.options.handler(batch, this.fencing.signal);
      if (!(await this.retryUntilDone(MESSAGE_HANDLING_RETRY, handle))) return;
      this.next = String(BigInt(last.offset) + 1n);
      await this.commitOffset(this.next);
    }
  }

  private async commitOffset(next: string): Promise<void> {
    await this.retryUntilDone(OFFSET_COMMIT_RETRY, async () => {
      if (!this.isFenced) await this.options.commit(this.partition, next);
    });
  }

  /** Repeats a step until it succeeds. Returns false if the work must stop first. */
  private async retryUntilDone(step: RetriedWorkStep, attempt: () => Promise<void>): Promise<boolean> {
    const { countRetry, logger } = this.options;
    const reporter = new RetryLogger(step.logLine, { partition: this.partition }, logger);
    const onFailure = (error: unknown) => {
      countRetry(step.metric);
      const reason = error instanceof Error ? describeKafkaFailure(error) : String(error);
      if (!this.isStopping) reporter.reportRetryFailure(reason, step.isFault(error));
    };
    const { stopping: signal } = this;
    const { maxPauseMs } = step;
    try {
      await retry(attempt, { signal, onFailure, firstPauseMs: FIRST_RETRY_PAUSE_MS, maxPauseMs });
    } catch {
      return false;
    }
    reporter.reportRetrySuccess();
    return true;
  }
}

interface PendingOffsetCommit {
  readonly offset: string;
  /** Returns false if the partition was assigned to another member meanwhile. */
  isAllowed(): boolean;
}

/** Commits the offsets that are added in one turn of the event loop with one request. */
export class OffsetCommits {
  private waiting = new Map<number, PendingOffsetCommit>();
  private committed: Promise<void> | undefined;

  /** @param commit commits the offset of the next message of each partition */
  constructor(private readonly commit: (offsets: ReadonlyMap<number, string>) => Promise<void>) {}

  /** Resolves when the offset is committed, or is no longer allowed. Rejects if the request fails. */
  addOffsetToCommit(partition: number, offset: string, isAllowed: () => boolean): Promise<void> {
    this.waiting.set(partition, { offset, isAllowed });
    return (this.committed ??= setImmediate().then(() => this.commitWaitingOffsets()));
  }

  private async commitWaitingOffsets(): Promise<void> {
    const allowed = [...this.waiting].filter(([, { isAllowed }]) => isAllowed());
    this.waiting = new Map();
    this.committed = undefined;
    if (allowed.length > 0) await this.commit(new Map(allowed.map(([partition, { offset }]) => [partition, offset])));
  }
}

export function toReceivedMessage(
  topic: string,
  partition: number,
  { key, value, headers, offset }: KafkaMessage,
): ReceivedBrokerMessage {
  const texts = Object.entries(headers ?? {}).map(([name, text]) => [name, String(text ?? '')] as const);
  return {
    topic,
    partition,
    offset,
    key: key?.toString() ?? '',
    value: value?.toString() ?? '',
    headers: Object.fromEntries(texts),
  };
}

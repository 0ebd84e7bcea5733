import { Unavailable, type BatchHandler, type CountRetry, type Logger, type ReceivedMessage } from '@tracking/ports';
import { retry } from '@tracking/resilience';
import { reasonOf, RetryReporter } from './kafka-client.ts';

const FIRST_PAUSE_MS = 50;
const HANDLING: RetriedStep = {
  metric: 'handling messages',
  logLine: 'a batch of messages is handled again',
  longestPauseMs: 5_000,
  isFault: (error) => !(error instanceof Unavailable),
};
const COMMITTING: RetriedStep = {
  metric: 'committing an offset',
  logLine: 'the offset of handled messages is committed again',
  longestPauseMs: 1_000,
  isFault: () => false,
};

/** Work that is retried until it succeeds. */
interface RetriedStep {
  /** As the metric of retries names it. */
  readonly metric: string;
  readonly logLine: string;
  readonly longestPauseMs: number;
  /** Whether the failure is no outage of an engine, which passes. */
  isFault(error: unknown): boolean;
}

interface PartitionWorkOptions {
  readonly partition: number;
  readonly messages: readonly ReceivedMessage[];
  readonly handler: BatchHandler;
  readonly maxBatch: number;
  /** Aborts when nothing more is to be begun. */
  readonly leaving: AbortSignal;
  /** @param next offset of the first message not handled */
  commit(partition: number, next: string): Promise<void>;
  /** @param last offset up to which nothing more is to be fetched */
  resolve(last: string): void;
  readonly countRetry: CountRetry;
  readonly logger: Logger;
}

/** Messages fetched of one partition: each batch is handled until its handler succeeds, then its offset is committed. */
export class PartitionWork {
  /** Offset to go on at; undefined while nothing was handled. */
  next: string | undefined;
  /** Resolves when nothing of it is under way any more. Never rejects. */
  readonly done: Promise<void>;
  readonly partition: number;
  private readonly fencing = new AbortController();

  constructor(private readonly options: PartitionWorkOptions) {
    const { partition, messages } = options;
    this.partition = partition;
    this.done = this.run(messages);
  }

  get isFenced(): boolean {
    return this.fencing.signal.aborted;
  }

  private get isStopping(): boolean {
    return this.isFenced || this.options.leaving.aborted;
  }

  /** The partition is another's now: no offset of it is committed from here on. */
  fence(): void {
    this.fencing.abort();
  }

  /** Lets kafkajs fetch what follows. */
  fetchNext(): void {
    if (this.next !== undefined && !this.isFenced) this.options.resolve(String(BigInt(this.next) - 1n));
  }

  private async run(messages: readonly ReceivedMessage[]): Promise<void> {
    const { maxBatch } = this.options;
    for (let at = 0; at < messages.length && !this.isStopping; at += maxBatch) {
      const batch = messages.slice(at, at + maxBatch);
      const last = batch[batch.length - 1];
      if (last === undefined) return;
      const handle = () => this.options.handler(batch, this.fencing.signal);
      if (!(await this.untilDone(HANDLING, handle))) return;
      this.next = String(BigInt(last.offset) + 1n);
      await this.commit(this.next);
    }
  }

  private async commit(next: string): Promise<void> {
    await this.untilDone(COMMITTING, async () => {
      if (!this.isFenced) await this.options.commit(this.partition, next);
    });
  }

  /** At least once, and again until it succeeds. Answers false where this work is to stop before. */
  private async untilDone(step: RetriedStep, attempt: () => Promise<void>): Promise<boolean> {
    const { leaving, countRetry, logger } = this.options;
    const reporter = new RetryReporter(step.logLine, { partition: this.partition }, logger);
    const onFailure = (error: unknown) => {
      countRetry(step.metric);
      const reason = error instanceof Error ? reasonOf(error) : String(error);
      if (!this.isStopping) reporter.failed(reason, step.isFault(error));
    };
    const signal = AbortSignal.any([this.fencing.signal, leaving]);
    const { longestPauseMs } = step;
    try {
      await retry(attempt, { signal, onFailure, firstPauseMs: FIRST_PAUSE_MS, longestPauseMs });
    } catch {
      return false;
    }
    reporter.succeeded();
    return true;
  }
}

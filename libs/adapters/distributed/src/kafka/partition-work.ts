import { setTimeout as pause } from 'node:timers/promises';
import type { BatchHandler, Logger, ReceivedMessage } from '@tracking/ports';
import { reasonOf } from './kafka-errors.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

export interface Work {
  readonly handler: BatchHandler;
  readonly maxBatch: number;
  /** Aborts when nothing more is to be begun. */
  readonly leaving: AbortSignal;
  /** @param next offset of the first message not handled */
  commit(partition: number, next: string): Promise<void>;
}

/** Messages of one partition in the hands of one member: each batch until its handler is content, then its offset. */
export class PartitionWork {
  /** Offset to go on at; undefined while nothing was handled. */
  next: string | undefined;
  /** Resolves when nothing of it is under way any more. Never rejects. */
  readonly done: Promise<void>;
  private readonly fencing = new AbortController();

  constructor(
    readonly partition: number,
    messages: readonly ReceivedMessage[],
    private readonly work: Work,
    private readonly logger: Logger,
  ) {
    this.done = this.run(messages);
  }

  get isFenced(): boolean {
    return this.fencing.signal.aborted;
  }

  private get isStopping(): boolean {
    return this.isFenced || this.work.leaving.aborted;
  }

  /** The partition is another's now: no offset of it is committed from here on. */
  fence(): void {
    this.fencing.abort();
  }

  private async run(messages: readonly ReceivedMessage[]): Promise<void> {
    for (let at = 0; at < messages.length && !this.isStopping; at += this.work.maxBatch) {
      const batch = messages.slice(at, at + this.work.maxBatch);
      const last = batch[batch.length - 1];
      if (last === undefined || !(await this.handle(batch))) return;
      this.next = String(BigInt(last.offset) + 1n);
      await this.commit(this.next);
    }
  }

  private handle(batch: readonly ReceivedMessage[]): Promise<boolean> {
    return this.untilDone('a batch of messages is handled again', async () => {
      await this.work.handler(batch, this.fencing.signal);
    });
  }

  private async commit(next: string): Promise<void> {
    await this.untilDone('the offset of handled messages is committed again', async () => {
      if (!this.isFenced) await this.work.commit(this.partition, next);
    });
  }

  /** At least once, and again until it succeeds or this work is to stop. */
  private async untilDone(again: string, attempt: () => Promise<void>): Promise<boolean> {
    for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(2 * wait, LONGEST_PAUSE_MS)) {
      try {
        await attempt();
        return true;
      } catch (error) {
        const reason = error instanceof Error ? reasonOf(error) : String(error);
        this.logger.warn({ partition: this.partition, reason }, again);
      }
      const signal = AbortSignal.any([this.fencing.signal, this.work.leaving]);
      await pause(wait, undefined, { signal }).catch(() => undefined);
      if (this.isStopping) return false;
    }
  }
}

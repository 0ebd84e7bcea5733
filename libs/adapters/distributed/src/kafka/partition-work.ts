import { setTimeout as pause } from 'node:timers/promises';
import { Unavailable, type BatchHandler, type CountRetry, type Logger, type ReceivedMessage } from '@tracking/ports';
import { reasonOf } from './kafka-errors.ts';
import { Trouble } from './trouble.ts';

const FIRST_PAUSE_MS = 50;

/** What is done again until it succeeds. */
interface Repeated {
  /** As the metric of tries names it. */
  readonly what: string;
  /** As log lines say it. */
  readonly again: string;
  readonly longestPauseMs: number;
  /** Whether what it failed with is no matter of an engine which comes back. */
  isOurs(error: unknown): boolean;
}
const HANDLING: Repeated = {
  what: 'handling messages',
  again: 'a batch of messages is handled again',
  longestPauseMs: 5_000,
  isOurs: (error) => !(error instanceof Unavailable),
};
const COMMITTING: Repeated = {
  what: 'committing an offset',
  again: 'the offset of handled messages is committed again',
  longestPauseMs: 1_000,
  isOurs: () => false,
};

export interface Work {
  readonly handler: BatchHandler;
  readonly maxBatch: number;
  /** Aborts when nothing more is to be begun. */
  readonly leaving: AbortSignal;
  /** @param next offset of the first message not handled */
  commit(partition: number, next: string): Promise<void>;
  /** @param last offset up to which nothing more is to be fetched */
  resolve(last: string): void;
  /** Something that was put aside was not done: what is not committed has to come again. */
  failed(reason: unknown): void;
  readonly countRetry: CountRetry;
}

/** Messages of one partition in the hands of one member: each batch until its handler is content, then its offset. */
export class PartitionWork {
  /** Offset to go on at; undefined while nothing was handled. */
  next: string | undefined;
  /** Resolves when nothing of it is under way any more, except what was put aside. Never rejects. */
  readonly done: Promise<void>;
  /** While something that was put aside is not done and committed yet, of this work or the one before. Never rejects. */
  unfinished: Promise<void> | undefined;
  private readonly fencing = new AbortController();

  /** @param before of this partition */
  constructor(
    readonly partition: number,
    messages: readonly ReceivedMessage[],
    before: PartitionWork | undefined,
    private readonly work: Work,
    private readonly logger: Logger,
  ) {
    if (before?.unfinished !== undefined) this.follow(before.unfinished);
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

  /** Has what comes next fetched. */
  goOn(): void {
    if (this.next !== undefined && !this.isFenced) this.work.resolve(String(BigInt(this.next) - 1n));
  }

  private async run(messages: readonly ReceivedMessage[]): Promise<void> {
    for (let at = 0; at < messages.length && !this.isStopping; at += this.work.maxBatch) {
      const batch = messages.slice(at, at + this.work.maxBatch);
      const last = batch[batch.length - 1];
      if (last === undefined) return;
      const aside = await this.handle(batch);
      if (aside === undefined) return;
      this.next = String(BigInt(last.offset) + 1n);
      if (aside.length === 0 && this.unfinished === undefined) await this.commit(this.next);
      else this.follow(this.commitBehind(this.unfinished, aside, this.next));
    }
  }

  /** Answers what was put aside; undefined where it was not handled. */
  private async handle(batch: readonly ReceivedMessage[]): Promise<readonly Promise<void>[] | undefined> {
    let aside: Promise<void>[] = [];
    const handled = await this.untilDone(HANDLING, async () => {
      aside = [];
      await this.work.handler(batch, this.fencing.signal, (rest) => {
        rest.catch(() => undefined);
        aside.push(rest);
      });
    });
    return handled ? aside : undefined;
  }

  private async commitBehind(
    before: Promise<void> | undefined,
    aside: readonly Promise<void>[],
    next: string,
  ): Promise<void> {
    const [outcomes] = await Promise.all([Promise.allSettled(aside), before]);
    const rejected = outcomes.find((outcome) => outcome.status === 'rejected');
    if (rejected === undefined) await this.commit(next);
    else if (!this.isFenced) this.work.failed(rejected.reason);
  }

  private follow(unfinished: Promise<void>): void {
    this.unfinished = unfinished;
    void unfinished.then(() => {
      if (this.unfinished === unfinished) this.unfinished = undefined;
    });
  }

  private async commit(next: string): Promise<void> {
    await this.untilDone(COMMITTING, async () => {
      if (!this.isFenced) await this.work.commit(this.partition, next);
    });
  }

  /** At least once, and again until it succeeds or this work is to stop. */
  private async untilDone(what: Repeated, attempt: () => Promise<void>): Promise<boolean> {
    const trouble = new Trouble(what.again, { partition: this.partition }, this.logger);
    for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(2 * wait, what.longestPauseMs)) {
      try {
        await attempt();
        trouble.isOver();
        return true;
      } catch (error) {
        const reason = error instanceof Error ? reasonOf(error) : String(error);
        this.work.countRetry(what.what);
        if (!this.isStopping) trouble.goesOn(reason, what.isOurs(error));
      }
      const signal = AbortSignal.any([this.fencing.signal, this.work.leaving]);
      await pause(wait, undefined, { signal }).catch(() => undefined);
      if (this.isStopping) return false;
    }
  }
}

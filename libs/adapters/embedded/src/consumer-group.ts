import { setTimeout as pause } from 'node:timers/promises';
import type { BatchHandler, CountRetry, Logger, ReceivedMessage } from '@tracking/ports';
import { Signal } from './signal.ts';
import { messageOf } from './sqlite-database.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** What a group reads from and commits to. */
export interface TopicLog {
  /** Position of the last message handled, as it is stored; 0 before the first. */
  committed(partition: number): number;
  read(partition: number, after: number, limit: number): ReceivedMessage[];
  /** Stores it behind everything written so far; need not be waited for. */
  commit(partition: number, position: number): void;
}

interface Member {
  readonly handler: BatchHandler;
  readonly maxBatch: number;
  /** Aborts when the batch in hand is no longer this member's alone: never while the process lives. */
  readonly fenced: AbortSignal;
  readonly inHand: Set<Promise<void>>;
}

/** How far one partition was handled. Positions are committed in order, each once what was put aside up to it is done. */
class Progress {
  handled: number;
  /** Why something that was put aside was not done: nothing from there on is committed. */
  failure: Error | undefined;
  /** Resolves when nothing that was put aside is under way. */
  settled: Promise<void> = Promise.resolve();

  constructor(
    public committed: number,
    private readonly commit: (position: number) => void,
    private readonly failed: () => void,
  ) {
    this.handled = committed;
  }

  advance(position: number, aside: readonly Promise<void>[]): void {
    this.handled = position;
    this.settled = Promise.all([Promise.allSettled(aside), this.settled]).then(([outcomes]) => {
      const rejected = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
      if (rejected !== undefined && this.failure === undefined) {
        this.failure = new Error(messageOf(rejected.reason));
        this.failed();
      }
      if (this.failure !== undefined) return;
      this.committed = position;
      this.commit(position);
    });
  }
}

/**
 * The members of one group in this process. Each partition is handled by one loop, a batch at a time, by the member whose
 * turn the partition is; so a partition never moves in the middle of a batch.
 */
export class ConsumerGroup {
  private readonly members: Member[] = [];
  private readonly closing = new AbortController();
  private loops: Promise<void>[] = [];
  /** For each partition: there is something new, messages or members. */
  private readonly signals: readonly Signal[];

  constructor(
    readonly topic: string,
    partitions: number,
    private readonly log: TopicLog,
    private readonly logger: Logger,
    private readonly countRetry: CountRetry,
  ) {
    this.signals = Array.from({ length: partitions }, () => new Signal());
  }

  /** There are new messages. */
  wake(partitions: Iterable<number>): void {
    for (const partition of partitions) this.signals[partition]?.notify();
  }

  /** Takes part until the signal aborts or the group is closed, and its batches in hand are done. */
  async join(handler: BatchHandler, maxBatch: number, signal: AbortSignal): Promise<void> {
    const member: Member = { handler, maxBatch, fenced: new AbortController().signal, inHand: new Set() };
    this.members.push(member);
    if (this.loops.length === 0) {
      this.loops = this.signals.map((signal, partition) => this.run(partition, signal));
    }
    this.wake(this.signals.keys());
    const leaving = AbortSignal.any([signal, this.closing.signal]);
    if (!leaving.aborted) await new Promise((resolve) => leaving.addEventListener('abort', resolve, { once: true }));
    this.members.splice(this.members.indexOf(member), 1);
    await Promise.all(member.inHand);
  }

  async close(): Promise<void> {
    this.closing.abort();
    this.wake(this.signals.keys());
    await Promise.all(this.loops);
  }

  private async run(partition: number, signal: Signal): Promise<void> {
    let failures = 0;
    let failedAt = -1;
    // What is stored follows it: nobody else handles messages of this partition for the group.
    let progress: Progress | undefined;
    while (!this.closing.signal.aborted) {
      const { changed } = signal;
      const member = this.members[partition % this.members.length];
      try {
        progress ??= this.progress(partition, this.log.committed(partition));
        if (!(await this.handle(partition, progress, member))) await changed;
      } catch (error) {
        const { topic } = this;
        this.countRetry('handling messages');
        this.logger.warn({ topic, partition, reason: messageOf(error) }, 'a batch of messages is handled again');
        const committed = progress?.committed ?? -1;
        failures = committed > failedAt ? 1 : failures + 1;
        failedAt = committed;
        await this.rest(failures);
        if (progress?.failure === undefined) continue;
        await progress.settled;
        progress = this.progress(partition, progress.committed);
      }
    }
    await progress?.settled;
  }

  private progress(partition: number, committed: number): Progress {
    const commit = (position: number) => this.log.commit(partition, position);
    return new Progress(committed, commit, () => this.wake([partition]));
  }

  /** Handles what comes next; answers whether there was anything. */
  private async handle(partition: number, progress: Progress, member: Member | undefined): Promise<boolean> {
    if (progress.failure !== undefined) throw progress.failure;
    const messages = member === undefined ? [] : this.log.read(partition, progress.handled, member.maxBatch);
    const last = messages[messages.length - 1];
    if (last === undefined || member === undefined) return false;
    const aside: Promise<void>[] = [];
    const work = member.handler(messages, member.fenced, (rest) => {
      rest.catch(() => undefined);
      aside.push(rest);
    });
    const handled = work.then(() => progress.advance(Number(last.offset), aside));
    const inHand = handled.then(() => progress.settled).catch(() => undefined);
    member.inHand.add(inHand);
    void inHand.then(() => member.inHand.delete(inHand));
    await handled;
    return true;
  }

  private async rest(failures: number): Promise<void> {
    const ms = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
    await pause(ms, undefined, { signal: this.closing.signal }).catch(() => undefined);
  }
}

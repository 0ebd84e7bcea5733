import type { BatchHandler, CountRetry, Logger, ReceivedMessage, TopicSpec } from '@tracking/ports';
import { retry } from '@tracking/resilience';
import { ChangeSignal } from './change-signal.ts';
import { messageOf } from './sqlite-errors.ts';

const FIRST_PAUSE_MS = 50;

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

/** How far a group is in one partition. An offset is committed when all deferred work up to it is done. */
class PartitionProgress {
  handled: number;
  /** Why deferred work failed: nothing from there on is committed. */
  failure: Error | undefined;
  /** Resolves when no deferred work is under way. */
  settled: Promise<void> = Promise.resolve();

  constructor(
    public committed: number,
    private readonly commit: (position: number) => void,
    private readonly failed: () => void,
  ) {
    this.handled = committed;
  }

  advance(position: number, deferred: readonly Promise<void>[]): void {
    this.handled = position;
    this.settled = Promise.all([Promise.allSettled(deferred), this.settled]).then(([outcomes]) => {
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
  private readonly signals: readonly ChangeSignal[];

  readonly topic: string;

  constructor(
    { name, partitions }: TopicSpec,
    private readonly log: TopicLog,
    private readonly options: { readonly logger: Logger; readonly countRetry: CountRetry },
  ) {
    this.topic = name;
    this.signals = Array.from({ length: partitions }, () => new ChangeSignal());
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

  private async run(partition: number, changes: ChangeSignal): Promise<void> {
    let progress: PartitionProgress | undefined;
    const onFailure = (error: unknown, tries: number) => this.failed(partition, error, tries);
    const untilCommitted = async () => {
      progress = await this.resumed(partition, progress);
      await this.handleUntilCommitted(partition, progress, changes);
    };
    while (!this.closing.signal.aborted) {
      // Each time anew: the pauses grow only while nothing is committed in between.
      const options = { signal: this.closing.signal, firstPauseMs: FIRST_PAUSE_MS, onFailure };
      await retry(untilCommitted, options).catch(() => undefined);
    }
    await progress?.settled;
  }

  /** From what is stored at first, then from memory: nobody else handles this partition for the group. */
  private async resumed(partition: number, before: PartitionProgress | undefined): Promise<PartitionProgress> {
    if (before !== undefined && before.failure === undefined) return before;
    await before?.settled;
    const committed = before?.committed ?? this.log.committed(partition);
    const commit = (position: number) => this.log.commit(partition, position);
    return new PartitionProgress(committed, commit, () => this.wake([partition]));
  }

  private async handleUntilCommitted(
    partition: number,
    progress: PartitionProgress,
    changes: ChangeSignal,
  ): Promise<void> {
    const before = progress.committed;
    while (progress.committed === before && !this.closing.signal.aborted) {
      const { changed } = changes;
      const member = this.members[partition % this.members.length];
      if (!(await this.handle(partition, progress, member))) await changed;
    }
  }

  private failed(partition: number, error: unknown, tries: number): void {
    const { topic } = this;
    this.options.countRetry('handling messages');
    const about = { topic, partition, tries, reason: messageOf(error) };
    this.options.logger.warn(about, 'a batch of messages is handled again');
  }

  /** Handles what comes next; answers whether there was anything. */
  private async handle(partition: number, progress: PartitionProgress, member: Member | undefined): Promise<boolean> {
    if (progress.failure !== undefined) throw progress.failure;
    const messages = member === undefined ? [] : this.log.read(partition, progress.handled, member.maxBatch);
    const last = messages[messages.length - 1];
    if (last === undefined || member === undefined) return false;
    const deferred: Promise<void>[] = [];
    const work = member.handler(messages, member.fenced, (rest) => {
      rest.catch(() => undefined);
      deferred.push(rest);
    });
    const handled = work.then(() => progress.advance(Number(last.offset), deferred));
    const inHand = handled.then(() => progress.settled).catch(() => undefined);
    member.inHand.add(inHand);
    void inHand.then(() => member.inHand.delete(inHand));
    await handled;
    return true;
  }
}

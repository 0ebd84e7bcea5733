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
    // From what is stored at first, then from memory: nobody else handles this partition for the group.
    let handled: number | undefined;
    const handleNext = async () => {
      handled = await this.handleNext(partition, handled ?? this.log.committed(partition), changes);
    };
    const onFailure = (error: unknown, tries: number) => this.failed(partition, error, tries);
    while (!this.closing.signal.aborted) {
      // Each time anew: the pauses grow only while nothing is committed in between.
      const options = { signal: this.closing.signal, firstPauseMs: FIRST_PAUSE_MS, onFailure };
      await retry(handleNext, options).catch(() => undefined);
    }
  }

  /** Handles what comes after a position, once there is something. Answers up to where. */
  private async handleNext(partition: number, position: number, changes: ChangeSignal): Promise<number> {
    while (!this.closing.signal.aborted) {
      const { changed } = changes;
      const member = this.members[partition % this.members.length];
      const messages = member === undefined ? [] : this.log.read(partition, position, member.maxBatch);
      const last = messages[messages.length - 1];
      if (member !== undefined && last !== undefined) {
        const next = Number(last.offset);
        await this.handle(member, messages, () => this.log.commit(partition, next));
        return next;
      }
      await changed;
    }
    return position;
  }

  private async handle(member: Member, messages: readonly ReceivedMessage[], commit: () => void): Promise<void> {
    const handled = member.handler(messages, member.fenced).then(commit);
    const inHand = handled.catch(() => undefined);
    member.inHand.add(inHand);
    await handled.finally(() => member.inHand.delete(inHand));
  }

  private failed(partition: number, error: unknown, tries: number): void {
    const { topic } = this;
    this.options.countRetry('handling messages');
    const about = { topic, partition, tries, reason: messageOf(error) };
    this.options.logger.warn(about, 'a batch of messages is handled again');
  }
}

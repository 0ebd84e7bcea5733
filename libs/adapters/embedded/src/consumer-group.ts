import { setTimeout as pause } from 'node:timers/promises';
import type { BatchHandler, Logger, ReceivedMessage } from '@tracking/ports';
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
    // What is stored follows it: nobody else handles messages of this partition for the group.
    let handled: number | undefined;
    while (!this.closing.signal.aborted) {
      const { changed } = signal;
      const member = this.members[partition % this.members.length];
      try {
        handled ??= this.log.committed(partition);
        const next = member === undefined ? handled : await this.handle(partition, handled, member);
        failures = 0;
        if (next === handled) await changed;
        handled = next;
      } catch (error) {
        const { topic } = this;
        this.logger.warn({ topic, partition, reason: messageOf(error) }, 'a batch of messages is handled again');
        failures += 1;
        await this.rest(failures);
      }
    }
  }

  /** Handles what comes next after a position; answers the position of the last of it. */
  private async handle(partition: number, after: number, member: Member): Promise<number> {
    const messages = this.log.read(partition, after, member.maxBatch);
    const last = messages[messages.length - 1];
    if (last === undefined) return after;
    const work = member.handler(messages, member.fenced);
    const inHand = work.catch(() => undefined);
    member.inHand.add(inHand);
    await work.finally(() => member.inHand.delete(inHand));
    const position = Number(last.offset);
    this.log.commit(partition, position);
    return position;
  }

  private async rest(failures: number): Promise<void> {
    const ms = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
    await pause(ms, undefined, { signal: this.closing.signal }).catch(() => undefined);
  }
}

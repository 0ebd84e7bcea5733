import { setTimeout as pause } from 'node:timers/promises';
import type { BatchHandler, Logger, ReceivedMessage } from '@tracking/ports';
import { messageOf } from './sqlite-database.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** What a group reads from and commits to. */
export interface TopicLog {
  /** Position of the last message handled; 0 before the first. */
  committed(partition: number): number;
  read(partition: number, after: number, limit: number): ReceivedMessage[];
  commit(partition: number, position: number): Promise<void>;
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
  private changed!: Promise<void>;
  private notify!: () => void;

  constructor(
    readonly topic: string,
    private readonly partitions: number,
    private readonly log: TopicLog,
    private readonly logger: Logger,
  ) {
    this.arm();
  }

  /** There is something new: messages, or members. */
  wake(): void {
    this.notify();
    this.arm();
  }

  /** Takes part until the signal aborts or the group is closed, and its batches in hand are done. */
  async join(handler: BatchHandler, maxBatch: number, signal: AbortSignal): Promise<void> {
    const member: Member = { handler, maxBatch, fenced: new AbortController().signal, inHand: new Set() };
    this.members.push(member);
    if (this.loops.length === 0) {
      this.loops = Array.from({ length: this.partitions }, (_, partition) => this.run(partition));
    }
    this.wake();
    const leaving = AbortSignal.any([signal, this.closing.signal]);
    if (!leaving.aborted) await new Promise((resolve) => leaving.addEventListener('abort', resolve, { once: true }));
    this.members.splice(this.members.indexOf(member), 1);
    await Promise.all(member.inHand);
  }

  async close(): Promise<void> {
    this.closing.abort();
    this.wake();
    await Promise.all(this.loops);
  }

  private async run(partition: number): Promise<void> {
    let failures = 0;
    while (!this.closing.signal.aborted) {
      const { changed } = this;
      const member = this.members[partition % this.members.length];
      const handled = member && (await this.handleNext(partition, member));
      failures = handled === 'failed' ? failures + 1 : 0;
      if (handled === undefined || handled === 'nothing') await changed;
      if (failures > 0) await this.rest(failures);
    }
  }

  private async handleNext(partition: number, member: Member): Promise<'handled' | 'nothing' | 'failed'> {
    try {
      const messages = this.log.read(partition, this.log.committed(partition), member.maxBatch);
      const last = messages[messages.length - 1];
      if (last === undefined) return 'nothing';
      const work = member.handler(messages, member.fenced);
      const inHand = work.catch(() => undefined);
      member.inHand.add(inHand);
      await work.finally(() => member.inHand.delete(inHand));
      await this.log.commit(partition, Number(last.offset));
      return 'handled';
    } catch (error) {
      const { topic } = this;
      this.logger.warn({ topic, partition, reason: messageOf(error) }, 'a batch of messages is handled again');
      return 'failed';
    }
  }

  private async rest(failures: number): Promise<void> {
    const ms = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
    await pause(ms, undefined, { signal: this.closing.signal }).catch(() => undefined);
  }

  private arm(): void {
    this.changed = new Promise((resolve) => (this.notify = resolve));
  }
}

import { setImmediate } from 'node:timers/promises';
import type { DocumentStore } from '@tracking/ports';
import { type CheckpointDocument, CHECKPOINTS_COLLECTION } from './checkpoint.ts';

/** Milliseconds until a checkpoint is written that has only passed events of other partitions. */
const IDLE_INTERVAL_MS = 2_000;
/** Minimum milliseconds between two checks whether newer lease owners have claimed the written checkpoints. */
const CLAIM_CHECK_INTERVAL_MS = 1_000;

interface WaitingWrite {
  readonly document: CheckpointDocument;
  readonly resolve: (isWritten: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes the checkpoints of all partitions of a process, together and one batch at a time. Checkpoints of idle
 * partitions are written every few seconds.
 */
export class CheckpointWriter {
  private waiting: WaitingWrite[] = [];
  private writing: Promise<void> | undefined;
  private idle = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;
  private checkedAt = -Infinity;

  constructor(
    private readonly store: DocumentStore,
    private readonly idleIntervalMs = IDLE_INTERVAL_MS,
  ) {}

  /**
   * Replaces the stored checkpoint unless a newer lease owner has claimed it.
   * @returns false if it is known that a newer lease owner has claimed it; this is checked once a second
   * @throws Unavailable
   */
  replace(document: CheckpointDocument): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ document, resolve, reject });
      this.writing ??= this.writeWaiting().finally(() => (this.writing = undefined));
    });
  }

  /** Calls the function at the next time at which idle checkpoints are written. */
  addIdle(write: () => void): void {
    this.idle.add(write);
    this.timer ??= setTimeout(() => this.writeIdle(), this.idleIntervalMs).unref();
  }

  private writeIdle(): void {
    this.timer = undefined;
    const { idle } = this;
    this.idle = new Set();
    for (const write of idle) write();
  }

  private async writeWaiting(): Promise<void> {
    while (this.waiting.length > 0) {
      // Partitions that handle the same events finish in the same turn.
      await setImmediate();
      const batch = this.waiting;
      this.waiting = [];
      try {
        const claimed = await this.writeBatch(batch.map(({ document }) => document));
        for (const { document, resolve } of batch) resolve(!claimed.has(document.id));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
  }

  /** Returns the ids of checkpoints that are known to be claimed by newer lease owners. */
  private async writeBatch(batch: readonly CheckpointDocument[]): Promise<ReadonlySet<string>> {
    const documents = await this.store.collection<CheckpointDocument>(CHECKPOINTS_COLLECTION);
    await documents.writeMany(
      batch.map((document) => ({ kind: 'upsert', document, guard: { epoch: { lte: document.epoch } } })),
    );
    const now = performance.now();
    if (now - this.checkedAt < CLAIM_CHECK_INTERVAL_MS) return new Set();
    this.checkedAt = now;
    const epochs = new Map(batch.map(({ id, epoch }) => [id, epoch]));
    const stored = await documents.getMany([...epochs.keys()]);
    return new Set(stored.filter(({ id, epoch }) => epoch > (epochs.get(id) ?? 0)).map(({ id }) => id));
  }
}

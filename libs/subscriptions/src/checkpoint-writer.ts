import { setImmediate } from 'node:timers/promises';
import type { DocumentStore } from '@tracking/ports';
import { type CheckpointDocument, CHECKPOINTS_COLLECTION, replaceCheckpoint } from './checkpoint.ts';

/** Milliseconds until a checkpoint is written that has only passed events of other partitions. */
const IDLE_INTERVAL_MS = 2_000;

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

  constructor(
    private readonly store: DocumentStore,
    private readonly idleIntervalMs = IDLE_INTERVAL_MS,
  ) {}

  /**
   * Replaces the stored checkpoint like {@link replaceCheckpoint}.
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
      await this.writeBatch(batch);
    }
  }

  /** The store combines replacements of one turn into one request. Never rejects. */
  private async writeBatch(batch: readonly WaitingWrite[]): Promise<void> {
    try {
      const documents = await this.store.collection<CheckpointDocument>(CHECKPOINTS_COLLECTION);
      const writes = batch.map(({ document, resolve, reject }) =>
        replaceCheckpoint(documents, document).then(resolve, reject),
      );
      await Promise.all(writes);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

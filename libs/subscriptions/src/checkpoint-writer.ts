import { setImmediate } from 'node:timers/promises';
import type { DocumentStore } from '@tracking/ports';
import { type CheckpointDocument, CHECKPOINTS_COLLECTION_SPEC, createCheckpointReplacement } from './checkpoint.ts';

/** Milliseconds until a moved checkpoint is written. After a crash, the work of this time is repeated. */
const CHECKPOINT_WRITE_INTERVAL_MS = 2_000;

interface WaitingCheckpointWrite {
  readonly document: CheckpointDocument;
  readonly resolve: (isWritten: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes the checkpoints of all partitions of a process with one request every few seconds, because each event moves
 * many checkpoints.
 */
export class CheckpointWriter {
  private waiting: WaitingCheckpointWrite[] = [];
  private writing: Promise<void> | undefined;
  private scheduled = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: DocumentStore,
    private readonly intervalMs = CHECKPOINT_WRITE_INTERVAL_MS,
  ) {}

  /**
   * Replaces the stored checkpoint like `replaceCheckpoint`, together with the others of this turn of the event loop.
   * @throws UnavailableError
   */
  replaceStoredCheckpoint(document: CheckpointDocument): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ document, resolve, reject });
      this.writing ??= this.writeWaitingCheckpoints();
    });
  }

  /** Calls the function at the next time at which moved checkpoints are written. */
  scheduleCheckpointWrite(write: () => void): void {
    this.scheduled.add(write);
    this.timer ??= setTimeout(() => this.runScheduledCheckpointWrites(), this.intervalMs).unref();
  }

  private runScheduledCheckpointWrites(): void {
    this.timer = undefined;
    const { scheduled } = this;
    this.scheduled = new Set();
    for (const write of scheduled) write();
  }

  private async writeWaitingCheckpoints(): Promise<void> {
    while (this.waiting.length > 0) {
      // Partitions that complete together do so in the same turn.
      await setImmediate();
      const batch = this.waiting;
      this.waiting = [];
      await this.writeCheckpointBatch(batch);
    }
    // The reset directly follows the last check of `waiting`, so that a later checkpoint starts a new write.
    this.writing = undefined;
  }

  /** Never rejects. */
  private async writeCheckpointBatch(batch: readonly WaitingCheckpointWrite[]): Promise<void> {
    try {
      const documents = await this.store.collection<CheckpointDocument>(CHECKPOINTS_COLLECTION_SPEC);
      const results = await documents.replaceMany(batch.map(({ document }) => createCheckpointReplacement(document)));
      batch.forEach(({ resolve }, index) => resolve(results[index] === true));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

import { setImmediate } from 'node:timers/promises';
import { type Collection, type CollectionWrite, UnavailableError } from '@tracking/ports';
import type { ReadModelRow } from './read-model.ts';

/** Maximum number of rows in one write. */
const MAX_ROWS_PER_WRITE = 500;

interface PendingRowWrites {
  readonly writes: readonly CollectionWrite<ReadModelRow>[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes the rows of all partitions of a generation that this process projects. Rows that arrive during a write form the
 * next write, so that many partitions cost about as many writes as one.
 */
export class RowWriter {
  private waiting: PendingRowWrites[] = [];
  private writing: Promise<void> | undefined;

  constructor(private readonly openRows: () => Promise<Pick<Collection<ReadModelRow>, 'writeMany'>>) {}

  /** @throws UnavailableError; some rows may then be written */
  writeMany(writes: readonly CollectionWrite<ReadModelRow>[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ writes, resolve, reject });
      this.writing ??= this.writeWaitingRows();
    });
  }

  private async writeWaitingRows(): Promise<void> {
    while (this.waiting.length > 0) {
      // Events that arrived together reach their partitions in the same turn.
      await setImmediate();
      await this.writeRowsTogether(this.takeWaitingRowWrites());
    }
    // The reset directly follows the last check of `waiting`, so that rows that arrive later start a new write.
    this.writing = undefined;
  }

  private takeWaitingRowWrites(): readonly PendingRowWrites[] {
    let count = 0;
    const end = this.waiting.findIndex(({ writes }) => (count += writes.length) > MAX_ROWS_PER_WRITE);
    return this.waiting.splice(0, end < 0 ? this.waiting.length : Math.max(1, end));
  }

  private async writeRowsTogether(batch: readonly PendingRowWrites[]): Promise<void> {
    try {
      await (await this.openRows()).writeMany(batch.flatMap(({ writes }) => writes));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      // A row that cannot be written must fail its own partition only.
      if (batch.length > 1 && !(error instanceof UnavailableError))
        for (const each of batch) await this.writeRowsTogether([each]);
      else for (const { reject } of batch) reject(error);
    }
  }
}

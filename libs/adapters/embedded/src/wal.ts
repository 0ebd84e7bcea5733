import { closeSync, openSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { type SqliteConnection, isFatalDatabaseError, getErrorMessage, SQLITE_PAGE_BYTES } from './sqlite-database.ts';
import { startWorkerThread } from './storage-threads.ts';

/** Number of commits between checks, because a check of the log's state costs about as much as a small read. */
const COMMITS_BETWEEN_WAL_CHECKS = 32;
/** Log bytes small enough for the writer to copy without a noticeable wait. */
const MAX_SMALL_WAL_REMAINDER_BYTES = 400_000;
const MAX_WAL_CHECKPOINT_PASSES = 4;

/**
 * Checkpoints the write-ahead log in its own thread, so that commits do not wait.
 * A passive checkpoint copies the log as it was at its start. If nothing was written meanwhile, SQLite restarts the
 * log. Under constant load the log grows to the limit of `computeMaxWalBytes`; then the writer copies the rest. That
 * costs two fsyncs that block all writes, so it is rare and covers only what the thread left. If the thread ends,
 * SQLite checkpoints during commits, as it does by default.
 */
export class WalCheckpointer {
  /** Reason why the file is no longer reliable; null if it is. */
  failure: string | null = null;
  /** True if the checkpointer thread works or will start when needed; false if SQLite checkpoints instead. */
  isAlive: boolean;
  private readonly database: SqliteConnection;
  private readonly checkpointBytes: number;
  /**
   * The file is closed after every connection, because closing a descriptor of a file releases the process's locks on
   * it (POSIX).
   */
  private readonly descriptor: number;
  private readonly task: WalCheckpointerParameters;
  /** The thread starts at the first checkpoint, because many folders never need one. */
  private worker: Worker | undefined;
  private exited: Promise<void> = Promise.resolve();
  private commits = 0;
  private isBusy = false;

  /** @param checkpointBytes bytes of the log at which the thread copies it */
  constructor(database: SqliteConnection, file: string, checkpointBytes: number) {
    this.database = database;
    this.checkpointBytes = checkpointBytes;
    this.descriptor = openSync(file, 'r+');
    this.task = { file, descriptor: this.descriptor, checkpointBytes };
    this.isAlive = canCheckpointBesideWriter(database);
  }

  /** Checks the size of the log. Call it after each commit. */
  checkWalSizeAfterCommit(): void {
    this.commits += 1;
    if (!this.isAlive || this.isBusy || this.commits % COMMITS_BETWEEN_WAL_CHECKS !== 0) return;
    if (checkpointWal(this.database, 'NOOP').outstanding < this.checkpointBytes) return;
    this.isBusy = true;
    this.worker ??= this.startCheckpointThread();
    this.worker.postMessage('checkpoint');
  }

  /**
   * Ends the thread, then closes the writer's connection. The writer's connection is the last one, so SQLite
   * checkpoints and deletes the log.
   */
  async closeWalCheckpointerAndDatabase(): Promise<void> {
    this.worker?.postMessage(null);
    await this.exited;
    this.database.closeDatabase();
    closeSync(this.descriptor);
  }

  private startCheckpointThread(): Worker {
    const worker = startWorkerThread('wal-checkpoint-worker', this.task);
    worker.on('message', (state: WalState) => this.onWalCheckpointResult(state));
    // If the thread ends for any reason, SQLite checkpoints during commits.
    worker.on('error', () => undefined);
    this.exited = new Promise((resolve) => worker.once('exit', () => resolve()));
    void this.exited.then(() => (this.isAlive = false));
    return worker;
  }

  private onWalCheckpointResult({ total, failure }: WalState): void {
    this.failure ??= failure;
    if (total >= computeMaxWalBytes(this.checkpointBytes))
      this.failure ??= checkpointWal(this.database, 'PASSIVE').failure;
    this.isBusy = false;
  }
}

/** Start parameters of the checkpointer thread. */
export interface WalCheckpointerParameters {
  readonly file: string;
  /** Descriptor of the database file. */
  readonly descriptor: number;
  readonly checkpointBytes: number;
}

/** Sizes of the write-ahead log (https://sqlite.org/wal.html), in bytes. */
export interface WalState {
  readonly total: number;
  /** Bytes of the log that are not in the database file yet. */
  readonly outstanding: number;
  /**
   * Reason why the file is no longer reliable, if any. Other failures, such as a full disk, also occur at the next
   * commit.
   */
  readonly failure: string | null;
}

/**
 * Returns the maximum size of the write-ahead log, in bytes. A checkpoint copies the log into the database file, and
 * several passes run before the log restarts.
 */
export function computeMaxWalBytes(checkpointBytes: number): number {
  return 4 * checkpointBytes;
}

/**
 * Returns true if one connection can checkpoint while another writes: before SQLite 3.51.3 that could, very rarely,
 * corrupt the file (https://sqlite.org/wal.html#walresetbug).
 */
export function canCheckpointBesideWriter(database: SqliteConnection): boolean {
  const [major = 0, minor = 0, patch = 0] = String(database.readFirstValueOfQuery('SELECT sqlite_version()'))
    .split('.')
    .map(Number);
  return major * 1_000_000 + minor * 1_000 + patch >= 3_051_003;
}

/**
 * Runs a checkpoint and returns the log's state after it (https://sqlite.org/pragma.html#pragma_wal_checkpoint).
 * @param mode `PASSIVE` copies what no reader or writer blocks; `NOOP` only returns the state
 */
export function checkpointWal(database: SqliteConnection, mode: 'NOOP' | 'PASSIVE'): WalState {
  try {
    const [, pages, checkpointed] = database.readRow(`PRAGMA wal_checkpoint(${mode})`) ?? [];
    const total = Number(pages) * SQLITE_PAGE_BYTES;
    return { total, outstanding: total - Number(checkpointed) * SQLITE_PAGE_BYTES, failure: null };
  } catch (error) {
    return { total: 0, outstanding: 0, failure: isFatalDatabaseError(error) ? getErrorMessage(error) : null };
  }
}

/**
 * Checkpoints while the writer continues. If the log has its maximum length, the checkpoint is repeated until little is
 * left.
 * @param checkpoint runs one pass
 * @returns the log's state after the last pass
 */
export function repeatCheckpointUntilSmall(checkpoint: () => WalState, checkpointBytes: number): WalState {
  let state = checkpoint();
  for (
    let pass = 1;
    pass < MAX_WAL_CHECKPOINT_PASSES && state.total >= computeMaxWalBytes(checkpointBytes);
    pass += 1
  ) {
    if (state.failure !== null || state.outstanding <= MAX_SMALL_WAL_REMAINDER_BYTES) break;
    state = checkpoint();
  }
  return state;
}

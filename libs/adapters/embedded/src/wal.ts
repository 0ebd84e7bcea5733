import { closeSync, openSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { type Database, isFatal, messageOf, PAGE_BYTES } from './sqlite-database.ts';
import { startThread } from './storage-threads.ts';

/** Asking for the log's state costs about as much as a small read. */
const COMMITS_BETWEEN_CHECKS = 32;
/** So little that the writer may copy it itself without a noticeable wait for others. */
const SMALL_REMAINDER_BYTES = 400_000;
const MAX_PASSES = 4;

/**
 * Checkpoints the write-ahead log in a thread of its own, so that no commit waits for it.
 *
 * A passive checkpoint copies the log as it was when it began. When nothing was written meanwhile, SQLite starts the log
 * again from its beginning. Under a load that never rests it grows until it is `longestWal`; then the writer itself copies
 * the last of it. That costs two fsyncs for which everybody waits, so it is done seldom, and only for the little that the
 * thread has left. Should the thread end, SQLite checkpoints during a commit, as it does by default.
 */
export class WalCheckpointer {
  /** Why the file can no longer be relied on; null while it can. */
  failure: string | null = null;
  /** Whether the thread does its work, or will once there is some; otherwise SQLite does it. */
  isAlive: boolean;
  private readonly database: Database;
  private readonly checkpointBytes: number;
  /** Closed after every connection: closing any descriptor of a file drops the process's locks on it (POSIX). */
  private readonly descriptor: number;
  private readonly task: CheckpointTask;
  /** Begun at the first checkpoint: many folders are never written to so much. */
  private worker: Worker | undefined;
  private exited: Promise<void> = Promise.resolve();
  private commits = 0;
  private isBusy = false;

  /** @param checkpointBytes how much of the log is copied at once */
  constructor(database: Database, file: string, checkpointBytes: number) {
    this.database = database;
    this.checkpointBytes = checkpointBytes;
    this.descriptor = openSync(file, 'r+');
    this.task = { file, descriptor: this.descriptor, checkpointBytes };
    this.isAlive = canCheckpointBesideWriter(database);
  }

  /** To be called after each commit. */
  committed(): void {
    this.commits += 1;
    if (!this.isAlive || this.isBusy || this.commits % COMMITS_BETWEEN_CHECKS !== 0) return;
    if (checkpointWal(this.database, 'NOOP').outstanding < this.checkpointBytes) return;
    this.isBusy = true;
    this.worker ??= this.startWorker();
    this.worker.postMessage('checkpoint');
  }

  /** Ends the thread, then closes the writer's connection. That is the last one: SQLite checkpoints and deletes the log. */
  async close(): Promise<void> {
    this.worker?.postMessage(null);
    await this.exited;
    this.database.close();
    closeSync(this.descriptor);
  }

  private startWorker(): Worker {
    const worker = startThread('wal-checkpoint-worker', this.task);
    worker.on('message', (state: WalState) => this.checkpointed(state));
    // Whatever ended it, SQLite checkpoints from then on.
    worker.on('error', () => undefined);
    this.exited = new Promise((resolve) => worker.once('exit', () => resolve()));
    void this.exited.then(() => (this.isAlive = false));
    return worker;
  }

  private checkpointed({ total, failure }: WalState): void {
    this.failure ??= failure;
    if (total >= longestWal(this.checkpointBytes)) this.failure ??= checkpointWal(this.database, 'PASSIVE').failure;
    this.isBusy = false;
  }
}

/** Start parameters of the checkpointer's thread. */
export interface CheckpointTask {
  readonly file: string;
  /** Descriptor of the same file. */
  readonly descriptor: number;
  readonly checkpointBytes: number;
}

/** The write-ahead log (https://sqlite.org/wal.html), in bytes. */
export interface WalState {
  readonly total: number;
  /** The part of it that is not in the database file yet. */
  readonly outstanding: number;
  /** Why the file can no longer be relied on, if so. Other failures, as a full disk, show at the next commit as well. */
  readonly failure: string | null;
}

/** A checkpoint copies the log into the database file. Several pass before the log starts again from its beginning. */
export function longestWal(checkpointBytes: number): number {
  return 4 * checkpointBytes;
}

/**
 * Whether one connection may checkpoint while another writes: before SQLite 3.51.3 that could, very rarely, corrupt the
 * file (https://sqlite.org/wal.html#walresetbug).
 */
export function canCheckpointBesideWriter(database: Database): boolean {
  const [major = 0, minor = 0, patch = 0] = String(database.value('SELECT sqlite_version()')).split('.').map(Number);
  return major * 1_000_000 + minor * 1_000 + patch >= 3_051_003;
}

/**
 * Checkpoints, and answers the state of the log after it (https://sqlite.org/pragma.html#pragma_wal_checkpoint).
 * @param mode `PASSIVE` copies what no reader or writer stands in the way of; `NOOP` only answers
 */
export function checkpointWal(database: Database, mode: 'NOOP' | 'PASSIVE'): WalState {
  try {
    const [, pages, checkpointed] = database.row(`PRAGMA wal_checkpoint(${mode})`) ?? [];
    const total = Number(pages) * PAGE_BYTES;
    return { total, outstanding: total - Number(checkpointed) * PAGE_BYTES, failure: null };
  } catch (error) {
    return { total: 0, outstanding: 0, failure: isFatal(error) ? messageOf(error) : null };
  }
}

/**
 * Checkpoints while the writer goes on. Once the log has its full length, further passes follow until little of it is left.
 * @param checkpoint one pass
 * @returns the state of the log after the last pass
 */
export function repeatCheckpoint(checkpoint: () => WalState, checkpointBytes: number): WalState {
  let state = checkpoint();
  for (let pass = 1; pass < MAX_PASSES && state.total >= longestWal(checkpointBytes); pass += 1) {
    if (state.failure !== null || state.outstanding <= SMALL_REMAINDER_BYTES) break;
    state = checkpoint();
  }
  return state;
}

import { closeSync, openSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import type { Database } from './sqlite-database.ts';
import type { CheckpointTask } from './wal-checkpoint-worker.ts';
import { canCheckpointBesideWriter, checkpointWal, longestWal, type WalState } from './wal.ts';
import { startThread } from './worker-thread.ts';

/** Asking for the log's state costs about as much as a small read. */
const COMMITS_BETWEEN_CHECKS = 32;

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

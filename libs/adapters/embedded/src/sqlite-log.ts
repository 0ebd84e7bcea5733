import type { Worker } from 'node:worker_threads';
import { logAfter, type Database } from './sqlite-database.ts';
import { startThread } from './worker-thread.ts';

/** Looking costs about as much as a small read. */
const COMMITS_BETWEEN_LOOKS = 32;

/**
 * Keeps the log small without anybody waiting for it: a thread of its own puts it into the file, as far as it was when
 * that began; the little that came since then is put there by the connection that writes, after which its next commit
 * begins the log anew. Should the thread end, SQLite does it all during a commit, as by default, but later.
 */
export class SqliteLog {
  /** Why nothing can be relied on any more, once that is so. */
  failure: string | null = null;
  private readonly database: Database;
  private readonly logBytes: number;
  private readonly worker: Worker;
  private commits = 0;
  private busy = false;

  /** @param logBytes at what size that begins */
  constructor(database: Database, file: string, logBytes: number) {
    this.database = database;
    this.logBytes = logBytes;
    this.worker = startThread('sqlite-log-worker', { file });
    this.worker.on('message', (failure: string | null) => {
      this.failure ??= failure ?? logAfter(this.database, 'PASSIVE').failure;
      this.busy = false;
    });
    this.worker.on('error', () => undefined);
    this.worker.on('exit', () => (this.busy = true));
  }

  /** Call it after each commit. */
  committed(): void {
    this.commits += 1;
    if (this.busy || this.commits % COMMITS_BETWEEN_LOOKS !== 0) return;
    if (logAfter(this.database, 'NOOP').bytes < this.logBytes) return;
    this.busy = true;
    this.worker.postMessage('put');
  }

  /** Resolves when the thread has closed the file. */
  async close(): Promise<void> {
    const exited = new Promise((resolve) => this.worker.once('exit', resolve));
    this.worker.postMessage(null);
    await exited;
  }
}

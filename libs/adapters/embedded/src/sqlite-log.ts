import type { Worker } from 'node:worker_threads';
import { logAfter, longestLog, type Database, type LogState } from './sqlite-database.ts';
import { startThread } from './worker-thread.ts';

/** Looking costs about as much as a small read. */
const COMMITS_BETWEEN_LOOKS = 32;

/**
 * Keeps the log short without anybody waiting for it: a thread of its own puts it into the file, as far as it was when
 * that began. Where all is in the file, the next commit begins the log anew; under a load that never rests it grows, until
 * the connection that writes puts the little into the file that came last. Two synchronisations with the disk, for which
 * all wait: so that is done seldom. Should the thread end, SQLite does it all during a commit, as by default, but later.
 */
export class SqliteLog {
  /** Why nothing can be relied on any more, once that is so. */
  failure: string | null = null;
  private readonly database: Database;
  private readonly logBytes: number;
  private readonly worker: Worker;
  private commits = 0;
  private busy = false;

  /** @param logBytes how much is put into the file at once */
  constructor(database: Database, file: string, logBytes: number) {
    this.database = database;
    this.logBytes = logBytes;
    this.worker = startThread('sqlite-log-worker', { file, logBytes });
    this.worker.on('message', ({ total, failure }: LogState) => {
      this.failure = failure;
      if (total >= longestLog(logBytes)) this.failure ??= logAfter(database, 'PASSIVE').failure;
      this.busy = false;
    });
    this.worker.on('error', () => undefined);
    this.worker.on('exit', () => (this.busy = true));
  }

  /** Call it after each commit. */
  committed(): void {
    this.commits += 1;
    if (this.busy || this.commits % COMMITS_BETWEEN_LOOKS !== 0) return;
    if (logAfter(this.database, 'NOOP').left < this.logBytes) return;
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

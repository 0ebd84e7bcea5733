import { closeSync, openSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { canBePutBeside, logAfter, longestLog, type Database, type LogState } from './sqlite-database.ts';
import type { LogWork } from './sqlite-log-worker.ts';
import { startThread } from './worker-thread.ts';

/** Looking costs about as much as a small read. */
const COMMITS_BETWEEN_LOOKS = 32;

/**
 * Keeps the log short without anybody waiting for it: a thread of its own puts it into the file, as far as it was when
 * that began. Where all is in the file, the next commit begins the log anew; under a load that never rests it grows, until
 * the connection that writes puts the little into the file that came last. Two synchronisations with the disk, for which
 * all wait: so that is done seldom, and what the thread put there is on the disk by then. Should the thread end, SQLite does
 * it all during a commit, as by default, but later.
 */
export class SqliteLog {
  /** Why nothing can be relied on any more, once that is so. */
  failure: string | null = null;
  /** Whether the thread does its work; else SQLite does it. */
  isAlive = true;
  private readonly database: Database;
  private readonly logBytes: number;
  /** Of the file; as long as any connection is open, since closing it drops their locks (POSIX). */
  private readonly descriptor: number;
  private readonly worker: Worker | undefined;
  private readonly exited: Promise<void>;
  private commits = 0;
  private busy = false;

  /** @param logBytes how much is put into the file at once */
  constructor(database: Database, file: string, logBytes: number) {
    this.database = database;
    this.logBytes = logBytes;
    const descriptor = openSync(file, 'r+');
    const work: LogWork = { file, descriptor, logBytes };
    const worker = canBePutBeside(database) ? startThread('sqlite-log-worker', work) : undefined;
    worker?.on('message', ({ total, failure }: LogState) => {
      this.failure ??= failure;
      if (total >= longestLog(logBytes)) this.failure ??= logAfter(database, 'PASSIVE').failure;
      this.busy = false;
    });
    // Why is of no use here: it ends, and SQLite does its work.
    worker?.on('error', () => undefined);
    this.descriptor = descriptor;
    this.worker = worker;
    this.exited = worker ? new Promise((resolve) => worker.once('exit', () => resolve())) : Promise.resolve();
    void this.exited.then(() => (this.isAlive = false));
  }

  /** Call it after each commit. */
  committed(): void {
    this.commits += 1;
    if (!this.isAlive || this.busy || this.commits % COMMITS_BETWEEN_LOOKS !== 0) return;
    if (logAfter(this.database, 'NOOP').left < this.logBytes) return;
    this.busy = true;
    this.worker?.postMessage('put');
  }

  /** Ends the thread, and then closes the connection, which is the last one: it puts the log into the file and deletes it. */
  async close(): Promise<void> {
    this.worker?.postMessage(null);
    await this.exited;
    this.database.close();
    closeSync(this.descriptor);
  }
}

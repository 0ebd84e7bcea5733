import type { Worker } from 'node:worker_threads';
import { BusyError, type Counter, type Metrics, UnavailableError } from '@tracking/ports';
import { type SqliteConnection, getErrorMessage, openDatabaseForReading } from './sqlite-database.ts';
import { performReadRequest } from './sqlite-reads.ts';
import { ENGINE_NAME, type SqliteWriter } from './sqlite-writer.ts';
import { type ReadAnswerByKind, type ReadRequest, startWorkerThread } from './storage-threads.ts';

interface PendingRead {
  resolve(answer: ReadAnswerByKind[ReadRequest['kind']]): void;
  reject(error: Error): void;
}

/** Thread that answers its requests in order. */
interface ReaderThread {
  readonly worker: Worker;
  readonly pending: PendingRead[];
}

/**
 * Pool of threads for lists, scans and old events. The threads start with the first request, and a dead thread is
 * replaced at the next request. If the pool has no threads, the calling thread reads.
 */
export class SqliteReaderPool {
  private readonly readers: ReaderThread[] = [];
  private waiting = 0;
  private closed = false;
  private ownDatabase: SqliteConnection | undefined;
  private readonly refused: Counter;

  constructor(
    private readonly file: string,
    private readonly limits: { readonly threads: number; readonly maxWaiting: number },
    metrics: Metrics,
  ) {
    metrics.createGauge(
      'storage_reads_waiting',
      'Lists and scans waiting for a reader thread.',
      [],
      () => this.waiting,
    );
    this.refused = metrics.createCounter('storage_refused_total', 'Operations refused because a queue was full.', [
      'queue',
    ]);
  }

  /** Runs a read in a reader thread. @throws BusyError, UnavailableError */
  runReadInThread<R extends ReadRequest>(request: R): Promise<ReadAnswerByKind[R['kind']]> {
    return new Promise((resolve, reject) => {
      if (this.closed) throw new UnavailableError(ENGINE_NAME, 'closed');
      if (this.waiting >= this.limits.maxWaiting) {
        this.refused.add(1, { queue: 'reads' });
        throw new BusyError(ENGINE_NAME, `${this.waiting} reads are already waiting; retry later`);
      }
      if (this.limits.threads === 0) {
        this.waiting += 1;
        return void setImmediate(() => this.readInCallingThread(request, resolve, reject));
      }
      while (this.readers.length < this.limits.threads) this.startReaderThread();
      const reader = this.readers.reduce((best, next) => (next.pending.length < best.pending.length ? next : best));
      reader.pending.push({ resolve: resolve as PendingRead['resolve'], reject });
      this.waiting += 1;
      reader.worker.postMessage(request);
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    const exits = this.readers.map(({ worker }) => new Promise((resolve) => worker.once('exit', resolve)));
    for (const { worker } of this.readers) worker.postMessage(null);
    await Promise.all(exits);
    // Earlier reads on the calling thread are answered first, in order, like in a thread.
    while (this.waiting > 0) await new Promise((resolve) => setImmediate(resolve));
    this.ownDatabase?.closeDatabase();
  }

  private readInCallingThread<R extends ReadRequest>(
    request: R,
    resolve: (answer: ReadAnswerByKind[R['kind']]) => void,
    reject: (error: Error) => void,
  ): void {
    this.waiting -= 1;
    try {
      this.ownDatabase ??= openDatabaseForReading(this.file);
      resolve(performReadRequest(this.ownDatabase, request) as ReadAnswerByKind[R['kind']]);
    } catch (error) {
      reject(new UnavailableError(ENGINE_NAME, getErrorMessage(error)));
    }
  }

  private startReaderThread(): void {
    const worker = startWorkerThread('sqlite-reader-worker', { file: this.file });
    const reader: ReaderThread = { worker, pending: [] };
    this.readers.push(reader);
    type Reply = { readonly answer: ReadAnswerByKind[ReadRequest['kind']] } | { readonly error: string };
    worker.on('message', (message: Reply) => {
      this.waiting -= 1;
      const first = reader.pending.shift();
      if ('error' in message) first?.reject(new UnavailableError(ENGINE_NAME, message.error));
      else first?.resolve(message.answer);
    });
    let reason = 'the storage reader thread ended';
    worker.on('error', (error) => (reason = error.message));
    worker.on('exit', () => {
      this.readers.splice(this.readers.indexOf(reader), 1);
      this.waiting -= reader.pending.length;
      for (const { reject } of reader.pending) reject(new UnavailableError(ENGINE_NAME, reason));
    });
  }
}

/** The storage of a process, through which the ports access the SQLite file. */
export interface SqliteStorage {
  /** Writer of the file, in its own thread. */
  readonly writer: SqliteWriter;
  /** Connection for short reads on the calling thread. */
  readonly database: SqliteConnection;
  /** Pool for lists and scans, in separate threads. */
  readonly readers: SqliteReaderPool;
}

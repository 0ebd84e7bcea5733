import { dirname } from 'node:path';
import { setInterval } from 'node:timers';
import type { Worker } from 'node:worker_threads';
import {
  BusyError,
  UnavailableError,
  WritesRefusedError,
  type Histogram,
  type Logger,
  type Metrics,
  type Counter,
} from '@tracking/ports';
import { DamagedStorageError, NewerSchemaError } from './storage-file.ts';
import { StorageState } from './storage-state.ts';
import {
  type BatchAnswer,
  type StorageOperationBatch,
  type OperationOutcome,
  type OutcomeOf,
  type RefusedOperationOutcome,
  startWorkerThread,
  type StorageOperation,
  type WriterStart,
} from './storage-threads.ts';

export const ENGINE_NAME = 'storage';
/** Maximum number of events and documents in one transaction, which limits how long the next operations wait. */
const MAX_ITEMS_PER_SQLITE_TRANSACTION = 2_000;
/** Maximum milliseconds that a `later` operation waits for another operation's commit. */
const MAX_COMMIT_DELAY_MS = 20;
/** Milliseconds between two checks of an idle writer that the files exist and are writable. */
const STORAGE_PROBE_INTERVAL_MS = 1_000;

/**
 * Commit class of an operation:
 * - `durable`: commits now, with an fsync. The data is on disk when it resolves.
 * - `soon`: commits now, without an fsync, after all earlier commits in the write-ahead log.
 * - `later`: like `soon`, but within some milliseconds, together with another commit if there is one.
 */
export type CommitClass = 'durable' | 'soon' | 'later';

interface SqliteWriterOptions {
  /** Maximum number of waiting events and documents. */
  readonly maxWaiting: number;
  /** Size in bytes of the write-ahead log at which a checkpoint is due. */
  readonly checkpointBytes: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A caller that waits for the result of an operation. */
interface CallerWaitingForWrite {
  completeOperation(outcome: OperationOutcome): void;
  reject(error: Error): void;
}
interface QueuedSqliteWrite extends CallerWaitingForWrite {
  readonly operation: StorageOperation;
  readonly items: number;
  readonly commitClass: CommitClass;
}
/** Placeholder of a batch without operations. */
const PLACEHOLDER_FOR_EMPTY_WRITE_BATCH: readonly CallerWaitingForWrite[] = [
  { completeOperation: () => undefined, reject: () => undefined },
];

/** Group commit for the calling thread: operations that arrive during a commit form the next commit. */
export class SqliteWriter {
  private queue: QueuedSqliteWrite[] = [];
  /** Number of events and documents in `queue`. */
  private queued = 0;
  private committing: readonly CallerWaitingForWrite[] = [];
  private draining = false;
  private next: NodeJS.Immediate | undefined;
  private later: NodeJS.Timeout | undefined;
  private readonly probing: NodeJS.Timeout;
  private readonly idle = new Set<() => void>();
  private readonly exited: Promise<void>;
  private readonly refused: Counter;
  private readonly commitSeconds: Histogram;
  private readonly batchItems: Histogram;

  private constructor(
    private readonly worker: Worker,
    readonly start: { readonly head: number; readonly incarnation: number },
    private readonly state: StorageState,
    private readonly options: SqliteWriterOptions,
  ) {
    const { metrics } = options;
    const items = 'Events and documents';
    metrics.createGauge('storage_queue_items', `${items} waiting for the next commit`, [], () => this.queued);
    this.refused = metrics.createCounter('storage_refused_total', 'Operations refused because a queue was full.', [
      'queue',
    ]);
    this.commitSeconds = metrics.createHistogram('storage_commit_seconds', 'Duration of a commit', ['sync']);
    this.batchItems = metrics.createHistogram(
      'storage_commit_items',
      `${items} in a commit`,
      ['sync'],
      [1, 3, 10, 30, 100, 300, 1_000, 3_000],
    );
    this.probing = setInterval(() => this.probeDisk(), STORAGE_PROBE_INTERVAL_MS).unref();
    worker.on('message', (answer: BatchAnswer) => this.processCommitAnswerOfWriterThread(answer));
    worker.on('error', (error) => this.markWriterPermanentlyFailed(error.message));
    this.exited = new Promise((resolve) => {
      worker.on('exit', () => {
        this.markWriterPermanentlyFailed('the storage writer thread ended');
        resolve();
      });
    });
  }

  /** Opens the file for writing. @throws NewerSchemaError, DamagedStorageError, UnavailableError */
  static async openSqliteWriter(file: string, options: SqliteWriterOptions): Promise<SqliteWriter> {
    const worker = startWorkerThread('sqlite-writer-worker', { file, checkpointBytes: options.checkpointBytes });
    const start = await new Promise<WriterStart>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    if (start.kind === 'ready') {
      const state = new StorageState(dirname(file), options.logger, options.metrics);
      void state.measureFreeSpace();
      return new SqliteWriter(worker, start, state, options);
    }
    await worker.terminate();
    switch (start.kind) {
      case 'newer_schema':
        throw new NewerSchemaError(start.message);
      case 'damaged':
        throw new DamagedStorageError(start.message);
      case 'failed':
        throw new UnavailableError(ENGINE_NAME, start.message);
    }
  }

  /** Reason why writes fail or will soon fail; undefined without a problem. */
  get failure(): string | undefined {
    return this.state.failure;
  }

  /**
   * Checks that the writer accepts another operation.
   * @throws BusyError if the queue is full, WritesRefusedError while writing is
   *   impossible
   */
  throwIfNotWritable(): void {
    const refused = this.state.ended ?? (this.draining ? 'closed' : this.state.outOfSpace);
    if (refused !== undefined) throw new WritesRefusedError(ENGINE_NAME, refused);
    if (this.queued < this.options.maxWaiting) return;
    this.refused.add(1, { queue: 'writes' });
    throw new BusyError(ENGINE_NAME, `${this.queued} writes are already waiting; retry later`);
  }

  /**
   * Adds an admitted operation to the next batch.
   * @param items number of events or documents that it writes
   * @param complete creates the result; runs in commit order, before any caller is notified
   */
  addOperationToBatch<O extends StorageOperation, R>(
    operation: O,
    items: number,
    commitClass: CommitClass,
    complete: (outcome: OutcomeOf<O>) => R,
  ): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      this.queue.push({
        operation,
        items,
        commitClass,
        reject,
        completeOperation(outcome) {
          if (outcome.kind === 'refused') return reject(new Error((outcome as RefusedOperationOutcome).message));
          try {
            resolve(complete(outcome as OutcomeOf<O>));
          } catch (error) {
            reject(error as Error);
          }
        },
      });
      this.queued += items;
      if (this.state.ended !== undefined) this.rejectAllOperations();
      else if (this.committing.length === 0) this.scheduleTransactionCommit(commitClass);
    });
  }

  /** Refuses further operations; resolves when the accepted ones are finished. */
  async drainWriteQueue(): Promise<void> {
    this.draining = true;
    clearInterval(this.probing);
    if (this.committing.length === 0) this.commitWaitingWrites();
    while (this.committing.length > 0) await new Promise<void>((resolve) => this.idle.add(resolve));
  }

  /** Finishes the queued operations, then ends the thread. */
  async close(): Promise<void> {
    await this.drainWriteQueue();
    this.state.markStorageClosed();
    this.worker.postMessage(null);
    await this.exited;
  }

  /** Operations of one turn of the event loop share a commit. */
  private scheduleTransactionCommit(commitClass: CommitClass): void {
    if (commitClass === 'later') this.later ??= setTimeout(() => this.commitNextBatch(), MAX_COMMIT_DELAY_MS);
    else this.next ??= setImmediate(() => this.commitNextBatch());
  }

  /** Commits a batch without operations, which writes to the disk only if writing failed before. */
  private probeDisk(): void {
    void this.state.measureFreeSpace();
    if (this.state.ended !== undefined || this.committing.length > 0 || this.queue.length > 0) return;
    this.committing = PLACEHOLDER_FOR_EMPTY_WRITE_BATCH;
    this.worker.postMessage({
      operations: [],
      durable: this.state.outOfSpace !== undefined,
    } satisfies StorageOperationBatch);
  }

  private cancelScheduledProbe(): void {
    clearImmediate(this.next);
    clearTimeout(this.later);
    this.next = this.later = undefined;
  }

  private commitWaitingWrites(): void {
    if (this.queue.some(({ commitClass }) => this.draining || commitClass !== 'later')) return this.commitNextBatch();
    this.committing = [];
    if (this.queue.length > 0) this.scheduleTransactionCommit('later');
    for (const resolve of this.idle) resolve();
    this.idle.clear();
  }

  private commitNextBatch(): void {
    this.cancelScheduledProbe();
    const batch: QueuedSqliteWrite[] = [];
    let items = 0;
    for (const pending of this.queue) {
      if (items >= MAX_ITEMS_PER_SQLITE_TRANSACTION) break;
      batch.push(pending);
      items += pending.items;
    }
    this.queue = this.queue.slice(batch.length);
    this.queued -= items;
    this.committing = batch;
    const durable = batch.some(({ commitClass }) => commitClass === 'durable');
    this.batchItems.observe(items, { sync: durable ? 'full' : 'normal' });
    this.worker.postMessage({
      operations: batch.map(({ operation }) => operation),
      durable,
    } satisfies StorageOperationBatch);
  }

  private processCommitAnswerOfWriterThread(answer: BatchAnswer): void {
    const batch = this.committing;
    if (answer.kind === 'fatal') return this.markWriterPermanentlyFailed(answer.message);
    if (answer.kind === 'out_of_space') this.state.refuseWritesOnFullDisk(answer.message);
    if (answer.kind === 'committed') this.state.resumeRefusedStorageWrites();
    // The next commit starts before callers are notified, so that the thread works meanwhile.
    this.commitWaitingWrites();
    if (answer.kind === 'committed') {
      if (batch !== PLACEHOLDER_FOR_EMPTY_WRITE_BATCH)
        this.commitSeconds.observe(answer.seconds, { sync: answer.synced ? 'full' : 'normal' });
      answer.outcomes.forEach((outcome, index) => batch[index]?.completeOperation(outcome));
    } else {
      if (answer.kind === 'failed')
        this.options.logger.error({ reason: answer.message }, 'storage: a commit failed and was undone');
      const Failure = answer.kind === 'out_of_space' ? WritesRefusedError : UnavailableError;
      for (const { reject } of batch) reject(new Failure(ENGINE_NAME, answer.message));
    }
  }

  private markWriterPermanentlyFailed(reason: string): void {
    if (this.state.ended !== undefined) return;
    this.state.markStorageAsFailed(reason);
    clearInterval(this.probing);
    this.rejectAllOperations();
  }

  private rejectAllOperations(): void {
    this.cancelScheduledProbe();
    const all = [...this.committing, ...this.queue];
    this.committing = [];
    this.queue = [];
    this.queued = 0;
    for (const { reject } of all) reject(new UnavailableError(ENGINE_NAME, this.state.ended ?? 'closed'));
    for (const resolve of this.idle) resolve();
    this.idle.clear();
  }
}

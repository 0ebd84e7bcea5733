import { parentPort, workerData } from 'node:worker_threads';
import { SqliteAppends } from './sqlite-appends.ts';
import { CommitCount } from './commit-count.ts';
import { HeldFiles } from './held-files.ts';
import type { Database } from './sqlite-database.ts';
import { isFatal, isOutOfSpace, messageOf } from './sqlite-errors.ts';
import { NewerSchema, openForWriting } from './sqlite-schema.ts';
import { SqliteDocuments } from './sqlite-documents.ts';
import { WalCheckpointer } from './wal-checkpointer.ts';
import { SqliteMessages } from './sqlite-messages.ts';
import { checkStorage, DamagedStorage } from './storage-check.ts';
import type { CommitBatch, BatchAnswer, StorageOperation, OperationOutcome, WriterStart } from './storage-protocol.ts';

/** The one thread that writes. Each message is a batch, committed as one transaction; `null` ends it. */
class WriterThread {
  private readonly database: Database;
  private readonly checkpointer: WalCheckpointer;
  private readonly count: CommitCount;
  private readonly files: HeldFiles;
  private readonly appends: SqliteAppends;
  private readonly documents: SqliteDocuments;
  private readonly messages: SqliteMessages;
  private synchronous = true;

  constructor(database: Database, file: string, checkpointBytes: number) {
    this.database = database;
    this.checkpointer = new WalCheckpointer(database, file, checkpointBytes);
    this.count = new CommitCount(database, file);
    this.files = new HeldFiles([file, `${file}-wal`]);
    this.appends = new SqliteAppends(database);
    this.documents = new SqliteDocuments(database);
    this.messages = new SqliteMessages(database);
  }

  get head(): number {
    return this.appends.head;
  }

  commit(batch: CommitBatch): BatchAnswer {
    if (this.checkpointer.failure !== null) return { kind: 'fatal', message: this.checkpointer.failure };
    const answer = this.transaction(batch, (operation) => this.perform(operation));
    if (!batch.durable && batch.operations.length > 0) return answer;
    // After the commit: what is acknowledged was written to files that are still there.
    const { fault } = this.files;
    return fault === null ? answer : { kind: 'fatal', message: fault };
  }

  /**
   * Commits all operations at once. When one of them fails, all are undone and done again, each under a savepoint: not at
   * first, since a savepoint costs a copy of every page touched under it (https://sqlite.org/lang_savepoint.html).
   */
  private transaction(
    { operations, durable }: CommitBatch,
    perform: (operation: StorageOperation) => OperationOutcome,
  ): BatchAnswer {
    const start = performance.now();
    try {
      this.synchronize(durable);
      this.database.run('BEGIN IMMEDIATE');
      const outcomes = operations.map(perform);
      if (durable) this.count.add();
      this.database.run('COMMIT');
      if (durable) this.count.note();
      const seconds = (performance.now() - start) / 1_000;
      return { kind: 'committed', outcomes, seconds, synced: this.synchronous };
    } catch (error) {
      if (this.database.inTransaction) this.database.run('ROLLBACK');
      this.reload();
      const kind = kindOf(error);
      if (kind === 'failed' && perform !== this.performApart)
        return this.transaction({ operations, durable }, this.performApart);
      return { kind, message: messageOf(error) };
    }
  }

  /** To be called once the answer was sent. */
  committed(): void {
    this.checkpointer.committed();
  }

  async close(): Promise<void> {
    await this.checkpointer.close();
    this.count.close();
    this.files.close();
  }

  /**
   * FULL: each commit ends with an fsync of the write-ahead log, and so of everything committed before. NORMAL: fsyncs only
   * at checkpoints; a power cut then loses the last commits, never one from between others.
   */
  private synchronize(durable: boolean): void {
    if (durable === this.synchronous) return;
    this.database.run(`PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'}`);
    this.synchronous = this.database.value('PRAGMA synchronous') === 2;
  }

  /** Undoes only this operation when it is at fault; a failure of the engine ends the whole batch. */
  private readonly performApart = (operation: StorageOperation): OperationOutcome => {
    this.database.run('SAVEPOINT operation');
    try {
      return this.perform(operation);
    } catch (error) {
      if (kindOf(error) !== 'failed' || !this.database.inTransaction) throw error;
      this.database.run('ROLLBACK TO operation');
      this.reload();
      return { kind: 'refused', message: messageOf(error) };
    } finally {
      if (this.database.inTransaction) this.database.run('RELEASE operation');
    }
  };

  /** After a rollback: what is remembered in memory is read from the file again. */
  private reload(): void {
    this.appends.reload();
    this.documents.reload();
  }

  private perform(operation: StorageOperation): OperationOutcome {
    switch (operation.kind) {
      case 'append':
        return this.appends.append(operation);
      case 'write':
        return this.documents.write(operation);
      case 'claim':
        return this.documents.claim(operation);
      case 'define':
        return this.documents.define(operation.spec);
      case 'drop':
        return this.documents.drop(operation.collection);
      case 'publish':
      case 'topics':
      case 'commit':
      case 'trim':
        return this.messages.perform(operation);
    }
  }
}

function kindOf(error: unknown): 'failed' | 'out_of_space' | 'fatal' {
  if (isOutOfSpace(error)) return 'out_of_space';
  return isFatal(error) ? 'fatal' : 'failed';
}

function refusalOf(error: unknown): 'newer_schema' | 'damaged' | 'failed' {
  if (error instanceof NewerSchema) return 'newer_schema';
  return error instanceof DamagedStorage ? 'damaged' : 'failed';
}

const port = parentPort;
function start(): void {
  const { file, checkpointBytes } = workerData as { readonly file: string; readonly checkpointBytes: number };
  try {
    checkStorage(file);
    const { database, incarnation } = openForWriting(file, checkpointBytes);
    const thread = new WriterThread(database, file, checkpointBytes);
    port?.on('message', (batch: CommitBatch | null) => {
      if (batch === null) return void thread.close().then(() => port.close());
      port.postMessage(thread.commit(batch));
      thread.committed();
    });
    port?.postMessage({ kind: 'ready', head: thread.head, incarnation } satisfies WriterStart);
  } catch (error) {
    port?.postMessage({ kind: refusalOf(error), message: messageOf(error) } satisfies WriterStart);
  }
}
start();

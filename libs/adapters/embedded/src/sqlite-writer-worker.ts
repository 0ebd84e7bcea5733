import { parentPort, workerData } from 'node:worker_threads';
import { SqliteAppends } from './sqlite-appends.ts';
import { CommitCount } from './commit-count.ts';
import { HeldFiles } from './held-files.ts';
import { isFatal, isOutOfSpace, messageOf, NewerSchema, openForWriting, type Database } from './sqlite-database.ts';
import { SqliteDocuments } from './sqlite-documents.ts';
import { SqliteLog } from './sqlite-log.ts';
import { SqliteMessages } from './sqlite-messages.ts';
import { checkStorage, DamagedStorage } from './storage-check.ts';
import type { Batch, BatchAnswer, Operation, Outcome, WriterStart } from './storage-protocol.ts';

/** The one thread that writes: a message is a transaction, `null` the end. */
class WriterThread {
  private readonly database: Database;
  private readonly log: SqliteLog;
  private readonly count: CommitCount;
  private readonly files: HeldFiles;
  private readonly appends: SqliteAppends;
  private readonly documents: SqliteDocuments;
  private readonly messages: SqliteMessages;
  private synchronous = true;

  constructor(database: Database, file: string, logBytes: number) {
    this.database = database;
    this.log = new SqliteLog(database, file, logBytes);
    this.count = new CommitCount(database, file);
    this.files = new HeldFiles([file, `${file}-wal`]);
    this.appends = new SqliteAppends(database);
    this.documents = new SqliteDocuments(database);
    this.messages = new SqliteMessages(database);
  }

  get head(): number {
    return this.appends.head;
  }

  commit(batch: Batch): BatchAnswer {
    if (this.log.failure !== null) return { kind: 'fatal', message: this.log.failure };
    const answer = this.transaction(batch, (operation) => this.perform(operation));
    if (!batch.durable && batch.operations.length > 0) return answer;
    // Looked at afterwards: what is acknowledged was in its place when it was written.
    const { fault } = this.files;
    return fault === null ? answer : { kind: 'fatal', message: fault };
  }

  /**
   * All at once; should an operation be at fault, again with each for itself, which costs a copy of every page that it
   * touches (https://sqlite.org/lang_savepoint.html).
   */
  private transaction({ operations, durable }: Batch, perform: (operation: Operation) => Outcome): BatchAnswer {
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
      if (kind === 'failed' && perform !== this.apart) return this.transaction({ operations, durable }, this.apart);
      return { kind, message: messageOf(error) };
    }
  }

  /** Once the answer is given. */
  committed(): void {
    this.log.committed();
  }

  async close(): Promise<void> {
    await this.log.close();
    this.count.close();
    this.files.close();
  }

  /**
   * FULL: an fsync of the log at each commit, which takes everything committed before with it. NORMAL: none but at
   * checkpoints; a power cut then loses the last commits, never one from between others.
   */
  private synchronize(durable: boolean): void {
    if (durable === this.synchronous) return;
    this.database.run(`PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'}`);
    this.synchronous = this.database.value('PRAGMA synchronous') === 2;
  }

  /** An operation at fault undoes itself and leaves the others of its batch alone; a fault of the engine ends the batch. */
  private readonly apart = (operation: Operation): Outcome => {
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

  /** What was undone must be forgotten here as well. */
  private reload(): void {
    this.appends.reload();
    this.documents.reload();
  }

  private perform(operation: Operation): Outcome {
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
  const { file, logBytes } = workerData as { readonly file: string; readonly logBytes: number };
  try {
    checkStorage(file);
    const { database, incarnation } = openForWriting(file, logBytes);
    const thread = new WriterThread(database, file, logBytes);
    port?.on('message', (batch: Batch | null) => {
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

import { parentPort, workerData } from 'node:worker_threads';
import { SqliteAppends } from './sqlite-appends.ts';
import { isFatal, messageOf, NewerSchema, openForWriting, type Database } from './sqlite-database.ts';
import { SqliteDocuments } from './sqlite-documents.ts';
import { SqliteLog } from './sqlite-log.ts';
import { SqliteMessages } from './sqlite-messages.ts';
import type { Batch, BatchAnswer, Operation, Outcome, WriterStart } from './storage-protocol.ts';

/** The one thread that writes: a message is a transaction, `null` the end. */
class WriterThread {
  private readonly database: Database;
  private readonly log: SqliteLog;
  private readonly appends: SqliteAppends;
  private readonly documents: SqliteDocuments;
  private readonly messages: SqliteMessages;
  private synchronous = true;

  constructor(database: Database, log: SqliteLog) {
    this.database = database;
    this.log = log;
    this.appends = new SqliteAppends(database);
    this.documents = new SqliteDocuments(database);
    this.messages = new SqliteMessages(database);
  }

  get head(): number {
    return this.appends.head;
  }

  commit(batch: Batch): BatchAnswer {
    if (this.log.failure !== null) return { kind: 'failed', message: this.log.failure, fatal: true };
    return this.transaction(batch, (operation) => this.perform(operation));
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
      this.database.run('COMMIT');
      const seconds = (performance.now() - start) / 1_000;
      return { kind: 'committed', outcomes, seconds, synced: this.synchronous };
    } catch (error) {
      if (this.database.inTransaction) this.database.run('ROLLBACK');
      this.reload();
      const fatal = isFatal(error);
      if (!fatal && perform !== this.apart) return this.transaction({ operations, durable }, this.apart);
      return { kind: 'failed', message: messageOf(error), fatal };
    }
  }

  /** Once the answer is given. */
  committed(): void {
    this.log.committed();
  }

  close(): Promise<void> {
    return this.log.close();
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
      if (isFatal(error) || !this.database.inTransaction) throw error;
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

const port = parentPort;
function start(): void {
  const { file, logBytes } = workerData as { readonly file: string; readonly logBytes: number };
  try {
    const { database, incarnation } = openForWriting(file, logBytes);
    const thread = new WriterThread(database, new SqliteLog(database, file, logBytes));
    port?.on('message', (batch: Batch | null) => {
      if (batch === null) return void thread.close().then(() => port.close());
      port.postMessage(thread.commit(batch));
      thread.committed();
    });
    port?.postMessage({ kind: 'ready', head: thread.head, incarnation } satisfies WriterStart);
  } catch (error) {
    const kind = error instanceof NewerSchema ? 'newer_schema' : 'failed';
    port?.postMessage({ kind, message: messageOf(error) } satisfies WriterStart);
  }
}
start();

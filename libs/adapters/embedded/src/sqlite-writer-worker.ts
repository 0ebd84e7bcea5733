import { parentPort, workerData } from 'node:worker_threads';
import { type SqliteConnection, isFatalDatabaseError, isDiskFullError, getErrorMessage } from './sqlite-database.ts';
import { SqliteDocumentWriter } from './sqlite-documents.ts';
import {
  checkStorageFile,
  AcknowledgedCommitCounter,
  DamagedStorageError,
  ReplacedDatabaseFileDetector,
  NewerSchemaError,
  openDatabaseForWriting,
} from './storage-file.ts';
import type {
  AppendOperation,
  AppendOutcome,
  BatchAnswer,
  StorageOperationBatch,
  DocumentWriteOutcome,
  MessagesOperation,
  OperationOutcome,
  StorageOperation,
  MessageTrimmingOutcome,
  WriterStart,
} from './storage-threads.ts';
import { WalCheckpointer } from './wal.ts';

const LAST_REVISION_SQL = 'SELECT revision FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1';
const INSERT_EVENT_SQL =
  'INSERT INTO events (position, stream, revision, id, type, data, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)';
const SELECT_EVENTS_IN_RANGE_SQL =
  'SELECT id, position FROM events WHERE stream = ? AND revision > ? AND revision <= ? ORDER BY revision';
/** Number of cells per event in an `AppendOperation`. */
const VALUES_PER_APPENDED_EVENT = 4;
const INSERT_BROKER_MESSAGE_SQL =
  'INSERT INTO messages (position, topic, partition, at, key, value, headers) VALUES (?, ?, ?, ?, ?, ?, ?)';
const DEFINE_TOPIC_SQL = 'INSERT INTO topics (name, partitions, retention_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
/** An offset never decreases, because a repeated batch may commit an earlier offset again. */
const COMMIT_OFFSET_SQL = `INSERT INTO offsets (consumer_group, topic, partition, position) VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET position = max(position, excluded.position)`;
/**
 * Positions grow with time, so the oldest messages come first. Messages that a consumer group has not handled are kept,
 * so that a stopped process or a clock jump loses no message.
 */
const DELETE_OLD_MESSAGES_SQL = `DELETE FROM messages WHERE at < ?1 AND position IN
  (SELECT position FROM messages WHERE topic = ?2 AND partition = ?3
    AND position <= coalesce((SELECT min(position) FROM offsets WHERE topic = ?2 AND partition = ?3), 9e15)
    ORDER BY position LIMIT (?4 + 0))`;
/** Number of cells per message in a `PublishOperation`. */
const FLAT_ARRAY_CELLS_PER_MESSAGE = 4;
/** Maximum number of messages deleted in one transaction. */
const MESSAGES_DELETED_PER_TRANSACTION = 1_000;
const DOCUMENT_WRITE_DONE_OUTCOME: DocumentWriteOutcome = { kind: 'done', duplicate: null };

/** Appends in the writer thread. Positions have no gaps, so that they can be used as counts. */
class SqliteEventAppender {
  private readonly database: SqliteConnection;
  /** Last assigned position. */
  private position = 0;

  constructor(database: SqliteConnection) {
    this.database = database;
    this.reloadLastEventPosition();
  }

  get head(): number {
    return this.position;
  }

  /** Reads the last position again. Call it after a rollback. */
  reloadLastEventPosition(): void {
    this.position = Number(this.database.readFirstValueOfQuery('SELECT max(position) FROM events') ?? 0);
  }

  appendEvents({ stream, expected, cells }: AppendOperation): AppendOutcome {
    const actual = Number(this.database.readFirstValueOfQuery(LAST_REVISION_SQL, [stream]) ?? -1);
    if (actual !== expected) return this.findRepeatedAppend(stream, expected, cells) ?? { kind: 'conflict', actual };
    let revision = expected;
    const insert = this.database.prepareStatement(INSERT_EVENT_SQL);
    for (let at = 0; at < cells.length; at += VALUES_PER_APPENDED_EVENT) {
      insert.run(
        ++this.position,
        stream,
        ++revision,
        cells[at] ?? null,
        cells[at + 1] ?? null,
        cells[at + 2] ?? null,
        cells[at + 3] ?? null,
      );
    }
    return { kind: 'appended', revision, position: this.position, repeated: false };
  }

  /** Returns the result of an earlier append of the same events at the same revision, if there was one. */
  private findRepeatedAppend(stream: string, expected: number, cells: readonly string[]): AppendOutcome | undefined {
    const count = cells.length / VALUES_PER_APPENDED_EVENT;
    const stored = this.database.readRows(SELECT_EVENTS_IN_RANGE_SQL, [stream, expected, expected + count]);
    if (stored.length < count || stored.some(([id], index) => id !== cells[index * VALUES_PER_APPENDED_EVENT]))
      return undefined;
    return { kind: 'appended', revision: expected + count, position: Number(stored[count - 1]?.[1]), repeated: true };
  }
}

/** Topics in the writer thread. */
class SqliteMessageWriter {
  private readonly database: SqliteConnection;

  constructor(database: SqliteConnection) {
    this.database = database;
  }

  executeMessageStorageOperation(operation: MessagesOperation): DocumentWriteOutcome | MessageTrimmingOutcome {
    switch (operation.kind) {
      case 'publish': {
        const { topic, at, first, cells } = operation;
        const insert = this.database.prepareStatement(INSERT_BROKER_MESSAGE_SQL);
        let position = first;
        for (let cell = 0; cell < cells.length; cell += FLAT_ARRAY_CELLS_PER_MESSAGE) {
          const [partition = 0, key = '', value = '', headers = ''] = cells.slice(
            cell,
            cell + FLAT_ARRAY_CELLS_PER_MESSAGE,
          );
          insert.run(position++, topic, partition, at, key, value, headers);
        }
        // The sequence is stored separately from messages, because a sequence that restarted after a trim would reuse
        // positions.
        this.database.runStatement('UPDATE message_sequence SET position = ?', [position - 1]);
        return DOCUMENT_WRITE_DONE_OUTCOME;
      }
      case 'topics':
        for (const { name, partitions, retentionMs } of operation.topics) {
          this.database.runStatement(DEFINE_TOPIC_SQL, [name, partitions, retentionMs]);
        }
        return DOCUMENT_WRITE_DONE_OUTCOME;
      case 'commit':
        this.database.runStatement(COMMIT_OFFSET_SQL, [
          operation.group,
          operation.topic,
          operation.partition,
          operation.position,
        ]);
        return DOCUMENT_WRITE_DONE_OUTCOME;
      case 'trim': {
        const { topic, partition, before } = operation;
        const deleted = this.database.runStatement(DELETE_OLD_MESSAGES_SQL, [
          before,
          topic,
          partition,
          MESSAGES_DELETED_PER_TRANSACTION,
        ]);
        return { kind: 'trimmed', deleted, more: deleted === MESSAGES_DELETED_PER_TRANSACTION };
      }
    }
  }
}

/** The only thread that writes. Each message is a batch, committed in one transaction; `null` ends the thread. */
class WriterThread {
  private readonly database: SqliteConnection;
  private readonly checkpointer: WalCheckpointer;
  private readonly count: AcknowledgedCommitCounter;
  private readonly files: ReplacedDatabaseFileDetector;
  private readonly appends: SqliteEventAppender;
  private readonly documents: SqliteDocumentWriter;
  private readonly messages: SqliteMessageWriter;
  private synchronous = true;

  constructor(database: SqliteConnection, file: string, checkpointBytes: number) {
    this.database = database;
    this.checkpointer = new WalCheckpointer(database, file, checkpointBytes);
    this.count = new AcknowledgedCommitCounter(database, file);
    this.files = new ReplacedDatabaseFileDetector([file, `${file}-wal`]);
    this.appends = new SqliteEventAppender(database);
    this.documents = new SqliteDocumentWriter(database);
    this.messages = new SqliteMessageWriter(database);
  }

  get head(): number {
    return this.appends.head;
  }

  commitBatch(batch: StorageOperationBatch): BatchAnswer {
    if (this.checkpointer.failure !== null) return { kind: 'fatal', message: this.checkpointer.failure };
    const answer = this.commitStorageOperationsInTransaction(batch, (operation) =>
      this.executeSqliteStorageOperation(operation),
    );
    if (!batch.durable && batch.operations.length > 0) return answer;
    // The writer checks the files after the commit, so that acknowledged data is in files that still exist.
    const { fault } = this.files;
    return fault === null ? answer : { kind: 'fatal', message: fault };
  }

  /**
   * Commits all operations at once. If one fails, all are undone and repeated, each under a savepoint. Savepoints are
   * not used at first, because each costs a copy of every page changed under it
   * (https://sqlite.org/lang_savepoint.html).
   */
  private commitStorageOperationsInTransaction(
    { operations, durable }: StorageOperationBatch,
    perform: (operation: StorageOperation) => OperationOutcome,
  ): BatchAnswer {
    const start = performance.now();
    try {
      this.setSynchronousMode(durable);
      this.database.runStatement('BEGIN IMMEDIATE');
      const outcomes = operations.map(perform);
      if (durable) this.count.incrementCommitCount();
      this.database.runStatement('COMMIT');
      if (durable) this.count.writeCommitCountToFile();
      const seconds = (performance.now() - start) / 1_000;
      return { kind: 'committed', outcomes, seconds, synced: this.synchronous };
    } catch (error) {
      if (this.database.inTransaction) this.database.runStatement('ROLLBACK');
      this.reloadCachedState();
      const kind = classifySqliteWriteError(error);
      if (kind === 'failed' && perform !== this.performInSavepoint)
        return this.commitStorageOperationsInTransaction({ operations, durable }, this.performInSavepoint);
      return { kind, message: getErrorMessage(error) };
    }
  }

  /** Checkpoints the log if needed. Call it after the answer was sent. */
  checkpointLogIfNeeded(): void {
    this.checkpointer.checkWalSizeAfterCommit();
  }

  async closeWriterThreadFiles(): Promise<void> {
    await this.checkpointer.closeWalCheckpointerAndDatabase();
    this.count.closeFile();
    this.files.closeFileDescriptors();
  }

  /**
   * Synchronous mode of the next commit. FULL: the commit ends with an fsync of the write-ahead log, which covers all
   * earlier commits. NORMAL: only checkpoints call fsync, and a power failure can lose the last commits.
   */
  private setSynchronousMode(durable: boolean): void {
    if (durable === this.synchronous) return;
    this.database.runStatement(`PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'}`);
    this.synchronous = this.database.readFirstValueOfQuery('PRAGMA synchronous') === 2;
  }

  /** Undoes only the operation that caused the error. An engine failure ends the whole batch. */
  private readonly performInSavepoint = (operation: StorageOperation): OperationOutcome => {
    this.database.runStatement('SAVEPOINT operation');
    try {
      return this.executeSqliteStorageOperation(operation);
    } catch (error) {
      if (classifySqliteWriteError(error) !== 'failed' || !this.database.inTransaction) throw error;
      this.database.runStatement('ROLLBACK TO operation');
      this.reloadCachedState();
      return { kind: 'refused', message: getErrorMessage(error) };
    } finally {
      if (this.database.inTransaction) this.database.runStatement('RELEASE operation');
    }
  };

  /** Call it after a rollback: reloads cached state from the file. */
  private reloadCachedState(): void {
    this.appends.reloadLastEventPosition();
    this.documents.reloadDocumentCollections();
  }

  private executeSqliteStorageOperation(operation: StorageOperation): OperationOutcome {
    switch (operation.kind) {
      case 'append':
        return this.appends.appendEvents(operation);
      case 'write':
        return this.documents.runDocumentWrites(operation);
      case 'claim':
        return this.documents.claimFirstMatchingDocument(operation);
      case 'define':
        return this.documents.createOrRebuildCollection(operation.spec);
      case 'drop':
        return this.documents.dropCollection(operation.collection);
      case 'publish':
      case 'topics':
      case 'commit':
      case 'trim':
        return this.messages.executeMessageStorageOperation(operation);
    }
  }
}

function classifySqliteWriteError(error: unknown): 'failed' | 'out_of_space' | 'fatal' {
  if (isDiskFullError(error)) return 'out_of_space';
  return isFatalDatabaseError(error) ? 'fatal' : 'failed';
}

function classifyOpeningError(error: unknown): 'newer_schema' | 'damaged' | 'failed' {
  if (error instanceof NewerSchemaError) return 'newer_schema';
  return error instanceof DamagedStorageError ? 'damaged' : 'failed';
}

const mainThreadPort = parentPort;
function runSqliteWriterInWorkerThread(): void {
  const { file, checkpointBytes } = workerData as { readonly file: string; readonly checkpointBytes: number };
  try {
    checkStorageFile(file);
    const { database, incarnation } = openDatabaseForWriting(file, checkpointBytes);
    const thread = new WriterThread(database, file, checkpointBytes);
    mainThreadPort?.on('message', (batch: StorageOperationBatch | null) => {
      if (batch === null) return void thread.closeWriterThreadFiles().then(() => mainThreadPort.close());
      mainThreadPort.postMessage(thread.commitBatch(batch));
      thread.checkpointLogIfNeeded();
    });
    mainThreadPort?.postMessage({ kind: 'ready', head: thread.head, incarnation } satisfies WriterStart);
  } catch (error) {
    mainThreadPort?.postMessage({
      kind: classifyOpeningError(error),
      message: getErrorMessage(error),
    } satisfies WriterStart);
  }
}
runSqliteWriterInWorkerThread();

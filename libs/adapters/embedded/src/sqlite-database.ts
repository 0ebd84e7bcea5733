import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Sql, SqlValue } from './storage-protocol.ts';

/** Of the tables below. Files of a later version are refused. */
export const SCHEMA_VERSION = 1;
/** SQLite's own default. */
const PAGE_BYTES = 4_096;
/** Marks the file as ours (`file` and `PRAGMA application_id` show it): "frtk". */
const APPLICATION_ID = 0x6672746b;
/** SQLite result codes (https://sqlite.org/rescode.html). */
const SQLITE_CONSTRAINT = 19;
const SQLITE_CORRUPT = 11;
const SQLITE_IOERR = 10;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;
/** Extended ones, of SQLITE_IOERR: nothing was taken, neither by the log nor by what is shared about it. */
const SQLITE_IOERR_WRITE = 778;
const SQLITE_IOERR_SHMSIZE = 4_874;

/** Not the value alone: SQLite plans with that, and so prepares the statement anew whenever it is bound. */
export const LIMIT = 'LIMIT (? + 0)';

export class NewerSchema extends Error {
  override readonly name = 'NewerSchema';
}

/**
 * The only connection that writes, to a file that was found sound. Makes the tables, and counts the start.
 * @param logBytes how much of the log is put into the file at once
 */
export function openForWriting(file: string, logBytes: number): { database: Database; incarnation: number } {
  const database = new Database(new DatabaseSync(file, { timeout: 5_000 }));
  if (database.value('PRAGMA journal_mode = WAL') !== 'wal') throw new Error('its file system cannot share memory');
  database.run('PRAGMA synchronous = FULL');
  database.run('PRAGMA cache_size = -32000');
  // Where `SqliteLog` does it, never.
  const atBytes = canBePutBeside(database) ? 2 * longestLog(logBytes) : logBytes;
  database.run(`PRAGMA wal_autocheckpoint = ${Math.ceil(atBytes / PAGE_BYTES)}`);
  database.run(`PRAGMA journal_size_limit = ${longestLog(logBytes)}`);
  if (Number(database.value('PRAGMA user_version')) < SCHEMA_VERSION) createSchema(database);
  countCommits(database);
  database.run('UPDATE engine SET incarnation = incarnation + 1');
  return { database, incarnation: Number(database.value('SELECT incarnation FROM engine')) };
}

/**
 * Whether another connection may put the log into the file while one writes: before 3.51.3 that could, very rarely,
 * corrupt it (https://sqlite.org/wal.html#walresetbug).
 */
export function canBePutBeside(database: Database): boolean {
  const [major = 0, minor = 0, patch = 0] = String(database.value('SELECT sqlite_version()')).split('.').map(Number);
  return major * 1_000_000 + minor * 1_000 + patch >= 3_051_003;
}

/** How long the log becomes while it is put into the file over and over, before it begins anew. */
export function longestLog(logBytes: number): number {
  return 4 * logBytes;
}

/** A connection that cannot write. Sees everything committed before each of its statements. */
export function openForReading(file: string): Database {
  const database = new Database(new DatabaseSync(file, { readOnly: true, timeout: 5_000 }));
  database.run('PRAGMA cache_size = -16000');
  return database;
}

function createSchema(database: Database): void {
  database.run('BEGIN IMMEDIATE');
  for (const statement of [
    `CREATE TABLE events (position INTEGER PRIMARY KEY, stream TEXT NOT NULL, revision INTEGER NOT NULL,
       id TEXT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL, metadata TEXT NOT NULL)`,
    'CREATE UNIQUE INDEX events_by_stream ON events (stream, revision)',
    'CREATE TABLE collections (name TEXT PRIMARY KEY, spec TEXT NOT NULL) WITHOUT ROWID',
    'CREATE TABLE topics (name TEXT PRIMARY KEY, partitions INTEGER NOT NULL, retention_ms INTEGER NOT NULL) WITHOUT ROWID',
    `CREATE TABLE messages (position INTEGER PRIMARY KEY, topic TEXT NOT NULL, partition INTEGER NOT NULL,
       at INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, headers TEXT NOT NULL)`,
    'CREATE INDEX messages_by_partition ON messages (topic, partition, position)',
    'CREATE TABLE message_sequence (position INTEGER NOT NULL)',
    'INSERT INTO message_sequence VALUES (0)',
    `CREATE TABLE offsets (consumer_group TEXT NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL,
       position INTEGER NOT NULL, PRIMARY KEY (consumer_group, topic, partition)) WITHOUT ROWID`,
    'CREATE TABLE engine (incarnation INTEGER NOT NULL)',
    'INSERT INTO engine VALUES (0)',
    `PRAGMA application_id = ${APPLICATION_ID}`,
    `PRAGMA user_version = ${SCHEMA_VERSION}`,
  ]) {
    database.run(statement);
  }
  database.run('COMMIT');
}

/** In a file that has not got that yet. */
function countCommits(database: Database): void {
  database.run('CREATE TABLE IF NOT EXISTS commits (number INTEGER NOT NULL)');
  database.run('INSERT INTO commits SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM commits)');
}

/** A connection with its prepared statements. */
export class Database {
  private readonly connection: DatabaseSync;
  private readonly statements = new Map<string, StatementSync>();

  constructor(connection: DatabaseSync) {
    this.connection = connection;
  }

  get inTransaction(): boolean {
    return this.connection.isTransaction;
  }

  /** The prepared form of a statement; the text is its key, so values never stand in it. */
  prepare(text: string): StatementSync {
    let statement = this.statements.get(text);
    if (statement === undefined) {
      statement = this.connection.prepare(text);
      statement.setReturnArrays(true);
      // Texts are few, but lists in filters make new ones: forget the oldest.
      if (this.statements.size >= 500) this.statements.delete(this.statements.keys().next().value ?? '');
      this.statements.set(text, statement);
    }
    return statement;
  }

  /** How many rows it changed. */
  run(text: string, values: readonly SqlValue[] = []): number {
    return Number(this.prepare(text).run(...values).changes);
  }

  /** The first column of the first row; undefined without a row. */
  value(text: string, values: readonly SqlValue[] = []): SqlValue | undefined {
    return this.row(text, values)?.[0];
  }

  row(text: string, values: readonly SqlValue[] = []): readonly SqlValue[] | undefined {
    return this.prepare(text).get(...values) as readonly SqlValue[] | undefined;
  }

  rows(text: string, values: readonly SqlValue[] = []): readonly (readonly SqlValue[])[] {
    return this.prepare(text).all(...values) as unknown as readonly (readonly SqlValue[])[];
  }

  /** Rows one by one, where one may stop early. */
  each(text: string, values: readonly SqlValue[] = []): Iterable<readonly SqlValue[]> {
    return this.prepare(text).iterate(...values) as unknown as Iterable<readonly SqlValue[]>;
  }

  /** The first column of all rows, each of which is JSON, as one JSON array. */
  jsonArray(sql: Sql): string {
    return `[${this.rows(sql.text, sql.values)
      .map(([json]) => json)
      .join(',')}]`;
  }

  close(): void {
    this.statements.clear();
    if (this.connection.isOpen) this.connection.close();
  }
}

/** SQLite's extended result code; undefined for other errors. */
function extendedCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === 'number' ? code : undefined;
}

/** SQLite's primary result code; undefined for other errors. */
function resultCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return code === undefined ? undefined : code & 0xff;
}

/** A unique index said no. */
export function isConstraint(error: unknown): boolean {
  return resultCode(error) === SQLITE_CONSTRAINT;
}

/**
 * The disk took no more, or a quota allowed none. Nothing of the transaction is there, and all before it is: once there
 * is room again, writing goes on.
 */
export function isOutOfSpace(error: unknown): boolean {
  const code = extendedCode(error);
  return code === SQLITE_FULL || code === SQLITE_IOERR_WRITE || code === SQLITE_IOERR_SHMSIZE;
}

/** What the file holds is not what SQLite wrote. */
export function isMalformed(error: unknown): boolean {
  return resultCode(error) === SQLITE_CORRUPT;
}

/** The file does not begin as one of SQLite's does. */
export function isNoDatabase(error: unknown): boolean {
  return resultCode(error) === SQLITE_NOTADB;
}

/**
 * The file can no longer be relied on. After a failed fsync the operating system may have forgotten what it could not
 * write, so that a later fsync succeeds without it: nothing may be acknowledged any more by this process.
 */
export function isFatal(error: unknown): boolean {
  const code = resultCode(error);
  return (code === SQLITE_IOERR && !isOutOfSpace(error)) || isMalformed(error) || isNoDatabase(error);
}

/** Of the log, in bytes. */
export interface LogState {
  readonly total: number;
  /** Of that, what is not in the file yet. */
  readonly left: number;
  /** Why the file can no longer be relied on, if so. Other troubles, such as a full disk, show at the next commit as well. */
  readonly failure: string | null;
}

/**
 * How the log is after nothing was done about it, or what can be done beside all others
 * (https://sqlite.org/pragma.html#pragma_wal_checkpoint).
 */
export function logAfter(database: Database, mode: 'NOOP' | 'PASSIVE'): LogState {
  try {
    const [, pages, inFile] = database.row(`PRAGMA wal_checkpoint(${mode})`) ?? [];
    const total = Number(pages) * PAGE_BYTES;
    return { total, left: total - Number(inFile) * PAGE_BYTES, failure: null };
  } catch (error) {
    return { total: 0, left: 0, failure: isFatal(error) ? messageOf(error) : null };
  }
}

export function messageOf(error: unknown): string {
  const message = (error as { message?: unknown }).message?.toString() ?? String(error);
  return isOutOfSpace(error) ? `no room on the disk (${message})` : message;
}

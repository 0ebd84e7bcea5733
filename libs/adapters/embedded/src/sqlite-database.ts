import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import type { SqlValue } from './storage-threads.ts';

/** SQLite's own default. */
export const PAGE_BYTES = 4_096;
const MAX_STATEMENTS = 500;
/**
 * A bound limit. SQLite looks at the value of a plain `LIMIT ?` when it plans, and so would plan again at each binding; at an
 * expression it does not look.
 */
export const LIMIT = 'LIMIT (? + 0)';
/** SQLite's result codes (https://sqlite.org/rescode.html). */
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CONSTRAINT = 19;
const SQLITE_NOTADB = 26;
/** Extended codes of SQLITE_IOERR for a write that did not happen: to the write-ahead log, or to its index (`-shm`). */
const SQLITE_IOERR_WRITE = 778;
const SQLITE_IOERR_SHMSIZE = 4_874;

/**
 * A connection that cannot write. Sees everything committed before each of its statements. Its cache holds the upper levels
 * of trees; the rest is in the system's, from where a page comes as fast as it matters (ADR 0028).
 */
export function openForReading(file: string): Database {
  const database = new Database(new DatabaseSync(file, { readOnly: true, timeout: 5_000 }));
  database.run('PRAGMA cache_size = -4000');
  return database;
}

/** A connection with a cache of its prepared statements. */
export class Database {
  private readonly connection: DatabaseSync;
  /** By their text: they are few, but the lists in filters make new ones. */
  private readonly statements = new LRUCache<string, StatementSync>({ max: MAX_STATEMENTS });

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

/** A unique index refused the row. */
export function isConstraint(error: unknown): boolean {
  return resultCode(error) === SQLITE_CONSTRAINT;
}

/**
 * The disk is full, or a quota is used up. The transaction left nothing, and all before it is safe: once there is room
 * again, writing goes on.
 */
export function isOutOfSpace(error: unknown): boolean {
  const code = extendedCode(error);
  return code === SQLITE_FULL || code === SQLITE_IOERR_WRITE || code === SQLITE_IOERR_SHMSIZE;
}

/** The file does not contain what SQLite wrote. */
export function isMalformed(error: unknown): boolean {
  return resultCode(error) === SQLITE_CORRUPT;
}

/** The file does not begin as one of SQLite's does. */
export function isNoDatabase(error: unknown): boolean {
  return resultCode(error) === SQLITE_NOTADB;
}

/**
 * The file can no longer be relied on. After a failed fsync the operating system may have forgotten what it could not
 * write, so that a later fsync succeeds without it: this process must not acknowledge anything any more.
 */
export function isFatal(error: unknown): boolean {
  return (resultCode(error) === SQLITE_IOERR && !isOutOfSpace(error)) || isMalformed(error) || isNoDatabase(error);
}

export function messageOf(error: unknown): string {
  const message = (error as { message?: unknown }).message?.toString() ?? String(error);
  return isOutOfSpace(error) ? `no room on the disk (${message})` : message;
}

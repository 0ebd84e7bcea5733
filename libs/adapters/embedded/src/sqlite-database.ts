import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import type { SqlValue } from './storage-threads.ts';

/** SQLite's default page size. */
export const SQLITE_PAGE_BYTES = 4_096;
const MAX_CACHED_STATEMENTS = 500;
/**
 * Limit clause with a parameter. SQLite plans a plain `LIMIT ?` for its value and plans again for each value; it does
 * not evaluate the expression while planning.
 */
export const LIMIT_CLAUSE_SQL = 'LIMIT (? + 0)';
/** SQLite's result codes (https://sqlite.org/rescode.html). */
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CONSTRAINT = 19;
const SQLITE_NOTADB = 26;
/** Extended codes of SQLITE_IOERR for writes that had no effect: to the write-ahead log or its index (`-shm`). */
const SQLITE_IOERR_WRITE = 778;
const SQLITE_IOERR_SHMSIZE = 4_874;

/**
 * Opens a read-only connection. It sees everything committed before each statement. Its small cache holds the upper
 * levels of trees; other pages come from the system's cache (ADR 0028).
 */
export function openDatabaseForReading(file: string): SqliteConnection {
  const database = new SqliteConnection(new DatabaseSync(file, { readOnly: true, timeout: 5_000 }));
  database.runStatement('PRAGMA cache_size = -4000');
  return database;
}

/** Connection with a cache of prepared statements. */
export class SqliteConnection {
  private readonly connection: DatabaseSync;
  /** Prepared statements by text. The cache is bounded, because lists in filters create new texts. */
  private readonly statements = new LRUCache<string, StatementSync>({ max: MAX_CACHED_STATEMENTS });

  constructor(connection: DatabaseSync) {
    this.connection = connection;
  }

  get inTransaction(): boolean {
    return this.connection.isTransaction;
  }

  /** Returns a prepared statement. The text is the cache key, so it must never contain values. */
  prepareStatement(text: string): StatementSync {
    let statement = this.statements.get(text);
    if (statement === undefined) {
      statement = this.connection.prepare(text);
      statement.setReturnArrays(true);
      this.statements.set(text, statement);
    }
    return statement;
  }

  /** Runs a statement and returns the number of changed rows. */
  runStatement(text: string, values: readonly SqlValue[] = []): number {
    return Number(this.prepareStatement(text).run(...values).changes);
  }

  /** Returns the first column of the first row; undefined without a row. */
  readFirstValueOfQuery(text: string, values: readonly SqlValue[] = []): SqlValue | undefined {
    return this.readRow(text, values)?.[0];
  }

  readRow(text: string, values: readonly SqlValue[] = []): readonly SqlValue[] | undefined {
    return this.prepareStatement(text).get(...values) as readonly SqlValue[] | undefined;
  }

  readRows(text: string, values: readonly SqlValue[] = []): readonly (readonly SqlValue[])[] {
    return this.prepareStatement(text).all(...values) as unknown as readonly (readonly SqlValue[])[];
  }

  /** Iterates over rows. The caller can stop early. */
  iterateSqlQueryRows(text: string, values: readonly SqlValue[] = []): Iterable<readonly SqlValue[]> {
    return this.prepareStatement(text).iterate(...values) as unknown as Iterable<readonly SqlValue[]>;
  }

  closeDatabase(): void {
    this.statements.clear();
    if (this.connection.isOpen) this.connection.close();
  }
}

/** Returns SQLite's extended result code; undefined for other errors. */
function getExtendedErrorCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === 'number' ? code : undefined;
}

/** Returns SQLite's primary result code; undefined for other errors. */
function getPrimarySqliteErrorCode(error: unknown): number | undefined {
  const code = getExtendedErrorCode(error);
  return code === undefined ? undefined : code & 0xff;
}

/** Returns true if a constraint, such as a unique index, refused the row. */
export function isConstraintError(error: unknown): boolean {
  return getPrimarySqliteErrorCode(error) === SQLITE_CONSTRAINT;
}

/**
 * Returns true if the disk or a quota is full. The transaction had no effect and earlier data is safe. Writing
 * continues when space is available.
 */
export function isDiskFullError(error: unknown): boolean {
  const code = getExtendedErrorCode(error);
  return code === SQLITE_FULL || code === SQLITE_IOERR_WRITE || code === SQLITE_IOERR_SHMSIZE;
}

/** Returns true if the file does not contain what SQLite wrote. */
export function isCorruptDatabaseError(error: unknown): boolean {
  return getPrimarySqliteErrorCode(error) === SQLITE_CORRUPT;
}

/** Returns true if the error means that the file does not start with SQLite's header. */
export function isNotSqliteFileError(error: unknown): boolean {
  return getPrimarySqliteErrorCode(error) === SQLITE_NOTADB;
}

/**
 * Returns true if the file is no longer reliable. After a failed fsync the operating system may have dropped unwritten
 * data, so that a later fsync succeeds without it: this process must not acknowledge any further write.
 */
export function isFatalDatabaseError(error: unknown): boolean {
  return (
    (getPrimarySqliteErrorCode(error) === SQLITE_IOERR && !isDiskFullError(error)) ||
    isCorruptDatabaseError(error) ||
    isNotSqliteFileError(error)
  );
}

export function getErrorMessage(error: unknown): string {
  const message = (error as { message?: unknown }).message?.toString() ?? String(error);
  return isDiskFullError(error) ? `the disk is full (${message})` : message;
}

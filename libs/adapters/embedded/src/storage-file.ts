import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  SqliteConnection,
  isCorruptDatabaseError,
  isNotSqliteFileError,
  getErrorMessage,
  openDatabaseForReading,
  SQLITE_PAGE_BYTES,
} from './sqlite-database.ts';
import { canCheckpointBesideWriter, computeMaxWalBytes } from './wal.ts';

/**
 * Maximum size in bytes of a file that is read completely at the start. Reading takes about a second per GB, more on
 * slow disks.
 */
const MAX_BYTES_OF_FULL_CHECK = 4 * 2 ** 30;
const RESTORE_ADVICE = 'Restore a backup, or a copy repaired by SQLite’s .recover';
/** Schema version of the tables below. The program refuses files of a later version. */
const SCHEMA_VERSION = 2;
/** Application id that identifies the file (`file` and `PRAGMA application_id` show it): "frtk". */
const SQLITE_APPLICATION_ID = 0x6672746b;
/** Number of digits in `commits`, constant so that each number overwrites the previous one. */
const COMMIT_COUNT_FILE_DIGITS = 16;

/** The file differs from its acknowledged content. The message names the problem and the solution. */
export class DamagedStorageError extends Error {
  override readonly name = 'DamagedStorageError';
}

/**
 * Checks that the file is usable, before anything is changed. The connection is read-only, so the write-ahead log stays
 * as it is for recovery.
 * @throws NewerSchemaError, DamagedStorageError
 */
export function checkStorageFile(file: string): void {
  const noted = readRecordedCommitCount(file);
  const walBytes = readFileSizeBytes(`${file}-wal`);
  const fileBytes = readFileSizeBytes(file);
  if (fileBytes === 0) {
    // SQLite would delete the log of an empty file.
    if (noted === 0 && walBytes === 0) return;
    const remedy = 'Restore a backup; or, to start with no data, move the folder away';
    throw new DamagedStorageError(`${basename(file)} is missing or empty although data was stored. ${remedy}`);
  }
  const database = openDatabaseForReading(file);
  try {
    checkSchemaVersion(database);
    const count = readStoredCommitCount(database);
    if (count < noted) {
      const found = `${basename(file)} and its log contain only ${count} of the ${noted} acknowledged commits`;
      const ways = `Restore a backup; or, to continue with the remaining data, keep a copy of the folder and delete ${getCommitCountPath(file)}`;
      throw new DamagedStorageError(`${found}. ${ways}`);
    }
    const wasClosed = walBytes === 0;
    if (wasClosed || fileBytes > MAX_BYTES_OF_FULL_CHECK) return;
    // If the number is missing, an operator may have deleted it to accept a loss. The log may then end early and
    // contain older pages than the file.
    checkDatabasePages(database, file, noted === 0 ? 'integrity_check' : 'quick_check');
  } catch (error) {
    // Another program may have written the file.
    const isDamage = isCorruptDatabaseError(error) || (noted > 0 && isNotSqliteFileError(error));
    if (!isDamage) throw error;
    throw new DamagedStorageError(`${basename(file)}: ${getErrorMessage(error)}. ${RESTORE_ADVICE}`);
  } finally {
    database.closeDatabase();
  }
}

function checkSchemaVersion(database: SqliteConnection): void {
  const version = Number(database.readFirstValueOfQuery('PRAGMA user_version'));
  if (version === 0 || version === SCHEMA_VERSION) return;
  if (version < SCHEMA_VERSION)
    throw new DamagedStorageError(`has schema ${version}, which was never released and cannot be read`);
  throw new NewerSchemaError(
    `was written by a later version (schema ${version}; this version supports up to ${SCHEMA_VERSION})`,
  );
}

/**
 * Checks the structure of pages and trees but not every byte (https://sqlite.org/pragma.html#pragma_quick_check). The
 * full check takes four times as long and also compares indexes with their tables.
 */
function checkDatabasePages(database: SqliteConnection, file: string, check: 'quick_check' | 'integrity_check'): void {
  const found = String(database.readFirstValueOfQuery(`PRAGMA ${check}(1)`));
  if (found === 'ok') return;
  throw new DamagedStorageError(`${basename(file)}: ${found.replace(/\s*\n\s*/g, ' ')}. ${RESTORE_ADVICE}`);
}

function readFileSizeBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';
}

/**
 * Opens the only writing connection, to a checked file. Creates the tables and counts the start.
 * @param checkpointBytes size of the write-ahead log at which a checkpoint is due
 */
export function openDatabaseForWriting(
  file: string,
  checkpointBytes: number,
): { database: SqliteConnection; incarnation: number } {
  const database = new SqliteConnection(new DatabaseSync(file, { timeout: 5_000 }));
  if (database.readFirstValueOfQuery('PRAGMA journal_mode = WAL') !== 'wal')
    throw new Error('the file system of the data folder does not support shared memory; use a local disk');
  database.runStatement('PRAGMA synchronous = FULL');
  database.runStatement('PRAGMA cache_size = -32000');
  // If a `WalCheckpointer` runs, SQLite's own checkpoint at a commit is only a fallback in case the checkpointer ended.
  const automaticBytes = canCheckpointBesideWriter(database)
    ? 2 * computeMaxWalBytes(checkpointBytes)
    : checkpointBytes;
  database.runStatement(`PRAGMA wal_autocheckpoint = ${Math.ceil(automaticBytes / SQLITE_PAGE_BYTES)}`);
  database.runStatement(`PRAGMA journal_size_limit = ${computeMaxWalBytes(checkpointBytes)}`);
  const version = Number(database.readFirstValueOfQuery('PRAGMA user_version'));
  if (version === 0) createDatabaseSchema(database);
  database.runStatement('UPDATE engine SET incarnation = incarnation + 1');
  return { database, incarnation: Number(database.readFirstValueOfQuery('SELECT incarnation FROM engine')) };
}

function createDatabaseSchema(database: SqliteConnection): void {
  database.runStatement('BEGIN IMMEDIATE');
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
    'CREATE TABLE commits (number INTEGER NOT NULL)',
    'INSERT INTO commits VALUES (0)',
    'CREATE TABLE engine (incarnation INTEGER NOT NULL)',
    'INSERT INTO engine VALUES (0)',
    `PRAGMA application_id = ${SQLITE_APPLICATION_ID}`,
    `PRAGMA user_version = ${SCHEMA_VERSION}`,
  ]) {
    database.runStatement(statement);
  }
  database.runStatement('COMMIT');
}

/**
 * Counts acknowledged commits in two places: in the database with each commit, and afterwards in the file `commits`.
 * SQLite treats the first frame of the write-ahead log with a wrong checksum as the log's end, as after a power
 * failure, and drops all later frames. Only a number stored elsewhere shows that acknowledged commits are missing. The
 * file is not synchronized: after a power failure it can be older than the database, but never ahead of it.
 */
export class AcknowledgedCommitCounter {
  private readonly database: SqliteConnection;
  private readonly descriptor: number;
  private count: number;

  constructor(database: SqliteConnection, file: string) {
    this.database = database;
    this.count = readStoredCommitCount(database);
    this.descriptor = openSync(getCommitCountPath(file), constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  /** Increments the number of commits. Call it in the transaction. */
  incrementCommitCount(): void {
    this.database.runStatement('UPDATE commits SET number = ?', [this.count + 1]);
  }

  /** Writes the number of commits to the file. Call it when the transaction is on disk, before it is acknowledged. */
  writeCommitCountToFile(): void {
    this.count += 1;
    try {
      writeSync(this.descriptor, `${String(this.count).padStart(COMMIT_COUNT_FILE_DIGITS, '0')}\n`, 0);
    } catch {
      // The older number promises less, and the next commit writes it again.
    }
  }

  closeFile(): void {
    closeSync(this.descriptor);
  }
}

/** Returns the path of the file with the number of commits, next to the database file. */
function getCommitCountPath(file: string): string {
  return join(dirname(file), 'commits');
}

/** Returns the number of commits recorded in the file; 0 if the file is missing or incomplete. */
function readRecordedCommitCount(file: string): number {
  try {
    const note = readFileSync(getCommitCountPath(file), 'latin1');
    return /^\d{16}\n$/.test(note) ? Number(note) : 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return 0;
  }
}

/** Returns the number of commits stored in the database; 0 before the tables exist. */
function readStoredCommitCount(database: SqliteConnection): number {
  const isCounted = database.readFirstValueOfQuery("SELECT 1 FROM sqlite_schema WHERE name = 'commits'") !== undefined;
  return isCounted ? Number(database.readFirstValueOfQuery('SELECT number FROM commits') ?? 0) : 0;
}

/** A file that SQLite has open. */
interface OpenFile {
  readonly path: string;
  readonly descriptor: number;
  /** Status of the file at the last check. */
  seen: Stats;
}

/**
 * Checks that the open files are still those at their paths. SQLite does not notice if a file is removed or replaced,
 * and later writes would be lost when the process ends.
 */
export class ReplacedDatabaseFileDetector {
  private readonly held: readonly OpenFile[];

  /** @param paths files that SQLite keeps open */
  constructor(paths: readonly string[]) {
    this.held = paths.map((path) => {
      const descriptor = openSync(path, 'r');
      return { path, descriptor, seen: fstatSync(descriptor) };
    });
  }

  /** Description of a removed or replaced file; null if all are present. */
  get fault(): string | null {
    const lost = this.held.find((one) => !isOpenFileStillAtItsPath(one));
    return lost === undefined ? null : `${basename(lost.path)} was removed or replaced while in use`;
  }

  /**
   * Closes the descriptors. Call it only after SQLite closed the files: closing a descriptor releases all locks of the
   * process on the file (POSIX).
   */
  closeFileDescriptors(): void {
    for (const { descriptor } of this.held) closeSync(descriptor);
  }
}

function isOpenFileStillAtItsPath(held: OpenFile): boolean {
  const named = statSync(held.path, { throwIfNoEntry: false });
  if (named === undefined) return false;
  if (isSameFile(named, held.seen)) return true;
  // Some file systems change inode numbers of files that are no longer cached.
  held.seen = fstatSync(held.descriptor);
  return isSameFile(named, held.seen);
}

function isSameFile(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

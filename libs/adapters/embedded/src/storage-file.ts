import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Database, isMalformed, isNoDatabase, messageOf, openForReading, PAGE_BYTES } from './sqlite-database.ts';
import { canCheckpointBesideWriter, longestWal } from './wal.ts';

/** A larger file is not read through at the start: that takes about a second for each GB, more where the disk is slow. */
const MAX_CHECKED_BYTES = 4 * 2 ** 30;
const RESTORE = 'Restore a backup, or a copy put right by SQLite’s .recover';
/** Version of the tables below. Files of a later version are refused. */
const SCHEMA_VERSION = 2;
/** Marks the file as ours (`file` and `PRAGMA application_id` show it): "frtk". */
const APPLICATION_ID = 0x6672746b;
/** Digits of the number in `commits`: always as many, so that each number overwrites the one before. */
const DIGITS = 16;

/** The file is not what it was when its contents were acknowledged. The message says what is wrong and what to do. */
export class DamagedStorage extends Error {
  override readonly name = 'DamagedStorage';
}

/**
 * Checks whether the file can be worked with, before anything is changed. The connection cannot write, and so leaves the
 * write-ahead log as it is for whoever tries to save something.
 * @throws NewerSchema, DamagedStorage
 */
export function checkStorage(file: string): void {
  const noted = notedCount(file);
  const walBytes = sizeOf(`${file}-wal`);
  const fileBytes = sizeOf(file);
  if (fileBytes === 0) {
    // SQLite would delete the log of an empty file.
    if (noted === 0 && walBytes === 0) return;
    const ways = 'Restore a backup; or, to begin anew, move the folder away';
    throw new DamagedStorage(`${basename(file)} is missing or empty, and was not before. ${ways}`);
  }
  const database = openForReading(file);
  try {
    checkVersion(database);
    const count = countIn(database);
    if (count < noted) {
      const found = `${basename(file)} and its log hold only ${count} of the ${noted} commits that were acknowledged`;
      const ways = `Restore a backup; or, to go on with what is left, keep a copy of the folder and delete ${notePath(file)}`;
      throw new DamagedStorage(`${found}. ${ways}`);
    }
    const wasClosed = walBytes === 0;
    if (wasClosed || fileBytes > MAX_CHECKED_BYTES) return;
    // No number: perhaps somebody deleted it to accept a loss. Then the log may end early and hold older pages than the file.
    checkPages(database, file, noted === 0 ? 'integrity_check' : 'quick_check');
  } catch (error) {
    // Perhaps it never was ours.
    const isDamage = isMalformed(error) || (noted > 0 && isNoDatabase(error));
    if (!isDamage) throw error;
    throw new DamagedStorage(`${basename(file)}: ${messageOf(error)}. ${RESTORE}`);
  } finally {
    database.close();
  }
}

function checkVersion(database: Database): void {
  const version = Number(database.value('PRAGMA user_version'));
  if (version === 0 || version === SCHEMA_VERSION) return;
  if (version < SCHEMA_VERSION) throw new DamagedStorage(`schema ${version} was never released and cannot be read`);
  throw new NewerSchema(`was written by a later version (schema ${version}, this one knows ${SCHEMA_VERSION})`);
}

/**
 * How pages and trees hang together, not every byte in them (https://sqlite.org/pragma.html#pragma_quick_check); the other
 * check takes four times as long and compares indexes with what they are of.
 */
function checkPages(database: Database, file: string, check: 'quick_check' | 'integrity_check'): void {
  const found = String(database.value(`PRAGMA ${check}(1)`));
  if (found === 'ok') return;
  throw new DamagedStorage(`${basename(file)}: ${found.replace(/\s*\n\s*/g, ' ')}. ${RESTORE}`);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

export class NewerSchema extends Error {
  override readonly name = 'NewerSchema';
}

/**
 * The only connection that writes, to a file that was found sound. Makes the tables, and counts the start.
 * @param checkpointBytes at what size of the write-ahead log a checkpoint is due
 */
export function openForWriting(file: string, checkpointBytes: number): { database: Database; incarnation: number } {
  const database = new Database(new DatabaseSync(file, { timeout: 5_000 }));
  if (database.value('PRAGMA journal_mode = WAL') !== 'wal') throw new Error('its file system cannot share memory');
  database.run('PRAGMA synchronous = FULL');
  database.run('PRAGMA cache_size = -32000');
  // Where the `WalCheckpointer` works, SQLite's own checkpoint at a commit is only for the case that it ended.
  const automaticBytes = canCheckpointBesideWriter(database) ? 2 * longestWal(checkpointBytes) : checkpointBytes;
  database.run(`PRAGMA wal_autocheckpoint = ${Math.ceil(automaticBytes / PAGE_BYTES)}`);
  database.run(`PRAGMA journal_size_limit = ${longestWal(checkpointBytes)}`);
  const version = Number(database.value('PRAGMA user_version'));
  if (version === 0) createSchema(database);
  database.run('UPDATE engine SET incarnation = incarnation + 1');
  return { database, incarnation: Number(database.value('SELECT incarnation FROM engine')) };
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
    'CREATE TABLE commits (number INTEGER NOT NULL)',
    'INSERT INTO commits VALUES (0)',
    'CREATE TABLE engine (incarnation INTEGER NOT NULL)',
    'INSERT INTO engine VALUES (0)',
    `PRAGMA application_id = ${APPLICATION_ID}`,
    `PRAGMA user_version = ${SCHEMA_VERSION}`,
  ]) {
    database.run(statement);
  }
  database.run('COMMIT');
}

/**
 * Counts the acknowledged commits in two places: in the database with each commit, and in the file `commits` after it.
 *
 * SQLite takes the first frame of the write-ahead log whose checksum is wrong for the log's end, as a power cut leaves it,
 * and drops everything behind it. Only a number kept elsewhere tells that acknowledged commits are missing. The file is not
 * synchronised: after a power cut it may be older than the database, but is never ahead of it.
 */
export class CommitCount {
  private readonly database: Database;
  private readonly descriptor: number;
  private count: number;

  constructor(database: Database, file: string) {
    this.database = database;
    this.count = countIn(database);
    this.descriptor = openSync(notePath(file), constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  /** To be called in the transaction. */
  add(): void {
    this.database.run('UPDATE commits SET number = ?', [this.count + 1]);
  }

  /** To be called when the transaction is on the disk, before anybody is told. */
  note(): void {
    this.count += 1;
    try {
      writeSync(this.descriptor, `${String(this.count).padStart(DIGITS, '0')}\n`, 0);
    } catch {
      // The older number promises less, and the next commit writes it again.
    }
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

/** The file with the number, beside the database file. */
function notePath(file: string): string {
  return join(dirname(file), 'commits');
}

/** 0 when there is no number, or only a part of one. */
function notedCount(file: string): number {
  try {
    const note = readFileSync(notePath(file), 'latin1');
    return /^\d{16}\n$/.test(note) ? Number(note) : 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return 0;
  }
}

/** 0 before the tables are made. */
function countIn(database: Database): number {
  const isCounted = database.value("SELECT 1 FROM sqlite_schema WHERE name = 'commits'") !== undefined;
  return isCounted ? Number(database.value('SELECT number FROM commits') ?? 0) : 0;
}

/** A file that SQLite has open. */
interface HeldFile {
  readonly path: string;
  readonly descriptor: number;
  /** As it was seen last. */
  seen: Stats;
}

/**
 * Checks whether the open files are still those that their names lead to. SQLite does not notice when somebody removes or
 * replaces them, and what it writes to them from then on is gone when the process ends.
 */
export class HeldFiles {
  private readonly held: readonly HeldFile[];

  /** @param paths files that SQLite has open, and keeps */
  constructor(paths: readonly string[]) {
    this.held = paths.map((path) => {
      const descriptor = openSync(path, 'r');
      return { path, descriptor, seen: fstatSync(descriptor) };
    });
  }

  /** Which of them is gone or another one; null while all are there. */
  get fault(): string | null {
    const lost = this.held.find((one) => !isThere(one));
    return lost === undefined ? null : `${basename(lost.path)} was removed or replaced while it was in use`;
  }

  /** Only when SQLite has closed them: closing a descriptor drops the locks of the whole process (POSIX). */
  close(): void {
    for (const { descriptor } of this.held) closeSync(descriptor);
  }
}

function isThere(held: HeldFile): boolean {
  const named = statSync(held.path, { throwIfNoEntry: false });
  if (named === undefined) return false;
  if (isSame(named, held.seen)) return true;
  // Some file systems number files anew when they have forgotten them.
  held.seen = fstatSync(held.descriptor);
  return isSame(named, held.seen);
}

function isSame(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

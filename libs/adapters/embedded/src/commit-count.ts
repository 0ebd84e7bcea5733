import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Database } from './sqlite-database.ts';

/** Always as many, so that each number overwrites the one before. */
const DIGITS = 16;

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
export function notePath(file: string): string {
  return join(dirname(file), 'commits');
}

/** 0 when there is no number, or only a part of one. */
export function notedCount(file: string): number {
  try {
    const note = readFileSync(notePath(file), 'latin1');
    return /^\d{16}\n$/.test(note) ? Number(note) : 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return 0;
  }
}

/** 0 in a database of an earlier version, which did not count. */
export function countIn(database: Database): number {
  const isCounted = database.value("SELECT 1 FROM sqlite_schema WHERE name = 'commits'") !== undefined;
  return isCounted ? Number(database.value('SELECT number FROM commits') ?? 0) : 0;
}

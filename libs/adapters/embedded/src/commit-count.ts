import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Database } from './sqlite-database.ts';

/** Digits of the note, so that each one is written over the one before. */
const DIGITS = 16;

/**
 * How many commits were acknowledged, in two places: in the file with each of them, and in a note beside it afterwards.
 * SQLite takes the first frame of its log whose checksum is wrong for the end that a power cut left, whatever stands
 * behind it; so only a number kept elsewhere tells that something acknowledged is missing. The note is not synchronised:
 * it may be older than the file after a power cut, but never promises what the disk did not have.
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

  /** Call it in the transaction. */
  add(): void {
    this.database.run('UPDATE commits SET number = ?', [this.count + 1]);
  }

  /** Call it when that is on the disk, before anybody is told. */
  note(): void {
    this.count += 1;
    try {
      writeSync(this.descriptor, `${String(this.count).padStart(DIGITS, '0')}\n`, 0);
    } catch {
      // The older note promises less, and the next commit writes it again.
    }
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

/** Where the number is noted that belongs to a file. */
export function notePath(file: string): string {
  return join(dirname(file), 'commits');
}

/** 0 where nothing was noted, or was not written to its end. */
export function notedCount(file: string): number {
  try {
    const note = readFileSync(notePath(file), 'latin1');
    return /^\d{16}\n$/.test(note) ? Number(note) : 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return 0;
  }
}

/** 0 in a file that was written before they were counted. */
export function countIn(database: Database): number {
  const isCounted = database.value("SELECT 1 FROM sqlite_schema WHERE name = 'commits'") !== undefined;
  return isCounted ? Number(database.value('SELECT number FROM commits') ?? 0) : 0;
}

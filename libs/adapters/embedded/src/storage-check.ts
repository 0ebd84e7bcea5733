import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { countIn, notedCount, notePath } from './commit-count.ts';
import { openForReading, type Database } from './sqlite-database.ts';
import { isMalformed, isNoDatabase, messageOf } from './sqlite-errors.ts';
import { NewerSchema, SCHEMA_VERSION } from './sqlite-schema.ts';

/** A larger file is not read through at the start: that takes about a second for each GB, more where the disk is slow. */
const MOST_BYTES_READ = 4 * 2 ** 30;

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
    if (wasClosed || fileBytes > MOST_BYTES_READ) return;
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
  if (version <= SCHEMA_VERSION) return;
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

const RESTORE = 'Restore a backup, or a copy put right by SQLite’s .recover';

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

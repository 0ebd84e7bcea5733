import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Unavailable } from '@tracking/ports';
import { messageOf } from './sqlite-database.ts';

const SQLITE_BUSY = 5;

/** Another process works on this data folder. */
export class DataFolderInUse extends Error {
  override readonly name = 'DataFolderInUse';
  constructor(readonly folder: string) {
    super(`the data folder ${folder} is in use by another process`);
  }
}

/** This version of the program is too old for what it found in the data folder. */
export class DataFolderTooNew extends Error {
  override readonly name = 'DataFolderTooNew';
  constructor(
    readonly folder: string,
    reason: string,
  ) {
    super(`the data folder ${folder} ${reason}: start that version or a later one`);
  }
}

/** The data folder holds less than was acknowledged, or cannot be read. Nothing in it was changed. */
export class DataFolderDamaged extends Error {
  override readonly name = 'DataFolderDamaged';
  constructor(
    readonly folder: string,
    reason: string,
  ) {
    super(`the data folder ${folder} is damaged: ${reason}`);
  }
}

/** A data folder that is this process's alone. */
export interface DataFolder {
  /** The file that holds everything. */
  readonly storage: string;
  unlock(): void;
}

/**
 * Makes the folder (0700) and its files (0600) where they do not exist, and locks it. The lock is the operating
 * system's: it goes with the process, however that ends.
 * @throws DataFolderInUse, Unavailable where the lock cannot be written
 */
export function lockDataFolder(folder: string): DataFolder {
  makeFolder(folder);
  const storage = join(folder, 'storage.db');
  const lockFile = join(folder, 'lock');
  createPrivate(lockFile);
  const lock = new DatabaseSync(lockFile, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    const isHeld = (error as { errcode?: number }).errcode === SQLITE_BUSY;
    throw isHeld ? new DataFolderInUse(folder) : new Unavailable('storage', messageOf(error));
  }
  createPrivate(storage);
  return { storage, unlock: () => lock.close() };
}

/**
 * With the folders above it. One by one: where a file system refuses folders as if the one above were missing, as /proc
 * does, Node's own recursion never ends.
 */
function makeFolder(folder: string): void {
  const parent = dirname(folder);
  if (!existsSync(parent)) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && statSync(folder).isDirectory()) return;
    throw error;
  }
  syncFolder(parent);
}

/** So that a new folder is still there after a power cut; SQLite does the same for the files in it. */
function syncFolder(folder: string): void {
  // Windows opens no folders.
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/**
 * SQLite makes the files beside it with the same mode. An existing file is not so much as opened: closing it again
 * would drop the locks that this process holds on it (POSIX).
 */
function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

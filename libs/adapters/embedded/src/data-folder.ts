import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UnavailableError } from '@tracking/ports';
import { getErrorMessage } from './sqlite-database.ts';

const SQLITE_BUSY = 5;

/** Another process uses this data folder. */
export class DataFolderInUseError extends Error {
  override readonly name = 'DataFolderInUse';
  constructor(readonly folder: string) {
    super(`the data folder ${folder} is in use by another process; stop that process or use another folder`);
  }
}

/** A later version of the program wrote the data folder. */
export class DataFolderTooNewError extends Error {
  override readonly name = 'DataFolderTooNew';
  constructor(
    readonly folder: string,
    reason: string,
  ) {
    super(`the data folder ${folder} ${reason}; start that version or a later one`);
  }
}

/** The data folder contains less data than was acknowledged, or is unreadable. The program did not change it. */
export class DataFolderDamagedError extends Error {
  override readonly name = 'DataFolderDamaged';
  constructor(
    readonly folder: string,
    reason: string,
  ) {
    super(`the data folder ${folder} is damaged: ${reason}`);
  }
}

/** A data folder that is locked for this process. */
export interface LockedDataFolder {
  /** Path of the database file. */
  readonly storage: string;
  unlock(): void;
}

/**
 * Creates the folder (0700) and its files (0600) if missing, and locks it. The operating system holds the lock and
 * releases it when the process ends.
 * @throws DataFolderInUseError, UnavailableError if the lock cannot be written
 */
export function lockDataFolder(folder: string): LockedDataFolder {
  createPrivateFolder(folder);
  const storage = join(folder, 'storage.db');
  const lockFile = join(folder, 'lock');
  createPrivateFile(lockFile);
  const lock = new DatabaseSync(lockFile, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    const isHeld = (error as { errcode?: number }).errcode === SQLITE_BUSY;
    throw isHeld ? new DataFolderInUseError(folder) : new UnavailableError('storage', getErrorMessage(error));
  }
  createPrivateFile(storage);
  return { storage, unlock: () => lock.close() };
}

/**
 * Creates parent folders one by one, because Node's recursive option never ends on file systems such as /proc, which
 * refuse a folder as if its parent were missing.
 */
function createPrivateFolder(folder: string): void {
  const parent = dirname(folder);
  if (!existsSync(parent)) createPrivateFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && statSync(folder).isDirectory()) return;
    throw error;
  }
  syncFolder(parent);
}

/** Synchronizes the folder, so that a new subfolder survives a power failure. SQLite does this for its files. */
function syncFolder(folder: string): void {
  // Windows cannot open folders.
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/**
 * SQLite creates its other files with the mode of the database file. An existing file is not opened, because closing it
 * would release the process's locks on it (POSIX).
 */
function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

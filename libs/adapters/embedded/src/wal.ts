import { PAGE_BYTES, type Database } from './sqlite-database.ts';
import { isFatal, messageOf } from './sqlite-errors.ts';

/** The write-ahead log (https://sqlite.org/wal.html), in bytes. */
export interface WalState {
  readonly total: number;
  /** Of that, what is not in the database file yet. */
  readonly outstanding: number;
  /** Why the file can no longer be relied on, if so. Other failures, as a full disk, show at the next commit as well. */
  readonly failure: string | null;
}

/** So little that the writer may copy it itself without a noticeable wait for others. */
const LITTLE_BYTES = 400_000;
const MAX_PASSES = 4;

/** A checkpoint copies the log into the database file. Several pass before the log starts again from its beginning. */
export function longestWal(checkpointBytes: number): number {
  return 4 * checkpointBytes;
}

/**
 * Whether one connection may checkpoint while another writes: before SQLite 3.51.3 that could, very rarely, corrupt the
 * file (https://sqlite.org/wal.html#walresetbug).
 */
export function canCheckpointBesideWriter(database: Database): boolean {
  const [major = 0, minor = 0, patch = 0] = String(database.value('SELECT sqlite_version()')).split('.').map(Number);
  return major * 1_000_000 + minor * 1_000 + patch >= 3_051_003;
}

/**
 * Checkpoints, and answers the state of the log after it (https://sqlite.org/pragma.html#pragma_wal_checkpoint).
 * @param mode `PASSIVE` copies what no reader or writer stands in the way of; `NOOP` only answers
 */
export function checkpointWal(database: Database, mode: 'NOOP' | 'PASSIVE'): WalState {
  try {
    const [, pages, checkpointed] = database.row(`PRAGMA wal_checkpoint(${mode})`) ?? [];
    const total = Number(pages) * PAGE_BYTES;
    return { total, outstanding: total - Number(checkpointed) * PAGE_BYTES, failure: null };
  } catch (error) {
    return { total: 0, outstanding: 0, failure: isFatal(error) ? messageOf(error) : null };
  }
}

/**
 * Checkpoints while the writer goes on. Once the log has its full length, further passes follow until little of it is left.
 * @param checkpoint one pass
 * @returns the state of the log after the last pass
 */
export function repeatCheckpoint(checkpoint: () => WalState, checkpointBytes: number): WalState {
  let state = checkpoint();
  for (let pass = 1; pass < MAX_PASSES && state.total >= longestWal(checkpointBytes); pass += 1) {
    if (state.failure !== null || state.outstanding <= LITTLE_BYTES) break;
    state = checkpoint();
  }
  return state;
}

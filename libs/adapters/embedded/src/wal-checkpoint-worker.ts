import { fdatasyncSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { Database } from './sqlite-database.ts';
import { messageOf } from './sqlite-errors.ts';
import { checkpointWal, longestWal, type WalState } from './wal.ts';

/** So little that the writer may copy it itself, and nobody waits long. */
const LITTLE_BYTES = 400_000;
const MOST_PASSES = 4;

export interface CheckpointTask {
  readonly file: string;
  /** Of the same file. */
  readonly descriptor: number;
  readonly checkpointBytes: number;
}

const { file, descriptor, checkpointBytes } = workerData as CheckpointTask;
const database = new Database(new DatabaseSync(file, { timeout: 5_000 }));

/**
 * One passive checkpoint. SQLite synchronises the file only where it copied the whole log; so it is done here each time,
 * and little is left to synchronise when the writer copies the rest.
 */
function checkpoint(): WalState {
  const { failure } = checkpointWal(database, 'PASSIVE');
  if (failure !== null) return { total: 0, outstanding: 0, failure };
  try {
    fdatasyncSync(descriptor);
  } catch (error) {
    return { total: 0, outstanding: 0, failure: messageOf(error) };
  }
  return checkpointWal(database, 'NOOP');
}

/** The writer goes on during a checkpoint. Once the log may grow no longer, passes follow until little of it is left. */
function checkpointUntilLittleIsLeft(): WalState {
  let state = checkpoint();
  for (let pass = 1; pass < MOST_PASSES && state.total >= longestWal(checkpointBytes); pass += 1) {
    if (state.failure !== null || state.outstanding <= LITTLE_BYTES) break;
    state = checkpoint();
  }
  return state;
}

const port = parentPort;
port?.on('message', (message: 'checkpoint' | null) => {
  if (message === 'checkpoint') return port.postMessage(checkpointUntilLittleIsLeft());
  database.close();
  port.close();
});

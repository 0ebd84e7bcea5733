import { fdatasyncSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { Database, logAfter, longestLog, messageOf, type LogState } from './sqlite-database.ts';

/** A rest that the thread which writes puts into the file itself, without anybody waiting long for it. */
const LITTLE_BYTES = 400_000;
const MOST_PASSES = 4;

const { file, descriptor, logBytes } = workerData as LogWork;
const database = new Database(new DatabaseSync(file, { timeout: 5_000 }));

/** What this thread works on; the descriptor is of the file as well. */
export interface LogWork {
  readonly file: string;
  readonly descriptor: number;
  readonly logBytes: number;
}

/** SQLite synchronises the file only where nothing was written meanwhile: then all that is left to do at the end. */
function put(): LogState {
  const { failure } = logAfter(database, 'PASSIVE');
  if (failure !== null) return { total: 0, left: 0, failure };
  try {
    fdatasyncSync(descriptor);
  } catch (error) {
    return { total: 0, left: 0, failure: messageOf(error) };
  }
  return logAfter(database, 'NOOP');
}

/**
 * Puts the log into the file, when told so by any message, beside the thread that writes. That one goes on meanwhile, so
 * each pass leaves what was written during it: once where the log may still grow, else until that is little. Answers how
 * the log is then; `null` is the end.
 */
const port = parentPort;
port?.on('message', (message: null | 'put') => {
  if (message === null) {
    database.close();
    port.close();
    return;
  }
  let state = put();
  for (let pass = 1; pass < MOST_PASSES && state.total >= longestLog(logBytes); pass += 1) {
    if (state.failure !== null || state.left <= LITTLE_BYTES) break;
    state = put();
  }
  port.postMessage(state);
});

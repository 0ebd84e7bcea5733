import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { Database, logAfter, longestLog } from './sqlite-database.ts';

/** A rest that the thread which writes puts into the file itself, without anybody waiting long for it. */
const LITTLE_BYTES = 400_000;
const MOST_PASSES = 4;

/**
 * Puts the log into the file, when told so by any message, beside the thread that writes. That one goes on meanwhile, so
 * each pass leaves what was written during it: once where the log may still grow, else until that is little. Answers how
 * the log is then; `null` is the end.
 */
const port = parentPort;
const { file, logBytes } = workerData as { readonly file: string; readonly logBytes: number };
const database = new Database(new DatabaseSync(file, { timeout: 5_000 }));
port?.on('message', (message: null | 'put') => {
  if (message === null) {
    database.close();
    port.close();
    return;
  }
  let state = logAfter(database, 'PASSIVE');
  for (let pass = 1; pass < MOST_PASSES && state.total >= longestLog(logBytes); pass += 1) {
    if (state.left <= LITTLE_BYTES) break;
    state = logAfter(database, 'PASSIVE');
  }
  port.postMessage(state);
});

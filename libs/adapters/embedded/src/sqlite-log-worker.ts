import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { Database, logAfter } from './sqlite-database.ts';

/** A rest that the thread which writes puts into the file itself without anybody waiting long for it. */
const LITTLE_BYTES = 400_000;
const MOST_PASSES = 4;

/**
 * Puts the log into the file, when told so by any message, beside the thread that writes. That one goes on meanwhile, so
 * each pass leaves what was written during it, which is less each time. Answers why nothing can be relied on any more,
 * or null; `null` is the end.
 */
const port = parentPort;
const database = new Database(new DatabaseSync((workerData as { readonly file: string }).file, { timeout: 5_000 }));
port?.on('message', (message: null | 'put') => {
  if (message === null) {
    database.close();
    port.close();
    return;
  }
  let [bytes, failure]: [number, string | null] = [Infinity, null];
  for (let pass = 0; pass < MOST_PASSES && bytes > LITTLE_BYTES && failure === null; pass += 1) {
    ({ bytes, failure } = logAfter(database, 'PASSIVE'));
  }
  port.postMessage(failure);
});

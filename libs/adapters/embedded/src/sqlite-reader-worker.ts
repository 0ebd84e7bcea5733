import { parentPort, workerData } from 'node:worker_threads';
import { openForReading } from './sqlite-database.ts';
import { answerRead } from './sqlite-reads.ts';
import type { ReadRequest } from './storage-threads.ts';

const port = parentPort;
const database = openForReading((workerData as { readonly file: string }).file);
port?.on('message', (request: ReadRequest | null) => {
  if (request === null) {
    database.close();
    port.close();
    return;
  }
  try {
    port.postMessage({ answer: answerRead(database, request) });
  } catch (error) {
    port.postMessage({ error: (error as Error).message });
  }
});

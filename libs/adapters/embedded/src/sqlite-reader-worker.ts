import { parentPort, workerData } from 'node:worker_threads';
import { openDatabaseForReading } from './sqlite-database.ts';
import { performReadRequest } from './sqlite-reads.ts';
import type { ReadRequest } from './storage-threads.ts';

const mainThreadPort = parentPort;
const readerDatabase = openDatabaseForReading((workerData as { readonly file: string }).file);
mainThreadPort?.on('message', (request: ReadRequest | null) => {
  if (request === null) {
    readerDatabase.closeDatabase();
    mainThreadPort.close();
    return;
  }
  try {
    mainThreadPort.postMessage({ answer: performReadRequest(readerDatabase, request) });
  } catch (error) {
    mainThreadPort.postMessage({ error: (error as Error).message });
  }
});

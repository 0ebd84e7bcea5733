import { parentPort, workerData } from 'node:worker_threads';
import { openForReading } from './sqlite-database.ts';
import { answerRead } from './sqlite-reads.ts';
import type { ReadRequest } from './storage-threads.ts';

const mainThreadPort = parentPort;
const readerDatabase = openForReading((workerData as { readonly file: string }).file);
mainThreadPort?.on('message', (request: ReadRequest | null) => {
  if (request === null) {
    readerDatabase.close();
    mainThreadPort.close();
    return;
  }
  try {
    mainThreadPort.postMessage({ answer: answerRead(readerDatabase, request) });
  } catch (error) {
    mainThreadPort.postMessage({ error: (error as Error).message });
  }
});

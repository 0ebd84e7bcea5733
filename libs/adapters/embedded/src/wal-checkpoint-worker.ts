import { fdatasyncSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { SqliteConnection, getErrorMessage } from './sqlite-database.ts';
import { checkpointWal, repeatCheckpointUntilSmall, type WalCheckpointerParameters, type WalState } from './wal.ts';

const { file, descriptor, checkpointBytes } = workerData as WalCheckpointerParameters;
const walCheckpointConnection = new SqliteConnection(new DatabaseSync(file, { timeout: 5_000 }));

/**
 * Runs one passive checkpoint. SQLite synchronizes the file only if the whole log was copied; this thread does it each
 * time, so that little is left to synchronize when the writer copies the rest.
 */
function runWalCheckpoint(): WalState {
  const { failure } = checkpointWal(walCheckpointConnection, 'PASSIVE');
  if (failure !== null) return { total: 0, outstanding: 0, failure };
  try {
    fdatasyncSync(descriptor);
  } catch (error) {
    return { total: 0, outstanding: 0, failure: getErrorMessage(error) };
  }
  return checkpointWal(walCheckpointConnection, 'NOOP');
}

const mainThreadPort = parentPort;
mainThreadPort?.on('message', (message: 'checkpoint' | null) => {
  if (message === 'checkpoint')
    return mainThreadPort.postMessage(repeatCheckpointUntilSmall(runWalCheckpoint, checkpointBytes));
  walCheckpointConnection.closeDatabase();
  mainThreadPort.close();
});

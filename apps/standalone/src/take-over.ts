import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { getSocketPath } from '@tracking/contracts';
import { DataFolderInUseError } from '@tracking/embedded';

/** Longer than a process needs to stop after its requests in progress. */
const TAKE_OVER_TIMEOUT_MS = 25_000;
const TAKE_OVER_POLL_INTERVAL_MS = 50;
const REQUEST_TIMEOUT_MS = 5_000;

/**
 * Opens a data folder. If a process of the command line uses the folder, asks that process to end, and opens the folder
 * afterwards.
 * @throws DataFolderInUseError if a server uses the folder, or the process does not end in time; errors of `open`
 */
export async function takeOverDataFolder<T>(dataDir: string, open: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + TAKE_OVER_TIMEOUT_MS; ; await pause(TAKE_OVER_POLL_INTERVAL_MS)) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof DataFolderInUseError)) throw error;
      if (performance.now() > deadline || (await endProcessOfDataFolder(dataDir))) throw error;
    }
  }
}

/**
 * Asks the process that uses the data folder to end. Returns true if the process is a server: a server does not have
 * this route. Returns false also if the process is starting or stopping, so that it does not respond or responds 503.
 */
async function endProcessOfDataFolder(dataDir: string): Promise<boolean> {
  const call = request({
    socketPath: getSocketPath(resolve(dataDir), tmpdir()),
    method: 'POST',
    path: '/administration/release',
    agent: false,
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  try {
    const [response] = (await once(call.end(), 'response')) as [IncomingMessage];
    response.on('error', () => undefined).resume();
    return response.statusCode === 404;
  } catch {
    return false;
  }
}

import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { jest } from '@jest/globals';
import { UnavailableError } from '@tracking/ports';
import { noMetrics, silentLogger, createTempFolder, type TempFolder } from '@tracking/testing';
import { SqliteWriter } from './sqlite-writer.ts';

describe('a writer', () => {
  let folder: TempFolder;
  beforeEach(async () => void (folder = await createTempFolder()));
  afterEach(async () => {
    jest.restoreAllMocks();
    jest.useRealTimers();
    await folder.remove();
  });

  it('refuses waiting writes when its thread ends, and leaves no timer', async () => {
    const options = { maxWaiting: 10, checkpointBytes: 1_000, logger: silentLogger, metrics: noMetrics };
    const writer = await SqliteWriter.openSqliteWriter(join(folder.path, 'storage.db'), options);
    jest.useFakeTimers({
      doNotFake: ['Date', 'performance', 'setImmediate', 'setInterval', 'nextTick', 'queueMicrotask'],
    });
    const started = jest.spyOn(globalThis, 'setTimeout');
    const cleared = jest.spyOn(globalThis, 'clearTimeout');
    const waiting = writer.addOperationToBatch({ kind: 'drop', collection: 'things' }, 1, 'later', () => undefined);
    const timer: unknown = started.mock.results[0]?.value;
    expect(timer).toBeDefined();
    const { worker } = writer as unknown as { readonly worker: Worker };
    const refused = expect(waiting).rejects.toBeInstanceOf(UnavailableError);
    await worker.terminate();
    await refused;
    expect(cleared).toHaveBeenCalledWith(timer);
  });
});

import { join } from 'node:path';
import { UnavailableError } from '@tracking/ports';
import { noMetrics, createTempFolder, type TempFolder } from '@tracking/testing';
import { SqliteReaderPool } from './sqlite-reader-pool.ts';
import { openDatabaseForWriting } from './storage-file.ts';

describe('a pool of readers', () => {
  let folder: TempFolder;
  beforeEach(async () => void (folder = await createTempFolder()));
  afterEach(() => folder.remove());

  it('reports why a thread failed, and replaces it at the next request', async () => {
    const file = join(folder.path, 'storage.db');
    const pool = new SqliteReaderPool(file, { threads: 1, maxWaiting: 10 }, noMetrics);
    const read = () => pool.runReadInThread({ kind: 'events', after: 0, prefixes: [], limit: 1 });
    const failure = await read().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnavailableError);
    expect((failure as Error).message).toContain('unable to open database file');
    const { database } = openDatabaseForWriting(file, 1_000);
    await expect(read()).resolves.toMatchObject({ json: [] });
    await pool.close();
    database.closeDatabase();
  });
});

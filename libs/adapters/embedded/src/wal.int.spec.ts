import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { eventually, createTempFolder, type TempFolder } from '@tracking/testing';
import { openDatabaseForWriting } from './storage-file.ts';
import { WalCheckpointer } from './wal.ts';

describe('the checkpointer beside the writer', () => {
  let folder: TempFolder;
  beforeEach(async () => void (folder = await createTempFolder()));
  afterEach(() => folder.remove());

  it('closes even if its thread ended long before', async () => {
    const file = join(folder.path, 'storage.db');
    const { database } = openDatabaseForWriting(file, 1_000);
    const log = new WalCheckpointer(database, file, 1_000);
    const thread = () => (log as unknown as { worker: Worker | undefined }).worker;
    database.runStatement('CREATE TABLE things (name TEXT)');
    for (let n = 0; thread() === undefined; n += 1) {
      database.runStatement('INSERT INTO things VALUES (?)', [`thing ${n}`]);
      log.checkWalSizeAfterCommit();
    }
    await thread()?.terminate();
    await eventually(() => expect(log.isAlive).toBe(false));
    await log.closeWalCheckpointerAndDatabase();
  });
});

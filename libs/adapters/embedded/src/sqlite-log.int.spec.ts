import { join } from 'node:path';
import { eventually, tempFolder, type TempFolder } from '@tracking/testing';
import { openForWriting } from './sqlite-database.ts';
import { SqliteLog } from './sqlite-log.ts';

describe('the log beside the one who writes', () => {
  let folder: TempFolder;
  beforeEach(async () => void (folder = await tempFolder()));
  afterEach(() => folder.remove());

  it('is closed also when its thread ended long before', async () => {
    const { database } = openForWriting(join(folder.path, 'storage.db'), 1_000);
    const log = new SqliteLog(database, join(folder.path, 'no-such-folder', 'storage.db'), 1_000);
    await eventually(() => expect(log.isAlive).toBe(false));
    await log.close();
    database.close();
  });
});

import { readFileSync, statSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createSampleNewEvents, noMetrics, silentLogger, createTempFolder, type TempFolder } from '@tracking/testing';
import { runScriptInChildProcess } from '../test/child.ts';
import { DataFolderInUseError, DataFolderTooNewError, EmbeddedSqliteEngine } from './index.ts';

describe('the data folder', () => {
  let folder: TempFolder;
  let dataDir: string;
  beforeEach(async () => {
    folder = await createTempFolder();
    dataDir = join(folder.path, 'some', 'data');
  });
  afterEach(() => folder.remove());

  const open = () => EmbeddedSqliteEngine.openEmbeddedEngine({ dataDir, logger: silentLogger, metrics: noMetrics });

  it('belongs to one process at a time', async () => {
    const engine = await open();
    const refused = runScriptInChildProcess('./opening-child.ts', [dataDir]);
    await refused.ended;
    expect([...refused.errors, ...refused.lines]).toEqual([
      `DataFolderInUse: the data folder ${dataDir} is in use by another process; stop that process or use another folder`,
    ]);
    await expect(open()).rejects.toBeInstanceOf(DataFolderInUseError);
    // The refused attempts did not disturb the process that has the folder.
    const again = runScriptInChildProcess('./opening-child.ts', [dataDir]);
    await again.ended;
    expect(again.lines[0]).toMatch(/^DataFolderInUse/);
    await engine.eventStore.append('s', 'no_stream', createSampleNewEvents(1));
    await engine.closeEngine();
    const next = runScriptInChildProcess('./opening-child.ts', [dataDir]);
    await next.ended;
    expect([...next.errors, ...next.lines]).toEqual(['opened']);
  }, 60_000);

  it('is readable only by its owner', async () => {
    const engine = await open();
    await engine.eventStore.append('s', 'no_stream', createSampleNewEvents(1));
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect(mode(dataDir)).toBe('700');
    const files = readdirSync(dataDir);
    expect(files).toEqual(expect.arrayContaining(['lock', 'storage.db', 'storage.db-shm', 'storage.db-wal']));
    for (const file of files) expect(`${file} ${mode(join(dataDir, file))}`).toBe(`${file} 600`);
    await engine.closeEngine();
  });

  it('is refused and not changed if a later version wrote it', async () => {
    await (await open()).closeEngine();
    const file = join(dataDir, 'storage.db');
    const later = new DatabaseSync(file);
    later.exec('PRAGMA user_version = 99');
    later.close();
    const before = readFileSync(file);
    const refusal = await open().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(DataFolderTooNewError);
    expect(String(refusal)).toMatch(
      /^DataFolderTooNew: the data folder .*data was written by a later version \(schema 99;/,
    );
    expect(readFileSync(file).equals(before)).toBe(true);
    // The folder is not left locked.
    await expect(open()).rejects.toBeInstanceOf(DataFolderTooNewError);
  });
});

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FileObjectStore } from '@tracking/embedded';
import { openTestEngine } from '@tracking/embedded/testing';
import { eventually, noMetrics, silentLogger, createTempFolder } from '@tracking/testing';
import { OrphanSweep } from './index.ts';

const NODE = ['--experimental-transform-types', '--conditions=@tracking/source', '--no-warnings'];
const SCRIPT = fileURLToPath(new URL('../test/storing-process.ts', import.meta.url));
const DAY_MS = 86_400_000;

async function hashOf(store: FileObjectStore, id: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of (await store.getObject(id))?.bytes ?? []) hash.update(bytes);
  return hash.digest('hex');
}

describe('a process that is killed while it stores documents', () => {
  it('leaves referenced documents complete, and others for the sweep', async () => {
    const folder = await createTempFolder();
    const [objects, file] = [join(folder.path, 'objects'), join(folder.path, 'named')];
    await writeFile(file, '');
    const child = spawn(process.execPath, [...NODE, SCRIPT, objects, file], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    const named = async () => {
      const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
      return new Map(lines.map((line) => line.split(' ') as [string, string]));
    };
    // Killed also while a document is being written.
    const midway = async () => {
      expect(child.exitCode).toBeNull();
      expect((await named()).size).toBeGreaterThan(100);
      expect((await readdir(objects)).some((name) => name.endsWith('.part'))).toBe(true);
    };
    await eventually(midway, { deadlineMs: 60_000 }).finally(() => child.kill('SIGKILL'));
    expect(await ended).toEqual([null, 'SIGKILL']);

    const wanted = await named();
    expect((await readdir(objects)).length).toBeGreaterThan(wanted.size);
    const engine = await openTestEngine(folder.path);
    const store = await FileObjectStore.openFileObjectStore(objects);
    const sweep = new OrphanSweep({
      objects: store,
      documentStore: engine.documentStore,
      neededObjects: async (shipmentId) => [...wanted.keys()].filter((id) => id.startsWith(shipmentId.slice(4))),
      leases: engine.leases,
      clock: () => new Date(Date.now() + 3 * DAY_MS),
      logger: silentLogger,
      metrics: noMetrics,
    });
    sweep.job.startJobRounds();
    await eventually(async () => expect((await readdir(objects)).sort()).toEqual([...wanted.keys()].sort()));
    await sweep.job.stopJobRounds();
    for (const [id, sha256] of wanted) expect(await hashOf(store, id)).toBe(sha256);
    await engine.closeEngine();
    await folder.remove();
  }, 120_000);
});

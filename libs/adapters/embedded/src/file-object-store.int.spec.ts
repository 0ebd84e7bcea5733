import { createHash } from 'node:crypto';
import { chmod, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageFullError } from '@tracking/ports';
import { eventually, createTempFolder, type TempFolder } from '@tracking/testing';
import { runScriptInChildProcess } from '../test/child.ts';
import { FileObjectStore } from './file-object-store.ts';

const DAY_MS = 86_400_000;

async function* bytes(text: string) {
  yield Buffer.from(text);
}

describe('objects in files', () => {
  let folder: TempFolder;
  let objects: string;
  beforeEach(async () => {
    folder = await createTempFolder();
    objects = join(folder.path, 'data', 'objects');
  });
  afterEach(() => folder.remove());

  it('can be read only by their owner', async () => {
    const store = await FileObjectStore.openFileObjectStore(objects);
    await store.putObject('obj_a', bytes('a'));
    const mode = async (path: string) => (await stat(path)).mode & 0o777;
    expect([await mode(objects), await mode(join(objects, 'obj_a'))]).toEqual([0o700, 0o600]);
  });

  it('report that their folder is missing, until it is back', async () => {
    const store = await FileObjectStore.openFileObjectStore(objects);
    await store.putObject('obj_a', bytes('a'));
    expect(store.failure).toBeUndefined();
    await rename(objects, `${objects}.away`);
    expect(store.failure).toBe('the folder of objects is missing; restore it');
    await expect(store.putObject('obj_b', bytes('b'))).rejects.toThrow('ENOENT');
    await rename(`${objects}.away`, objects);
    expect(store.failure).toBeUndefined();
  });

  it('leave nothing after a failure', async () => {
    const store = await FileObjectStore.openFileObjectStore(objects);
    async function* failing() {
      yield* bytes('a');
      throw new Error('went away');
    }
    await expect(store.putObject('obj_a', failing())).rejects.toThrow('went away');
    await store.putObject('obj_b', bytes('b'));
    await expect(store.putObject('obj_b', bytes('c'))).rejects.toThrow('object obj_b already exists');
    expect(await readdir(objects)).toEqual(['obj_b']);
  });

  it('leave the reserve of the disk free, also when several are stored at the same time', async () => {
    let free = 14 * 2 ** 20;
    const disk = { reserveBytes: 6 * 2 ** 20, freeBytes: () => Promise.resolve(free) };
    const store = await FileObjectStore.openFileObjectStore(objects, disk);
    async function* large() {
      for (let n = 0; n < 16; n += 1) {
        free -= 2 ** 18;
        yield Buffer.alloc(2 ** 18);
      }
    }
    const puts = Array.from({ length: 5 }, (_, n) => store.putObject(`obj_${n}`, large()));
    const outcomes = await Promise.allSettled(puts);
    const failed = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.every((error) => error instanceof StorageFullError)).toBe(true);
    expect(await readdir(objects)).toHaveLength(5 - failed.length);
    expect(free).toBeGreaterThan(0);
    free = 6 * 2 ** 20 - 1;
    await expect(store.putObject('obj_x', bytes('a'))).rejects.toThrow(StorageFullError);
  });

  it('measure the free space of their own disk', async () => {
    await expect(
      (await FileObjectStore.openFileObjectStore(objects, { reserveBytes: 2 ** 60 })).putObject('obj_a', bytes('a')),
    ).rejects.toThrow(StorageFullError);
    await expect(
      (await FileObjectStore.openFileObjectStore(objects, { reserveBytes: 1 })).putObject('obj_a', bytes('a')),
    ).resolves.toBeDefined();
  });

  it('are not removed as remains while they are stored, however slowly', async () => {
    const store = await FileObjectStore.openFileObjectStore(objects);
    async function* slow() {
      yield* bytes('a');
      await utimes(join(objects, 'obj_a.part'), 0, 0);
      await store.removeUnfinishedObjects(new Date());
    }
    expect(await store.putObject('obj_a', slow())).toMatchObject({ sizeBytes: 1 });
  });

  it('report a refusing disk, and accept uploads again afterwards', async () => {
    // The superuser ignores file permissions.
    if (process.getuid?.() === 0) return;
    const store = await FileObjectStore.openFileObjectStore(objects);
    await chmod(objects, 0o500);
    const refusal = store.putObject('obj_a', bytes('a'));
    await expect(refusal).rejects.toMatchObject({ name: 'Unavailable', message: 'object store: EACCES' });
    await chmod(objects, 0o700);
    expect(await store.putObject('obj_a', bytes('a'))).toMatchObject({ sizeBytes: 1 });
  });

  it('are complete after their process was killed, and temporary files are removed', async () => {
    const file = join(folder.path, 'said');
    await writeFile(file, '');
    const child = runScriptInChildProcess('./putting-child.ts', [objects, file]);
    const said = async () => (await readFile(file, 'utf8')).split('\n').slice(0, -1);
    // Kills the process during a write, too.
    const midway = async () => {
      expect((await said()).length).toBeGreaterThan(50);
      expect((await readdir(objects)).some((name) => name.endsWith('.part'))).toBe(true);
    };
    await eventually(midway, { deadlineMs: 60_000 }).finally(() => child.process.kill('SIGKILL'));
    expect([await child.ended, child.errors]).toEqual([null, []]);

    const store = await FileObjectStore.openFileObjectStore(objects);
    const hashes = new Map<string, string>();
    for await (const id of store.listObjectIdsStoredInPeriod({ before: new Date(Date.now() + DAY_MS) })) {
      const hash = createHash('sha256');
      for await (const piece of (await store.getObject(id))?.bytes ?? []) hash.update(piece);
      hashes.set(id, hash.digest('hex'));
    }
    for (const line of await said()) {
      const [id = '', sha256] = line.split(' ');
      expect(hashes.get(id)).toBe(sha256);
    }
    await store.removeUnfinishedObjects(new Date(Date.now() - DAY_MS));
    expect((await readdir(objects)).length).toBeGreaterThan(hashes.size);
    await store.removeUnfinishedObjects(new Date(Date.now() + DAY_MS));
    expect((await readdir(objects)).sort()).toEqual([...hashes.keys()].sort());
  }, 120_000);
});

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UnavailableError } from '@tracking/ports';
import {
  eventually,
  testIfSupported,
  createSampleNewEvents,
  noMetrics,
  RecordedMetrics,
  silentLogger,
  createTempFolder,
  type TempFolder,
} from '@tracking/testing';
import { runScriptInChildProcess, type ChildProcessHandle } from '../test/child.ts';
import { EmbeddedSqliteEngine } from './index.ts';

/** Limits files of the process to 2 MiB, which the log soon reaches. */
const LITTLE_ROOM = ['bash', '-c', 'ulimit -S -f 2048; exec "$@"', 'bash'];
/** Gives the process its own nearly full file system of 6 MiB. */
const smallDisk = (folder: string, ballast: number) => [
  ...['unshare', '--user', '--map-root-user', '--mount', 'bash', '-c'],
  `mount -t tmpfs -o size=6m none ${folder}; head -c ${ballast} /dev/zero 2> /dev/null > ${folder}/ballast; exec "$@"`,
  'bash',
];
const canMount = spawnSync('unshare', ['-Urm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
const canGiveRoom = spawnSync('prlimit', ['--version']).status === 0;

const said = (child: ChildProcessHandle, line: number) =>
  eventually(
    () => {
      expect([child.lines.length > line, child.errors]).toEqual([true, []]);
      return JSON.parse(child.lines[line] ?? '') as Readonly<Record<string, unknown>>;
    },
    { deadlineMs: 60_000 },
  );

describe('the disk', () => {
  let folder: TempFolder;
  let dataDir: string;
  let child: ChildProcessHandle | undefined;
  beforeEach(async () => {
    folder = await createTempFolder();
    dataDir = join(folder.path, 'data');
  });
  afterEach(async () => {
    child?.process.kill('SIGKILL');
    await child?.ended;
    await folder.remove();
  });

  const open = (metrics = noMetrics) =>
    EmbeddedSqliteEngine.openEmbeddedEngine({ dataDir, logger: silentLogger, metrics });

  async function refusedOnce(child: ChildProcessHandle): Promise<number> {
    const refused = await said(child, 0);
    expect(refused).toMatchObject({
      error: 'WritesRefused',
      later: 'WritesRefused',
      failure: expect.stringMatching(/^the disk is full \(/) as string,
      // No partial writes remain.
      read: refused['stored'],
    });
    expect(refused['stored']).toBeGreaterThan(50);
    return Number(refused['stored']);
  }

  testIfSupported(canGiveRoom, 'prlimit is not installed')(
    'refuses writes while it takes no more, and takes them again by itself once it does',
    async () => {
      child = runScriptInChildProcess('./full-disk-child.ts', [dataDir], LITTLE_ROOM);
      const before = await refusedOnce(child);
      const given = spawnSync('prlimit', ['--pid', String(child.process.pid), '--fsize=unlimited:']);
      expect(given.status).toBe(0);
      const after = await said(child, 1);
      expect(after).toEqual({ stored: before + 1 });
      expect([await child.ended, child.errors]).toEqual([0, []]);
      const engine = await open();
      expect(await engine.eventStore.read('s')).toHaveLength(before + 1);
      await engine.closeEngine();
    },
    120_000,
  );

  testIfSupported(canMount, 'this user may not mount a file system')(
    'does so where it is really full',
    async () => {
      child = runScriptInChildProcess('./full-disk-child.ts', [dataDir], smallDisk(folder.path, 3_000_000));
      const before = await refusedOnce(child);
      // The disk belongs to the child process, so its state is observed through the process.
      rmSync(`/proc/${child.process.pid}/root${folder.path}/ballast`);
      const failure = expect.stringMatching(
        /^only \d+ KiB are free on the disk of the data folder; free space$/,
      ) as string;
      expect(await said(child, 1)).toEqual({ stored: before + 1, failure });
      expect([await child.ended, child.errors]).toEqual([0, []]);
    },
    120_000,
  );

  testIfSupported(canMount, 'this user may not mount a file system')(
    'is said to be full, in one line, where it is so at the start',
    async () => {
      child = runScriptInChildProcess('./opening-child.ts', [dataDir], smallDisk(folder.path, 9_000_000));
      await child.ended;
      expect(child.lines).toEqual([expect.stringMatching(/^Unavailable: storage: the disk is full \(.*\)$/)]);
    },
    60_000,
  );

  it('reports its free space', async () => {
    const metrics = new RecordedMetrics();
    const engine = await open(metrics);
    await eventually(() => expect(metrics.getMetricValue('storage_free_bytes')).toBeGreaterThan(0));
    await engine.closeEngine();
  });
});

describe('a data folder in use', () => {
  let folder: TempFolder;
  let dataDir: string;
  let engine: EmbeddedSqliteEngine;
  beforeEach(async () => {
    folder = await createTempFolder();
    dataDir = join(folder.path, 'data');
    engine = await EmbeddedSqliteEngine.openEmbeddedEngine({ dataDir, logger: silentLogger, metrics: noMetrics });
    await engine.eventStore.append('s', 'no_stream', createSampleNewEvents(1));
    expect(engine.failure).toBeUndefined();
  });
  afterEach(async () => {
    await engine.closeEngine();
    await folder.remove();
  });

  const replaced = () => {
    renameSync(dataDir, `${dataDir}-before`);
    cpSync(`${dataDir}-before`, dataDir, { recursive: true });
  };
  /** Replaces the file in the way of `mv` and some editors. */
  const fileReplaced = (name: string) => () => {
    const path = join(dataDir, name);
    writeFileSync(`${path}-new`, 'something else');
    renameSync(`${path}-new`, path);
  };

  it.each<[string, () => void]>([
    ['removed', () => rmSync(dataDir, { recursive: true })],
    ['moved', () => renameSync(dataDir, `${dataDir}-elsewhere`)],
    ['replaced', replaced],
    ['robbed of its file', () => rmSync(join(dataDir, 'storage.db'))],
    ['robbed of its log', () => rmSync(join(dataDir, 'storage.db-wal'))],
    ['given another file', fileReplaced('storage.db')],
  ])('acknowledges nothing once it is %s', async (_, happens) => {
    happens();
    const refused = await engine.eventStore.append('s', 0, createSampleNewEvents(1)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UnavailableError);
    expect(engine.failure).toMatch(/^storage\.db(-wal)? was removed or replaced while in use$/);
    await expect(engine.eventStore.append('t', 'no_stream', createSampleNewEvents(1))).rejects.toBeInstanceOf(
      UnavailableError,
    );
  });

  it('reports this also while nothing is written', async () => {
    rmSync(dataDir, { recursive: true });
    await eventually(() => expect(engine.failure).toContain('was removed or replaced'));
  });

  it('does not touch a replacement when it ends', async () => {
    replaced();
    const log = join(dataDir, 'storage.db-wal');
    const before = readFileSync(log);
    await expect(engine.eventStore.append('s', 0, createSampleNewEvents(1))).rejects.toBeInstanceOf(UnavailableError);
    await engine.closeEngine();
    expect(existsSync(log) && readFileSync(log).equals(before)).toBe(true);
    const next = await EmbeddedSqliteEngine.openEmbeddedEngine({ dataDir, logger: silentLogger, metrics: noMetrics });
    expect(await next.eventStore.read('s')).toHaveLength(1);
    await next.closeEngine();
  });
});

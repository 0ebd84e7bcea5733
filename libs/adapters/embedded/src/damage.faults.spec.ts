import { hash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { noMetrics, createSampleNewEvents, silentLogger, createTempFolder, type TempFolder } from '@tracking/testing';
import { runScriptInChildProcess } from '../test/child.ts';
import { DataFolderDamagedError, EmbeddedSqliteEngine } from './index.ts';

const EVENTS = 400;
/** Sizes in SQLite's write-ahead log (https://sqlite.org/fileformat2.html#walformat) for pages of 4096 bytes. */
const PAGE = 4_096;
const LOG_HEADER = 32;
const FRAME = 24 + PAGE;

const open = (dataDir: string) =>
  EmbeddedSqliteEngine.openEmbeddedEngine({ dataDir, logger: silentLogger, metrics: noMetrics });

/** Returns the number of events after a restart on the folder; undefined if the start was refused because of damage. */
async function eventsIn(dataDir: string): Promise<number | undefined> {
  try {
    const engine = await open(dataDir);
    const streams = Array.from({ length: 50 }, (_, index) => engine.eventStore.read(`s${index}`));
    const events = (await Promise.all(streams)).flat();
    await engine.closeEngine();
    return events.length;
  } catch (error) {
    expect(error).toBeInstanceOf(DataFolderDamagedError);
    expect((error as Error).message.split('\n')).toHaveLength(1);
    return undefined;
  }
}

describe('the folder of a killed process', () => {
  let folder: TempFolder;
  let left: string;
  let copies = 0;

  beforeAll(async () => {
    folder = await createTempFolder();
    left = join(folder.path, 'left');
    const child = runScriptInChildProcess('./killed-child.ts', [left, String(EVENTS)]);
    expect([await child.ended, child.errors, child.lines]).toEqual([null, [], ['acknowledged']]);
  });
  afterAll(() => folder.remove());

  const logOf = (dataDir: string) => join(dataDir, 'storage.db-wal');
  const fileOf = (dataDir: string) => join(dataDir, 'storage.db');
  const copy = (): string => {
    const dataDir = join(folder.path, `copy-${(copies += 1)}`);
    cpSync(left, dataDir, { recursive: true });
    return dataDir;
  };
  /** Overwrites 64 bytes. */
  const overwrite = (path: string, at: number) => {
    const bytes = readFileSync(path);
    for (let index = at; index < Math.min(at + 64, bytes.length); index += 1) bytes[index]! ^= 0x5a;
    writeFileSync(path, bytes);
  };
  /** The log must stay as it is for recovery tools. */
  const contentsOf = (dataDir: string) =>
    [fileOf(dataDir), logOf(dataDir), join(dataDir, 'commits')].map((path) =>
      existsSync(path) ? hash('sha256', readFileSync(path)) : 'missing',
    );

  it('is complete', async () => {
    expect(await eventsIn(copy())).toBe(EVENTS);
  });

  it('never silently loses data, wherever 64 bytes of the log are overwritten', async () => {
    const { size } = statSync(logOf(left));
    const outcomes: (number | undefined)[] = [];
    for (let at = 0; at < size; at += Math.ceil(size / 24)) {
      const dataDir = copy();
      overwrite(logOf(dataDir), at);
      outcomes.push(await eventsIn(dataDir));
      rmSync(dataDir, { recursive: true });
    }
    // The end contains views, which are rebuilt.
    expect(new Set(outcomes)).toEqual(new Set([undefined, EVENTS]));
    expect(outcomes.slice(0, 18)).toEqual(Array.from({ length: 18 }, () => undefined));
  }, 120_000);

  it('is refused if damaged, with the cause and the solutions, and is not changed', async () => {
    const dataDir = copy();
    overwrite(logOf(dataDir), LOG_HEADER + 200 * FRAME + 1_000);
    const before = contentsOf(dataDir);
    const refusal = await open(dataDir).catch((error: unknown) => String(error));
    expect(refusal).toMatch(
      new RegExp(
        `^DataFolderDamaged: the data folder ${dataDir} is damaged: storage.db and its log contain only \\d+ of the 4\\d\\d ` +
          `acknowledged commits. Restore a backup; or, to continue with the remaining data, .* delete ${dataDir}/commits$`,
      ),
    );
    expect(contentsOf(dataDir)).toEqual(before);
    // The folder is not left locked.
    await expect(open(dataDir)).rejects.toBeInstanceOf(DataFolderDamagedError);

    rmSync(join(dataDir, 'commits'));
    const some = await eventsIn(dataDir);
    expect(some).toBeGreaterThan(0);
    expect(some).toBeLessThan(EVENTS);
    // Later acknowledged commits are protected as before.
    const engine = await open(dataDir);
    await engine.eventStore.append('later', 'no_stream', createSampleNewEvents(1));
    await engine.closeEngine();
    expect(readFileSync(join(dataDir, 'commits'), 'utf8')).toMatch(/^0{13}\d{3}\n$/);
  });

  it.each<[string, (dataDir: string) => void]>([
    ['the log is missing', (dataDir) => rmSync(logOf(dataDir))],
    ['the log is cut', (dataDir) => truncateSync(logOf(dataDir), LOG_HEADER + 300 * FRAME)],
    ['the file is empty', (dataDir) => truncateSync(fileOf(dataDir))],
    ['the file is missing', (dataDir) => rmSync(fileOf(dataDir))],
    [
      'the file is empty and the number is missing',
      (dataDir) => {
        truncateSync(fileOf(dataDir));
        rmSync(join(dataDir, 'commits'));
      },
    ],
  ])('is refused when %s', async (_, damage) => {
    const dataDir = copy();
    damage(dataDir);
    const [, log] = contentsOf(dataDir);
    expect(await eventsIn(dataDir)).toBeUndefined();
    if (log !== 'missing') expect(contentsOf(dataDir)[1]).toBe(log);
  });

  it.each<[string, (dataDir: string) => void]>([
    [
      'behind everything acknowledged',
      (dataDir) => truncateSync(logOf(dataDir), statSync(logOf(dataDir)).size - 20 * FRAME),
    ],
    ['within a frame', (dataDir) => truncateSync(logOf(dataDir), statSync(logOf(dataDir)).size - 1_000)],
    ['as a power cut does that takes the last notes with it', cutWithItsNote],
  ])('is opened without a warning if the log is torn %s', async (_, tear) => {
    const dataDir = copy();
    tear(dataDir);
    expect(await eventsIn(dataDir)).toBeDefined();
  });

  /** The number is not synchronized: after a power failure it can be older, but never newer. */
  function cutWithItsNote(dataDir: string): void {
    truncateSync(logOf(dataDir), LOG_HEADER + 500 * FRAME);
    writeFileSync(join(dataDir, 'commits'), '0000000000000010\n');
  }

  it('is checked completely after a crash, and refused if its pages are inconsistent', async () => {
    const dataDir = join(folder.path, 'in-the-file');
    // A small log limit, so that most data is in the file.
    const child = runScriptInChildProcess('./killed-child.ts', [dataDir, '2000', '100000']);
    expect([await child.ended, child.errors]).toEqual([null, []]);
    const { size } = statSync(fileOf(dataDir));
    expect(size).toBeGreaterThan(100 * PAGE);
    const outcomes = new Set<number | undefined>();
    for (let page = 0; page < 100; page += 10) {
      const damaged = `${dataDir}-${page}`;
      cpSync(dataDir, damaged, { recursive: true });
      overwrite(fileOf(damaged), page * PAGE);
      outcomes.add(await eventsIn(damaged));
    }
    // Pages that are also in the log are repaired from it.
    expect([...outcomes].every((events) => events === undefined || events === 2_000)).toBe(true);
    expect(outcomes).toContain(undefined);
  }, 120_000);
});

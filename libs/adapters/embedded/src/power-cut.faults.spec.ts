import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createSampleNewEvents, noMetrics, silentLogger, createTempFolder, type TempFolder } from '@tracking/testing';
import { EmbeddedSqliteEngine } from './index.ts';

/** Sizes in SQLite's write-ahead log (https://sqlite.org/fileformat2.html#walformat) for pages of 4096 bytes. */
const WAL_HEADER = 32;
const FRAME = 24 + 4_096;

const WORK = 12;
const VIEWS = { name: 'views', durability: 'derived' as const, indexes: [{ name: 'by_step', fields: ['step', 'id'] }] };
const CHECKPOINTS = { name: 'checkpoints', durability: 'derived' as const, indexes: [] };

interface View {
  readonly id: string;
  readonly step: number;
}
interface StoredCheckpoint {
  readonly id: string;
  readonly step: number;
}

/** Content of the disk: completed steps, step of the checkpoint (0 without one), number of events. */
interface WhatIsLeft {
  readonly complete: readonly number[];
  readonly torn: readonly number[];
  readonly checkpoint: number;
  readonly events: number;
}

/**
 * After a power failure, the log contains what reached the disk. Pages can arrive in any order, but checksums chain the
 * frames, so the first missing or torn page ends the log: what remains is a prefix.
 */
describe('a power failure', () => {
  let folder: TempFolder;
  let file: string;
  let log: Buffer;
  /** Length of the log when each append was acknowledged. */
  const acknowledged: number[] = [];

  beforeAll(async () => {
    folder = await createTempFolder();
    const dataDir = join(folder.path, 'data');
    const engine = await EmbeddedSqliteEngine.openEmbeddedEngine({ dataDir, logger: silentLogger, metrics: noMetrics });
    const views = await engine.documentStore.collection<View>(VIEWS);
    const checkpoints = await engine.documentStore.collection<StoredCheckpoint>(CHECKPOINTS);
    for (let step = 1; step <= 12; step += 1) {
      await engine.eventStore.append(`s${step}`, 'no_stream', createSampleNewEvents(2));
      acknowledged.push(statSync(join(dataDir, 'storage.db-wal')).size);
      const documents = Array.from({ length: WORK }, (_, index) => ({ id: `${step}-${index}`, step }));
      await views.writeMany(documents.map((document) => ({ kind: 'upsert', document })));
      await checkpoints.upsert({ id: 'projection', step });
    }
    // Copies the files while the engine has them open, like the disk of a machine that stopped now.
    execFileSync('cp', ['-r', dataDir, `${dataDir}-left`]);
    await engine.closeEngine();
    file = join(`${dataDir}-left`, 'storage.db');
    log = readFileSync(`${file}-wal`);
  });
  afterAll(() => folder.remove());

  /** Opens the file with a prefix of its log and reads it. */
  function lookAt(left: Buffer): WhatIsLeft {
    const disk = join(folder.path, 'disk');
    mkdirSync(disk);
    const copy = join(disk, 'storage.db');
    copyFileSync(file, copy);
    writeFileSync(`${copy}-wal`, left);
    const database = new DatabaseSync(copy);
    const has = (table: string) =>
      database.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(table) !== undefined;
    const read = <T>(sql: string) => database.prepare(sql).all() as T[];
    try {
      expect(read('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      const counts = has('documents:views')
        ? read<{ step: number; many: number }>(
            'SELECT f_step AS step, count(*) AS many FROM "documents:views" GROUP BY 1',
          )
        : [];
      const [checkpoint] = has('documents:checkpoints')
        ? read<{ json: string }>('SELECT json FROM "documents:checkpoints"')
        : [];
      const [events] = has('events') ? read<{ many: number }>('SELECT count(*) AS many FROM events') : [];
      return {
        complete: counts.filter(({ many }) => many === WORK).map(({ step }) => step),
        torn: counts.filter(({ many }) => many !== WORK).map(({ step }) => step),
        checkpoint: checkpoint === undefined ? 0 : (JSON.parse(checkpoint.json) as StoredCheckpoint).step,
        events: events?.many ?? 0,
      };
    } finally {
      database.close();
      rmSync(disk, { recursive: true });
    }
  }

  it('loses a suffix, never anything before data that remains', () => {
    const frames = (log.length - WAL_HEADER) / FRAME;
    expect(Number.isInteger(frames)).toBe(true);
    const seen = new Set<number>();
    for (let frame = 0; frame <= frames; frame += 1) {
      const { complete, torn, checkpoint, events } = lookAt(log.subarray(0, WAL_HEADER + frame * FRAME));
      expect(torn).toEqual([]);
      // All steps up to the checkpoint are complete; at most one further step and one append are not counted yet.
      expect(complete).toEqual(Array.from({ length: complete.length }, (_, index) => index + 1));
      expect([checkpoint, checkpoint + 1]).toContain(complete.length);
      expect([2 * complete.length, 2 * complete.length + 2]).toContain(events);
      seen.add(checkpoint);
    }
    expect(seen.size).toBe(13);
  }, 60_000);

  it('may also leave torn and unordered pages', () => {
    for (let frame = 5; frame < (log.length - WAL_HEADER) / FRAME - 3; frame += 7) {
      const at = WAL_HEADER + frame * FRAME;
      const whole = lookAt(log.subarray(0, at));
      const torn = Buffer.from(log.subarray(0, at + 2 * FRAME));
      torn.fill(0x5a, at + 100, at + 3_000);
      expect(lookAt(torn)).toEqual(whole);
      expect(lookAt(log.subarray(0, at + 1_000))).toEqual(whole);
    }
  }, 60_000);

  it('loses nothing acknowledged', () => {
    expect(acknowledged).toHaveLength(12);
    acknowledged.forEach((length, index) => {
      expect(lookAt(log.subarray(0, length)).events).toBeGreaterThanOrEqual(2 * (index + 1));
    });
  });
});

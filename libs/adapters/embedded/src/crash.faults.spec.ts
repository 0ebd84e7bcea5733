import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { eventually, noMetrics, silentLogger, createTempFolder } from '@tracking/testing';
import { runScriptInChildProcess } from '../test/child.ts';
import {
  CHILD_PROCESS_COLLECTIONS,
  type DocumentWrittenByChild,
  type WriteReport,
} from '../test/writing-child-protocol.ts';
import { EmbeddedSqliteEngine } from './index.ts';

const CYCLES = 8;

/** Starts a writing process and kills it while it writes. */
async function writeAndKill(dataDir: string, run: number): Promise<WriteReport[]> {
  const file = `${dataDir}-said-${run}`;
  await writeFile(file, '');
  const child = runScriptInChildProcess('./writing-child.ts', [dataDir, String(run), file]);
  const lines = async () => (await readFile(file, 'utf8')).split('\n').slice(0, -1);
  // Kills after a number of acknowledgements instead of a time, so that the test is the same on slow machines.
  const enough = async () => expect((await lines()).length).toBeGreaterThan(50 + run * 150);
  try {
    await Promise.race([child.ended, eventually(enough, { deadlineMs: 60_000 })]);
  } finally {
    child.process.kill('SIGKILL');
  }
  expect(await child.ended).toBeNull();
  expect(child.errors).toEqual([]);
  return (await lines()).map((line) => JSON.parse(line) as WriteReport);
}

async function expectAll(engine: EmbeddedSqliteEngine, said: readonly WriteReport[]): Promise<void> {
  const collections = {
    records: await engine.documentStore.collection<DocumentWrittenByChild>(CHILD_PROCESS_COLLECTIONS.records),
    views: await engine.documentStore.collection<DocumentWrittenByChild>(CHILD_PROCESS_COLLECTIONS.views),
  };
  for (const one of said) {
    if ('stream' in one) {
      const [event] = await engine.eventStore.read(one.stream, { from: one.revision, to: one.revision });
      expect(event?.data).toMatchObject({ append: one.append });
    } else {
      const document = await collections[one.collection].get(one.id);
      expect(document?.version).toBeGreaterThanOrEqual(one.version);
    }
  }
  for (const collection of Object.values(collections)) {
    for (const { version } of await collection.find({ filter: {}, limit: 10_000 })) {
      const found = await collection.find({ filter: { words: `v${version}`, version }, limit: 100 });
      expect(found.every(({ words }) => words[0] === `v${version}`)).toBe(true);
      expect(found.length).toBeGreaterThan(0);
    }
    expect(await collection.count({ words: 'all' })).toBe(await collection.count({}));
  }
}

/** Every stream is without gaps, and every append in it is complete. */
async function expectWholeStreams(engine: EmbeddedSqliteEngine): Promise<void> {
  const stop = new AbortController();
  const next = new Map<string, number>();
  const open = new Map<string, number>();
  let position = '';
  for await (const batch of engine.eventStore.catchUp({ streamPrefixes: [''], signal: stop.signal })) {
    for (const event of batch.events) {
      expect(event.position > position).toBe(true);
      ({ position } = event);
      expect(event.revision).toBe(next.get(event.stream) ?? 0);
      next.set(event.stream, event.revision + 1);
      const { append, place, size } = event.data as { append: string; place: number; size: number };
      expect(place).toBe(open.get(append) ?? 0);
      if (place + 1 === size) open.delete(append);
      else open.set(append, place + 1);
    }
    if (batch.caughtUp) stop.abort();
  }
  expect([...open.keys()]).toEqual([]);
  expect(next.size).toBeGreaterThan(0);
}

describe('a process killed during writes', () => {
  it(`loses no acknowledged write over ${CYCLES} kills on the same folder`, async () => {
    const folder = await createTempFolder();
    const dataDir = join(folder.path, 'data');
    const said: WriteReport[] = [];
    for (let run = 0; run < CYCLES; run += 1) {
      said.push(...(await writeAndKill(dataDir, run)));
      const engine = await EmbeddedSqliteEngine.openEmbeddedEngine({
        dataDir,
        logger: silentLogger,
        metrics: noMetrics,
      });
      await expectAll(engine, said);
      await expectWholeStreams(engine);
      await engine.closeEngine();
      const file = new DatabaseSync(join(dataDir, 'storage.db'), { readOnly: true });
      expect(file.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
      file.close();
    }
    expect(said.some((one) => 'stream' in one)).toBe(true);
    expect(said.some((one) => 'collection' in one && one.collection === 'views')).toBe(true);
    await folder.remove();
  }, 120_000);
});

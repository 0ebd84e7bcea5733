import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  testIfSupported,
  createSampleNewEvents,
  RecordedMetrics,
  silentLogger,
  createTempFolder,
} from '@tracking/testing';
import { runScriptInChildProcess } from '../test/child.ts';
import { EmbeddedSqliteEngine } from './index.ts';

/** Counts the fsyncs of the log before each acknowledgement, since the previous one. */
function syncsBefore(trace: string, kind: string): number[] {
  const found: number[] = [];
  let syncs = 0;
  for (const line of trace.split('\n')) {
    if (/(fsync|fdatasync)(\(|.*resumed).*= 0$/.test(line)) syncs += 1;
    if (line.includes(`acknowledged ${kind}`)) found.push(syncs);
    if (line.includes('acknowledged ') || line.includes('begin ')) syncs = 0;
  }
  return found;
}

describe('synchronization with the disk', () => {
  it('follows SQLite’s setting: full for acknowledged writes, normal for derived ones', async () => {
    const folder = await createTempFolder();
    const metrics = new RecordedMetrics();
    const engine = await EmbeddedSqliteEngine.openEmbeddedEngine({
      dataDir: folder.path,
      logger: silentLogger,
      metrics,
    });
    const views = await engine.documentStore.collection({ name: 'views', durability: 'derived', indexes: [] });
    const spec = { name: 'records', indexes: [] };
    const records = await engine.documentStore.collection(spec);
    const repeatable = await engine.documentStore.collection({ ...spec, durability: 'ordered' });
    const commits = () =>
      ['full', 'normal'].map((sync) => metrics.getMetricValue(`storage_commit_seconds{sync="${sync}"}`));
    const commitsOf = async (work: () => Promise<unknown>) => {
      const before = commits();
      await work();
      return commits().map((count, index) => count - (before[index] ?? 0));
    };
    expect(await commitsOf(() => engine.eventStore.append('s', 'no_stream', createSampleNewEvents(1)))).toEqual([1, 0]);
    expect(await commitsOf(() => records.insert({ id: 'a' }))).toEqual([1, 0]);
    expect(await commitsOf(() => views.insert({ id: 'a' }))).toEqual([0, 1]);
    const again = [{ kind: 'insert', document: { id: 'b' } }] as const;
    expect(await commitsOf(() => repeatable.writeMany(again))).toEqual([0, 1]);
    expect(await commitsOf(() => records.writeMany(again))).toEqual([1, 0]);
    expect(await commitsOf(() => repeatable.replace({ id: 'b' }, {}))).toEqual([0, 1]);
    expect(await commitsOf(() => repeatable.upsert({ id: 'b' }))).toEqual([0, 1]);
    expect(await commitsOf(() => records.upsert({ id: 'b' }))).toEqual([1, 0]);
    // Operations requested at once share one commit; one of them is an append.
    const mixture = () =>
      Promise.all([
        views.upsert({ id: 'b' }),
        views.upsert({ id: 'c' }),
        engine.eventStore.append('t', 'no_stream', createSampleNewEvents(1)),
        views.upsert({ id: 'd' }),
      ]);
    expect(await commitsOf(mixture)).toEqual([1, 0]);
    await engine.closeEngine();
    await folder.remove();
  });

  testIfSupported(spawnSync('strace', ['-V']).status === 0, 'strace is not installed')(
    'reaches the disk before the acknowledgement, and not at all for what is derived',
    async () => {
      const folder = await createTempFolder();
      const trace = join(folder.path, 'trace');
      const strace = ['strace', '-f', '-o', trace, '-e', 'trace=fsync,fdatasync,write', '-s', '40'];
      const child = runScriptInChildProcess(
        './sync-child.ts',
        [join(folder.path, 'data'), join(folder.path, 'said')],
        strace,
      );
      expect([await child.ended, child.errors]).toEqual([0, []]);
      const traced = await readFile(trace, 'utf8');
      for (const kind of ['append', 'record', 'mixture']) {
        const syncs = syncsBefore(traced, kind);
        expect(syncs).toHaveLength(20);
        expect(Math.min(...syncs)).toBeGreaterThanOrEqual(1);
      }
      expect(syncsBefore(traced, 'view')).toEqual(Array.from({ length: 20 }, () => 0));
      await folder.remove();
    },
    60_000,
  );
});

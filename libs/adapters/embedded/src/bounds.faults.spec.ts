import { statSync } from 'node:fs';
import { join } from 'node:path';
import { BusyError, UnavailableError } from '@tracking/ports';
import {
  createSampleNewEvents,
  noMetrics,
  RecordedMetrics,
  silentLogger,
  createTempFolder,
  type TempFolder,
} from '@tracking/testing';
import { EmbeddedSqliteEngine } from './index.ts';

describe('bounds', () => {
  let folder: TempFolder;
  beforeEach(async () => void (folder = await createTempFolder()));
  afterEach(() => folder.remove());

  it('keep the log small under constant writes, before SQLite would checkpoint during a commit', async () => {
    const limits = { walCheckpointBytes: 2 ** 23 };
    const engine = await EmbeddedSqliteEngine.openEmbeddedEngine({
      dataDir: folder.path,
      logger: silentLogger,
      metrics: noMetrics,
      limits,
    });
    const records = await engine.documentStore.collection({ name: 'records', indexes: [] });
    const text = 'x'.repeat(100_000);
    let [greatest, written] = [0, 0];
    while (written < 16 * limits.walCheckpointBytes) {
      await records.insert({ id: String(written), text } as { id: string });
      written += text.length;
      greatest = Math.max(greatest, statSync(join(folder.path, 'storage.db-wal')).size);
    }
    await engine.closeEngine();
    expect(greatest).toBeGreaterThan(limits.walCheckpointBytes);
    expect(greatest).toBeLessThan(8 * limits.walCheckpointBytes);
  }, 60_000);

  it('refuse writes without effect when too many wait', async () => {
    const metrics = new RecordedMetrics();
    const limits = { waitingWrites: 20 };
    const engine = await EmbeddedSqliteEngine.openEmbeddedEngine({
      dataDir: folder.path,
      logger: silentLogger,
      metrics,
      limits,
    });
    const streams = Array.from({ length: 200 }, (_, index) => `s${index}`);
    const appends = streams.map((stream) => engine.eventStore.append(stream, 'no_stream', createSampleNewEvents(2)));
    expect(metrics.getMetricValue('storage_queue_items')).toBe(20);
    const results = await Promise.allSettled(appends);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    for (const [index, result] of results.entries()) {
      const stored = await engine.eventStore.read(`s${index}`);
      expect(stored).toHaveLength(result.status === 'fulfilled' ? 2 : 0);
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(BusyError);
    }
    expect(metrics.getMetricValue('storage_refused_total{queue="writes"}')).toBe(190);
    expect(metrics.getMetricValue('storage_queue_items')).toBe(0);
    await engine.eventStore.append('later', 'no_stream', createSampleNewEvents(1));
    await engine.closeEngine();
  });

  it('refuse lists when too many wait', async () => {
    const metrics = new RecordedMetrics();
    const limits = { waitingReads: 10, readerThreads: 1 };
    const engine = await EmbeddedSqliteEngine.openEmbeddedEngine({
      dataDir: folder.path,
      logger: silentLogger,
      metrics,
      limits,
    });
    const things = await engine.documentStore.collection({ name: 'things', indexes: [] });
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => things.count({})));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(BusyError);
    expect(metrics.getMetricValue('storage_refused_total{queue="reads"}')).toBe(40);
    expect(await things.count({})).toBe(0);
    await engine.closeEngine();
  });

  it('do not affect other writes of a batch with an error', async () => {
    const engine = await EmbeddedSqliteEngine.openEmbeddedEngine({
      dataDir: folder.path,
      logger: silentLogger,
      metrics: noMetrics,
    });
    const dropped = await engine.documentStore.collection<{ id: string }>({ name: 'dropped', indexes: [] });
    await engine.documentStore.dropCollection('dropped');
    const results = await Promise.allSettled([
      engine.eventStore.append('a', 'no_stream', createSampleNewEvents(1)),
      engine.eventStore.append('b', 'no_stream', createSampleNewEvents(2)),
      dropped.insert({ id: 'x' }),
      engine.eventStore.append('c', 'no_stream', createSampleNewEvents(3)),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await engine.eventStore.read('c')).toHaveLength(3);
    const heads = await Promise.all(['a', 'b', 'c'].map((stream) => engine.eventStore.read(stream)));
    const positions = heads.flat().map(({ position }) => position);
    expect(positions).toEqual([...new Set(positions)].sort());
    await engine.closeEngine();
  });

  it('refuse everything once closed', async () => {
    const engine = await EmbeddedSqliteEngine.openEmbeddedEngine({
      dataDir: folder.path,
      logger: silentLogger,
      metrics: noMetrics,
    });
    const things = await engine.documentStore.collection<{ id: string }>({ name: 'things', indexes: [] });
    const underWay = engine.eventStore.append('a', 'no_stream', createSampleNewEvents(1));
    await engine.closeEngine();
    await expect(underWay).resolves.toMatchObject({ revision: 0 });
    for (const late of [
      () => engine.eventStore.append('b', 'no_stream', createSampleNewEvents(1)),
      () => engine.eventStore.read('a'),
      () => things.insert({ id: 'a' }),
      () => things.get('a'),
      () => things.count({}),
      () => things.claim({ filter: {} }, {}),
      () => engine.documentStore.collection({ name: 'others', indexes: [] }),
      () => engine.leases.acquireLease('a', new AbortController().signal),
      () => engine.quota.takeQuotaForRequest('a', 1),
    ]) {
      await expect(late()).rejects.toBeInstanceOf(UnavailableError);
    }
    await engine.closeEngine();
  });
});

import { noMetrics, silentLogger, createTempFolder, type TempFolder } from '@tracking/testing';
import { EmbeddedSqliteEngine } from './index.ts';

const SPEC = {
  name: 'large',
  indexes: [
    { name: 'owner', fields: ['owner'] },
    { name: 'words', fields: ['words'], arrayField: 'words' },
  ],
};

/** Deleting this many documents takes many times longer than one piece. */
const COUNT = 2_000;

describe('dropping a large collection', () => {
  let folder: TempFolder;
  let engine: EmbeddedSqliteEngine;
  beforeEach(async () => {
    folder = await createTempFolder();
    engine = await EmbeddedSqliteEngine.openEmbeddedEngine({
      dataDir: folder.path,
      logger: silentLogger,
      metrics: noMetrics,
    });
    const large = await engine.documentStore.collection<{ id: string; owner: string; words: string[] }>(SPEC);
    const documents = Array.from({ length: COUNT }, (_, n) => ({
      id: `${n}`,
      owner: `o${n % 7}`,
      words: ['a', `${n}`],
    }));
    await large.writeMany(documents.map((document) => ({ kind: 'insert', document })));
  });
  afterEach(async () => {
    await engine.closeEngine();
    await folder.remove();
  });

  it('is done in pieces, with other writes in between', async () => {
    const store = engine.documentStore;
    const other = await store.collection({ name: 'other', indexes: [] });
    let isDropped = false;
    const dropping = store.dropCollection(SPEC.name).then(() => (isDropped = true));
    for (const id of ['a', 'b']) expect([await other.insert({ id }), isDropped]).toEqual([true, false]);
    await dropping;
    expect(await store.listCollectionNames('large')).toEqual([]);
    const again = await store.collection(SPEC);
    expect(await again.count({})).toBe(0);
    expect(await again.insert({ id: '1' })).toBe(true);
  });

  it('can be aborted, leaves a smaller valid collection, and can be repeated', async () => {
    const store = engine.documentStore;
    await store.dropCollection(SPEC.name, AbortSignal.abort());
    const left = await store.collection<{ id: string; words: string[] }>(SPEC);
    const count = await left.count({});
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(COUNT);
    expect(await left.count({ words: 'a' }, { index: 'words' })).toBe(count);
    await store.dropCollection(SPEC.name);
    expect(await store.listCollectionNames('large')).toEqual([]);
  });
});

import type { Collection, CollectionSpec, DocumentStore } from '@tracking/ports';
import { declareDocumentStoreClaimTests, declareDocumentStoreQueryTests } from './document-store-query-tests.ts';
import { declareDocumentReplacementTests } from './document-store-replacement-tests.ts';
import { declareDocumentStoreScanTests } from './document-store-scan-tests.ts';
import {
  expectDuplicateKey,
  listIds,
  createSampleCollectionSpec,
  type SampleDocument,
} from './document-store-samples.ts';
import { type TestedAdapter, testIfSupported, CRASH_UNSUPPORTED_REASON } from './subject.ts';

/** Tests every guarantee of the `DocumentStore` port. */
export function declareDocumentStoreTests(name: string, subject: TestedAdapter<DocumentStore>): void {
  describe(`document store on ${name}`, () => {
    let store: DocumentStore;
    let spec: CollectionSpec;
    let things: Collection<SampleDocument>;
    beforeAll(async () => void (store = await subject.openTestedAdapter()));
    afterAll(() => subject.close());
    beforeEach(async () => {
      spec = createSampleCollectionSpec();
      things = await store.collection<SampleDocument>(spec);
    });

    describe('single writes', () => {
      it('the store saves a document unchanged', async () => {
        const thing = {
          id: 'Ærø "港"\\\n',
          note: '🚢\u0000',
          rank: -1.5e-7,
          words: [],
          deep: { rank: 1, also: [null, {}] },
        };
        expect(await things.insert(thing)).toBe(true);
        expect(await things.get(thing.id)).toEqual(thing);
        expect(await things.get('another')).toBeUndefined();
      });

      it('the store inserts a document only once', async () => {
        const thing = { id: 'a', owner: 'o', code: 'c', note: 'first' };
        expect(await things.insert(thing)).toBe(true);
        expect(await things.insert(thing)).toBe(false);
        expect(await things.insert({ ...thing, note: 'second' })).toBe(false);
        expect(await things.get('a')).toEqual(thing);
      });

      it('the store accepts one of many concurrent inserts', async () => {
        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, version) => things.insert({ id: 'a', owner: 'o', code: 'c', version })),
        );
        expect(answers.filter((inserted) => inserted)).toHaveLength(1);
        expect((await things.get('a'))?.version).toBe(answers.indexOf(true));
      });

      it('the store replaces a document that exists and matches the guard', async () => {
        expect(await things.replace({ id: 'a', note: 'none' })).toBe(false);
        await things.insert({ id: 'a', version: 1, note: 'old', rank: 5 });
        expect(await things.replace({ id: 'a', version: 2 }, { version: 9 })).toBe(false);
        expect(await things.get('a')).toEqual({ id: 'a', version: 1, note: 'old', rank: 5 });
        expect(await things.replace({ id: 'a', version: 2 }, { version: 1, note: { ne: null } })).toBe(true);
        expect(await things.get('a')).toEqual({ id: 'a', version: 2 });
        expect(await things.find({ filter: { rank: 5 }, limit: 10 })).toEqual([]);
        expect(await things.replace({ id: 'a' })).toBe(true);
      });

      it('the store accepts one of many concurrent guarded replaces', async () => {
        await things.insert({ id: 'a', version: 1 });
        const rivals = Array.from({ length: 50 }, (_, index) =>
          things.replace({ id: 'a', version: 2, note: String(index) }, { version: 1 }),
        );
        const answers = await Promise.all(rivals);
        expect(answers.filter((replaced) => replaced)).toHaveLength(1);
        expect((await things.get('a'))?.note).toBe(String(answers.indexOf(true)));
      });

      it('the store upserts missing documents, and existing ones that match the guard', async () => {
        expect(await things.upsert({ id: 'a', version: 5 }, { version: { lt: 5 } })).toBe(true);
        expect(await things.upsert({ id: 'a', version: 5, note: 'again' }, { version: { lt: 5 } })).toBe(false);
        expect(await things.upsert({ id: 'a', version: 6, rank: 1 }, { version: { lt: 6 } })).toBe(true);
        expect(await things.get('a')).toEqual({ id: 'a', version: 6, rank: 1 });
        expect(await things.upsert({ id: 'a' })).toBe(true);
        expect(await things.get('a')).toEqual({ id: 'a' });
      });

      it('the store keeps the newest of many concurrent guarded upserts', async () => {
        const versions = Array.from({ length: 50 }, (_, index) => (index * 37) % 50);
        await Promise.all(versions.map((version) => things.upsert({ id: 'a', version }, { version: { lt: version } })));
        expect((await things.get('a'))?.version).toBe(49);
      });

      it('the store deletes a document that matches the guard', async () => {
        await things.insert({ id: 'a', version: 1, words: ['x'] });
        expect(await things.delete('a', { version: 2 })).toBe(false);
        expect(await things.delete('a', { version: 1 })).toBe(true);
        expect(await things.delete('a')).toBe(false);
        expect(await things.get('a')).toBeUndefined();
        expect(await things.find({ filter: { words: 'x' }, limit: 10 })).toEqual([]);
      });

      it('the store reads several documents by id', async () => {
        for (const id of ['a', 'b', 'c']) await things.insert({ id });
        expect(listIds(await things.getMany(['c', 'none', 'a', 'a'])).sort()).toEqual(['a', 'c']);
        expect(await things.getMany([])).toEqual([]);
        const many = Array.from({ length: 1_000 }, (_, index) => `m${index}`);
        await things.writeMany(many.map((id) => ({ kind: 'upsert', document: { id } })));
        expect(listIds(await things.getMany(many)).sort()).toEqual(many.toSorted());
      });
    });

    describe('unique indexes', () => {
      it('a unique index refuses a second document with the same key, and its name is reported', async () => {
        await things.insert({ id: 'a', owner: 'o', code: 'c' });
        await things.insert({ id: 'b', owner: 'o', code: 'd' });
        // A repeated write of the same document does not conflict with the stored document.
        expect(await things.insert({ id: 'a', owner: 'o', code: 'c' })).toBe(false);
        await things.writeMany([{ kind: 'insert', document: { id: 'a', owner: 'o', code: 'c' } }]);
        await expectDuplicateKey(things.insert({ id: 'x', owner: 'o', code: 'c' }), spec.name, 'by_code');
        await expectDuplicateKey(things.upsert({ id: 'x', owner: 'o', code: 'c' }), spec.name, 'by_code');
        await expectDuplicateKey(things.upsert({ id: 'b', owner: 'o', code: 'c', words: ['w'] }), spec.name, 'by_code');
        await expectDuplicateKey(things.replace({ id: 'b', owner: 'o', code: 'c' }), spec.name, 'by_code');
        await expectDuplicateKey(things.claim({ filter: { code: 'd' } }, { code: 'c' }), spec.name, 'by_code');
        expect(await things.get('x')).toBeUndefined();
        expect(await things.get('b')).toEqual({ id: 'b', owner: 'o', code: 'd' });
        expect(await things.find({ filter: { words: 'w' }, limit: 10 })).toEqual([]);
        expect(await things.insert({ id: 'y', owner: 'p', code: 'c' })).toBe(true);
      });

      it('a unique index accepts exactly one of many concurrent documents with the same key', async () => {
        const results = await Promise.allSettled(
          Array.from({ length: 50 }, (_, index) => things.insert({ id: String(index), owner: 'o', code: 'c' })),
        );
        expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        expect(await things.count({ owner: 'o' })).toBe(1);
      });

      it('a unique index ignores documents without one of its fields, but not documents with null', async () => {
        expect(await things.insert({ id: 'a', owner: 'o' })).toBe(true);
        expect(await things.insert({ id: 'b', owner: 'o' })).toBe(true);
        expect(await things.insert({ id: 'c', code: 'c' })).toBe(true);
        expect(await things.insert({ id: 'd', code: 'c' })).toBe(true);
        expect(await things.insert({ id: 'e', owner: 'o', code: null })).toBe(true);
        await expectDuplicateKey(things.insert({ id: 'f', owner: 'o', code: null }), spec.name, 'by_code');
      });

      it('a unique index of an array refuses a second document with one of the elements, and stores no part of it', async () => {
        await things.insert({ id: 'a', owner: 'o', aliases: ['x', 'y', 'x'] });
        await expectDuplicateKey(things.insert({ id: 'b', owner: 'o', aliases: ['z', 'y'] }), spec.name, 'by_alias');
        expect(await things.get('b')).toBeUndefined();
        expect(await things.insert({ id: 'c', owner: 'o', aliases: ['z'] })).toBe(true);
        await expectDuplicateKey(things.upsert({ id: 'c', owner: 'o', aliases: ['v', 'x'] }), spec.name, 'by_alias');
        expect(await things.get('c')).toEqual({ id: 'c', owner: 'o', aliases: ['z'] });
        expect(await things.find({ filter: { aliases: 'v' }, limit: 10 })).toEqual([]);
      });

      it('a unique index releases a key that no document uses any longer', async () => {
        await things.insert({ id: 'a', owner: 'o', code: 'c' });
        await things.upsert({ id: 'a', owner: 'o' });
        expect(await things.insert({ id: 'b', owner: 'o', code: 'c' })).toBe(true);
        await things.delete('b');
        expect(await things.insert({ id: 'c', owner: 'o', code: 'c' })).toBe(true);
      });
    });

    describe('many writes', () => {
      it('the writes of a batch are carried out in order', async () => {
        await things.insert({ id: 'gone', version: 1 });
        await things.insert({ id: 'stays', version: 1 });
        await things.writeMany([
          { kind: 'upsert', document: { id: 'a', version: 1 } },
          { kind: 'upsert', document: { id: 'a', version: 2 }, guard: { version: 1 } },
          { kind: 'upsert', document: { id: 'a', version: 3 }, guard: { version: 1 } },
          { kind: 'insert', document: { id: 'a', version: 4 } },
          { kind: 'insert', document: { id: 'b', version: 1 } },
          { kind: 'delete', id: 'gone' },
          { kind: 'delete', id: 'stays', guard: { version: 2 } },
          { kind: 'upsert', document: { id: 'twice', version: 1 } },
          { kind: 'delete', id: 'twice' },
          { kind: 'insert', document: { id: 'twice', version: 2 } },
        ]);
        const all = await things.find({ filter: {}, sort: { fields: ['id'] }, limit: 10 });
        expect(all.map(({ id, version }) => `${id} ${version}`)).toEqual(['a 2', 'b 1', 'stays 1', 'twice 2']);
      });

      it('all writes of a batch are carried out, except those that a unique index refuses', async () => {
        await things.insert({ id: 'a', owner: 'o', code: 'c' });
        const many = Array.from({ length: 20 }, (_, index) => {
          const code = index === 7 ? 'c' : `c${index}`;
          return { kind: 'upsert', document: { id: `m${index}`, owner: 'o', code } } as const;
        });
        await expectDuplicateKey(things.writeMany(many), spec.name, 'by_code');
        expect(await things.count({ owner: 'o' })).toBe(20);
        expect(await things.get('m7')).toBeUndefined();
      });

      it('a batch can have thousands of writes, or none', async () => {
        const many = Array.from({ length: 2_500 }, (_, index) => ({
          id: `m${index}`,
          version: index % 10,
          words: ['x'],
        }));
        await things.writeMany(many.map((document) => ({ kind: 'upsert', document })));
        await things.writeMany([]);
        expect(await things.count({})).toBe(2_500);
        expect(await things.count({ version: 3 })).toBe(250);
        await things.writeMany(many.map(({ id }) => ({ kind: 'delete', id, guard: { version: { ne: 3 } } })));
        expect(await things.count({ words: 'x' })).toBe(250);
      });
    });

    declareDocumentStoreClaimTests(() => things);
    declareDocumentStoreQueryTests(() => things);
    declareDocumentReplacementTests(() => things);
    declareDocumentStoreScanTests(() => things);

    describe('collections', () => {
      it('a collection has the same documents each time it is opened', async () => {
        await things.insert({ id: 'a', owner: 'o', code: 'c' });
        const [again, once] = await Promise.all([
          store.collection<SampleDocument>(spec),
          store.collection<SampleDocument>(spec),
        ]);
        expect(await again.get('a')).toEqual(await once.get('a'));
        expect(await again.count({})).toBe(1);
      });

      it('concurrent callers create a collection only once', async () => {
        const fresh = createSampleCollectionSpec();
        const made = await Promise.all(Array.from({ length: 10 }, () => store.collection<SampleDocument>(fresh)));
        await Promise.all(made.map((collection, index) => collection.insert({ id: String(index) })));
        expect(await made[0]?.count({})).toBe(10);
      });

      it('collections are listed by a prefix of their names', async () => {
        const other = { ...spec, name: `${spec.name}x` };
        await store.collection(other);
        expect([...(await store.listCollectionNames(spec.name))].sort()).toEqual([spec.name, other.name]);
        expect(await store.listCollectionNames(`${spec.name}_`)).toEqual([]);
      });

      it('dropping a collection deletes all its documents', async () => {
        await things.insert({ id: 'a', owner: 'o', code: 'c', words: ['x'] });
        await store.dropCollection(spec.name);
        await store.dropCollection(spec.name);
        expect(await store.listCollectionNames(spec.name)).toEqual([]);
        const anew = await store.collection<SampleDocument>(spec);
        expect(await anew.count({})).toBe(0);
        expect(await anew.insert({ id: 'b', owner: 'o', code: 'c', words: ['x'] })).toBe(true);
        expect(listIds(await anew.find({ filter: { words: 'x' }, limit: 10 }))).toEqual(['b']);
      });

      it('a collection has the same results with a shard key', async () => {
        const sharded = await store.collection<SampleDocument>(createSampleCollectionSpec({ shardKey: ['owner'] }));
        expect(await sharded.upsert({ id: 'a', owner: 'o', version: 1 })).toBe(true);
        expect(await sharded.upsert({ id: 'a', owner: 'o', version: 2 }, { version: 1 })).toBe(true);
        expect(await sharded.upsert({ id: 'a', owner: 'o', version: 3 }, { version: 1 })).toBe(false);
        expect(await sharded.insert({ id: 'a', owner: 'o' })).toBe(false);
        await sharded.writeMany([
          { kind: 'upsert', document: { id: 'b', owner: 'p', version: 1 }, guard: { version: { lt: 1 } } },
          { kind: 'upsert', document: { id: 'c', owner: 'p', version: 1 } },
          { kind: 'delete', id: 'c', guard: { owner: 'p', version: 1 } },
        ]);
        const [first, second] = await Promise.all([
          sharded.get('a', { owner: ['o'] }),
          sharded.get('b', { owner: ['p'] }),
        ]);
        expect([first?.version, second?.version]).toEqual([2, 1]);
        expect(listIds(await sharded.getMany(['a', 'b', 'c'], { owner: ['o', 'p'] })).sort()).toEqual(['a', 'b']);
        const shards = { owner: ['o'] };
        expect(listIds(await sharded.find({ filter: { version: 2 }, limit: 5, shards }))).toEqual(['a']);
        expect(await sharded.count({ version: { gt: 0 }, owner: 'o' }, { shards })).toBe(1);
        expect(await sharded.claim({ filter: { version: 2 } }, { version: 4 })).toMatchObject({ id: 'a', version: 4 });
        expect(await sharded.replace({ id: 'a', owner: 'o', version: 5 }, { owner: 'o', version: 4 })).toBe(true);
        expect(await sharded.delete('a', { owner: 'o', version: 5 })).toBe(true);
      });

      it('a collection gets indexes that are added to its definition later', async () => {
        await things.insert({ id: 'a', note: 'n', words: ['x'] });
        await things.insert({ id: 'b', note: 'm' });
        const indexes = [...spec.indexes, { name: 'by_note', fields: ['note'], unique: true }];
        const grown = await store.collection<SampleDocument>({ ...spec, indexes });
        await expectDuplicateKey(grown.insert({ id: 'c', note: 'n' }), spec.name, 'by_note');
        expect(listIds(await grown.find({ filter: { note: 'm' }, limit: 10 }))).toEqual(['b']);
        expect(listIds(await grown.find({ filter: { words: 'x' }, limit: 10 }))).toEqual(['a']);
      });
    });

    describe('durability', () => {
      for (const durability of ['durable', 'ordered', 'derived'] as const) {
        it(`the store has every written document after a restart, ${durability}`, async () => {
          spec = createSampleCollectionSpec({ durability });
          things = await store.collection<SampleDocument>(spec);
          const thing = { id: 'a', owner: 'o', code: 'c', words: ['x', 'y'], rank: 1 };
          await things.insert(thing);
          store = await subject.closeAndReopenAdapter();
          things = await store.collection<SampleDocument>(spec);
          expect(await things.find({ filter: { words: 'y' }, limit: 10 })).toEqual([thing]);
          await expectDuplicateKey(things.insert({ ...thing, id: 'b' }), spec.name, 'by_code');
        });
      }

      it('durability depends on the writes; a collection has the same documents whichever durability it is opened with', async () => {
        const ordered = await store.collection<SampleDocument>({ ...spec, durability: 'ordered' });
        await ordered.insert({ id: 'a', owner: 'o', version: 1 });
        expect(await things.replace({ id: 'a', owner: 'o', version: 2 }, { version: 1 })).toBe(true);
        expect(await ordered.find({ filter: { owner: 'o' }, limit: 10 })).toMatchObject([{ id: 'a', version: 2 }]);
      });

      testIfSupported(subject.simulateCrash !== undefined, CRASH_UNSUPPORTED_REASON)(
        'the store has every acknowledged write after a crash',
        async () => {
          await things.insert({ id: 'a', owner: 'o', code: 'c', words: ['x'] });
          await things.writeMany([{ kind: 'upsert', document: { id: 'b', words: ['x'] } }]);
          store = (await subject.simulateCrash?.()) ?? store;
          things = await store.collection<SampleDocument>(spec);
          expect(listIds(await things.find({ filter: { words: 'x' }, limit: 10 })).sort()).toEqual(['a', 'b']);
          await expectDuplicateKey(things.insert({ id: 'z', owner: 'o', code: 'c' }), spec.name, 'by_code');
        },
      );
    });
  });
}

import { randomUUID } from 'node:crypto';
import { DuplicateKeyError, UnavailableError, type DocumentStore } from '@tracking/ports';
import { createMongoConnectionSubject, describeWithMongo } from '../../test/mongodb/mongo-subject.ts';
import type { MongoConnection } from './mongo-connection.ts';
import { MongoDocumentStore } from './mongo-document-store.ts';

interface TestDocument {
  readonly id: string;
  readonly owner?: string;
  readonly words?: readonly string[];
  readonly metadata?: object;
}

describeWithMongo('documents in MongoDB', () => {
  describe('documents in MongoDB', () => {
    const subject = createMongoConnectionSubject();
    let connection: MongoConnection;
    /** Store of the set-up, which may change indexes. */
    let store: DocumentStore;
    let name: string;
    beforeAll(async () => {
      connection = await subject.openTestedAdapter();
      store = new MongoDocumentStore(connection, { canChangeIndexes: true });
    });
    afterAll(() => subject.close());
    beforeEach(() => void (name = `things-${randomUUID()}`));

    it('keep keys chosen by clients', async () => {
      const things = await store.collection<TestDocument>({ name, indexes: [] });
      const metadata = JSON.parse(
        '{"$ref": "a", "$id": "b", "_bsontype": "ObjectId", "a.b": "c", "": "d", "__proto__": "e", "n\\u0000": 1}',
      ) as object;
      await things.insert({ id: '$a.b', metadata });
      await things.writeMany([{ kind: 'upsert', document: { id: 'b', metadata: { inner: metadata } } }]);
      expect(JSON.stringify((await things.get('$a.b'))?.metadata)).toBe(JSON.stringify(metadata));
      expect(JSON.stringify((await things.get('b'))?.metadata)).toBe(JSON.stringify({ inner: metadata }));
      const claimed = await things.claim({ filter: { id: 'b' } }, { metadata });
      expect(JSON.stringify(claimed?.metadata)).toBe(JSON.stringify(metadata));
    });

    it('get a new version of an index by the set-up, which later drops the earlier one', async () => {
      const earlier = { name: 'by_owner', fields: ['owner', 'words'] };
      const things = await store.collection<TestDocument>({ name, indexes: [earlier] });
      await things.insert({ id: 'a', owner: 'o' });
      const later = { name, indexes: [{ name: 'by_owner', fields: ['owner'], version: 2 }] };
      const service = new MongoDocumentStore(connection);
      await expect(service.collection(later)).rejects.toBeInstanceOf(UnavailableError);
      const query = { filter: { owner: 'o' }, index: 'by_owner', limit: 5 };
      const changed = await store.collection<TestDocument>(later);
      expect(await changed.find(query)).toHaveLength(1);
      // Replicas of the previous release still use the earlier version.
      expect(await things.find(query)).toHaveLength(1);
      expect(await (await service.collection(later)).find(query)).toHaveLength(1);
      await new MongoDocumentStore(connection, { canChangeIndexes: true }).collection(later);
      expect(await changed.find(query)).toHaveLength(1);
      await expect(things.find(query)).rejects.toBeInstanceOf(UnavailableError);
    });

    it('are refused by the new version of a unique index, and no longer by the earlier one', async () => {
      const earlier = { name: 'by_owner', fields: ['owner'], unique: true };
      const things = await store.collection<TestDocument>({ name, indexes: [earlier] });
      await things.insert({ id: 'a', owner: 'o', words: ['x'] });
      const later = { ...earlier, fields: ['owner', 'words'], arrayField: 'words', version: 2 };
      const changed = await store.collection<TestDocument>({ name, indexes: [later] });
      expect(await changed.insert({ id: 'b', owner: 'o', words: ['y'] })).toBe(true);
      await expect(changed.insert({ id: 'c', owner: 'o', words: ['x'] })).rejects.toMatchObject({ index: 'by_owner' });
    });

    it('keep their indexes if the set-up runs several times at the same time', async () => {
      const indexes = [{ name: 'by_owner', fields: ['owner'], version: 2 }];
      await store.collection<TestDocument>({ name, indexes: [{ name: 'by_owner', fields: ['owner', 'words'] }] });
      const runs = Array.from({ length: 5 }, () => new MongoDocumentStore(connection, { canChangeIndexes: true }));
      const [things] = await Promise.all(runs.map((run) => run.collection<TestDocument>({ name, indexes })));
      expect(await things?.find({ filter: { owner: 'o' }, index: 'by_owner', limit: 5 })).toEqual([]);
    });

    it('refuse a unique index that existing documents violate', async () => {
      const things = await store.collection<TestDocument>({ name, indexes: [] });
      await things.insert({ id: 'a', owner: 'o' });
      await things.insert({ id: 'b', owner: 'o' });
      const indexes = [{ name: 'by_owner', fields: ['owner'], unique: true }];
      await expect(store.collection<TestDocument>({ name, indexes })).rejects.toBeInstanceOf(DuplicateKeyError);
    });

    it('can have empty arrays under a unique index', async () => {
      const indexes = [{ name: 'by_word', fields: ['words'], arrayField: 'words', unique: true }];
      const things = await store.collection<TestDocument>({ name, indexes });
      expect(await things.insert({ id: 'a', words: [] })).toBe(true);
      expect(await things.insert({ id: 'b', words: [] })).toBe(true);
      expect(await things.insert({ id: 'c', words: ['x', 'y'] })).toBe(true);
      await expect(things.insert({ id: 'd', words: ['y'] })).rejects.toMatchObject({ index: 'by_word' });
    });

    it('match bounds by one element, with and without an index', async () => {
      const byWord = { name: 'by_word', fields: ['words'], arrayField: 'words' };
      for (const indexes of [[], [byWord]]) {
        const things = await store.collection<TestDocument>({ name: `${name}-${indexes.length}`, indexes });
        await things.insert({ id: 'around', words: ['a', 'z'] });
        await things.insert({ id: 'within', words: ['a', 'n', 'z'] });
        const found = await things.find({ filter: { words: { gte: 'm', lt: 'o' } }, limit: 5 });
        expect(found.map(({ id }) => id)).toEqual(['within']);
      }
    });

    it('read one by one at the same time are returned to their callers', async () => {
      const things = await store.collection<TestDocument>({ name, indexes: [] });
      const ids = Array.from({ length: 50 }, (_, at) => `thing-${at}`);
      await things.writeMany(ids.map((id) => ({ kind: 'insert', document: { id, owner: `of ${id}` } })));
      const asked = [...ids, 'nothing', 'thing-0'];
      const found = await Promise.all(asked.map((id) => things.get(id)));
      const owners = [...ids.map((id) => `of ${id}`), undefined, 'of thing-0'];
      expect(found.map((thing) => thing?.owner)).toEqual(owners);
      await things.upsert({ id: 'thing-1', owner: 'another' });
      expect((await things.get('thing-1'))?.owner).toBe('another');
    });

    it('that are too large are permanently refused', async () => {
      const things = await store.collection<TestDocument>({ name, indexes: [] });
      const refusal = things.insert({ id: 'a', owner: 'x'.repeat(17 * 1024 * 1024) });
      await expect(refusal).rejects.toThrow('document store: refused');
      expect(await things.insert({ id: 'a' })).toBe(true);
    });
  });
});

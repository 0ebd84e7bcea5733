import type { CollectionSpec, Query, IndexScanQuery } from '@tracking/ports';
import { generateNearlyMatchingDocuments } from '@tracking/testing';
import type { FindOptions } from 'mongodb';
import { createMongoConnectionSubject } from '../../test/mongodb/mongo-subject.ts';
import { declareQueryPlanTestsIfSupported, listPlanStages } from '../../test/mongodb/query-plans.ts';
import type { MongoConnection } from './mongo-connection.ts';
import { MongoDocumentStore } from './mongo-document-store.ts';
import { toMongoQuery, toMongoSort, createScanDocumentsFilter, createScanIndexFilter } from './mongo-filter.ts';
import { toMongoHint } from './mongo-indexes.ts';

const THINGS: CollectionSpec = {
  name: 'things',
  indexes: [
    { name: 'by_time', fields: ['owner', 'made_at', 'id'] },
    { name: 'by_status', fields: ['owner', 'status', 'made_at', 'id', 'kind'] },
    { name: 'by_word', fields: ['owner', 'words', 'active'], arrayField: 'words' },
    { name: 'by_term', fields: ['owner', 'terms', 'made_at', 'id'], arrayField: 'terms' },
  ],
};
const EACH = 200;
const newest = { fields: ['made_at', 'id'], descending: true };

/** One query of each kind that the product uses. */
const QUERIES: readonly [string, Query, string][] = [
  ['a list', { filter: { owner: 'o' }, sort: newest, limit: 20 }, 'by_time'],
  ['its next page', { filter: { owner: 'o' }, sort: newest, after: ['2026', 'x'], limit: 20 }, 'by_time'],
  ['one status', { filter: { owner: 'o', status: 's' }, sort: newest, limit: 20 }, 'by_status'],
  ['old ones', { filter: { owner: 'o', status: 's', made_at: { lt: '2026' } }, sort: newest, limit: 20 }, 'by_status'],
  ['one status and kind', { filter: { owner: 'o', status: 's', kind: 'k' }, sort: newest, limit: 20 }, 'by_status'],
  ['an element', { filter: { owner: 'o', words: 'w', active: true }, limit: 5 }, 'by_word'],
  [
    'some elements, but for one thing',
    { filter: { owner: 'o', words: { in: ['v', 'w', 'x'] }, active: true, id: { ne: 'd000000' } }, limit: 5 },
    'by_word',
  ],
  [
    'elements, by a named index',
    { filter: { owner: 'o', terms: { all: ['v', 'w'] } }, limit: 5, index: 'by_term' },
    'by_term',
  ],
  [
    'the beginning of an element and another, by a named index',
    { filter: { owner: 'o', terms: { all: [{ gte: 'v', lt: 'w' }, 'x'] } }, limit: 5, index: 'by_term' },
    'by_term',
  ],
  [
    'an element and one of others, by a named index',
    { filter: { owner: 'o', terms: { all: ['v', { in: ['w', 'x'] }] } }, limit: 5, index: 'by_term' },
    'by_term',
  ],
  [
    'some kinds of one status, by a named index',
    { filter: { owner: 'o', status: 's', kind: { in: ['k', 'l'] } }, sort: newest, limit: 20, index: 'by_status' },
    'by_status',
  ],
  [
    'elements of what is walked in an order',
    { filter: { owner: 'o', terms: { all: ['v', 'w'] } }, sort: newest, limit: 20, index: 'by_time' },
    'by_time',
  ],
];

const stretch = { sort: newest, limit: 20, visit: 50 };
const SCANS: readonly [string, IndexScanQuery][] = [
  ['an index', { ...stretch, index: 'by_time', filter: { owner: 'o', kind: 'k' } }],
  ['an index, going on', { ...stretch, index: 'by_time', filter: { owner: 'o' }, after: ['2026', 'x'] }],
  ['a range of an index', { ...stretch, index: 'by_status', filter: { owner: 'o', status: 's', kind: 'k' } }],
  ['an element’s postings', { ...stretch, index: 'by_term', filter: { owner: 'o', terms: 'v' } }],
  [
    'an element’s postings, of those with others',
    { ...stretch, index: 'by_term', filter: { owner: 'o', terms: { all: ['v', 'w'] } } },
  ],
];

// Only a real MongoDB reports the number of visited keys and documents.
declareQueryPlanTestsIfSupported('query plans in MongoDB', () => {
  describe('query plans in MongoDB', () => {
    const subject = createMongoConnectionSubject();
    let connection: MongoConnection;
    beforeAll(async () => void (connection = await subject.openTestedAdapter()));
    afterAll(() => subject.close());

    it.each(QUERIES)('of %s use an index and sort nothing', async (_title, query, index) => {
      const store = new MongoDocumentStore(connection);
      await store.dropCollection(THINGS.name);
      const things = await store.collection(THINGS);
      await things.writeMany(
        generateNearlyMatchingDocuments(THINGS, query, EACH).map((document) => ({ kind: 'insert', document })),
      );
      expect(await things.find(query)).toHaveLength(query.limit);
      const { sort, limit, index: named } = query;
      const hint = named === undefined ? {} : { hint: toMongoHint(THINGS, named) };
      await expectIndex(toMongoQuery(THINGS, query), { sort: toMongoSort(sort), limit, ...hint }, index);
    });

    it.each(SCANS)(
      'of a scan of %s: its end and its documents use the index and sort nothing',
      async (_title, scan) => {
        const store = new MongoDocumentStore(connection);
        await store.dropCollection(THINGS.name);
        const things = await store.collection(THINGS);
        await things.writeMany(
          generateNearlyMatchingDocuments(THINGS, scan, EACH).map((document) => ({ kind: 'insert', document })),
        );
        expect((await things.scan(scan)).next).toBeDefined();
        const options = { sort: toMongoSort(scan.sort), hint: toMongoHint(THINGS, scan.index) };
        await expectIndex(
          createScanIndexFilter(THINGS, scan),
          { ...options, skip: scan.visit - 1, limit: 1 },
          scan.index,
        );
        await expectIndex(
          createScanDocumentsFilter(THINGS, scan, ['2027', 'z']),
          { ...options, limit: 20 },
          scan.index,
        );
      },
    );

    async function expectIndex(filter: object, options: FindOptions, index: string): Promise<void> {
      const explained = await connection.runOnDatabase((database) =>
        database.collection(THINGS.name).find(filter, options).explain(),
      );
      const stages = listPlanStages(explained);
      const isOfArray = THINGS.indexes.some(({ name, arrayField }) => name === index && arrayField !== undefined);
      expect(stages.flatMap(({ indexName }) => indexName ?? [])).toEqual([index]);
      expect(stages.map(({ stage }) => stage)).not.toContain('COLLSCAN');
      // The test engine does not sort by an index of arrays; MongoDB does if the arrays are not sort fields.
      if (!isOfArray) expect(stages.map(({ stage }) => stage)).not.toContain('SORT');
    }
  });
});

import type { CollectionSpec, Query } from '@tracking/ports';
import { nearMisses } from '@tracking/testing';
import { connectionSubject, whereMongo } from '../../test/mongodb/mongo-subject.ts';
import type { MongoConnection } from './mongo-connection.ts';
import { MongoDocumentStore } from './mongo-document-store.ts';
import { mongoQuery, mongoSort } from './mongo-filter.ts';

const THINGS: CollectionSpec = {
  name: 'things',
  indexes: [
    { name: 'by_time', fields: ['owner', 'made_at', 'id'] },
    { name: 'by_status', fields: ['owner', 'status', 'made_at', 'id', 'kind'] },
    { name: 'by_word', fields: ['owner', 'words', 'active'], arrayField: 'words' },
  ],
};
const EACH = 200;
const newest = { fields: ['made_at', 'id'], descending: true };

/** Of each kind that there is in the product. */
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
];

interface PlanStage {
  readonly stage: string;
  readonly indexName?: string;
  readonly inputStage?: PlanStage;
  readonly inputStages?: readonly PlanStage[];
}

/** All stages of a plan. */
function stagesOf(stage: PlanStage): readonly PlanStage[] {
  return [stage, ...[stage.inputStage ?? [], stage.inputStages ?? []].flat().flatMap(stagesOf)];
}

// How many keys and documents it looks at only a real MongoDB could tell.
whereMongo('query plans in MongoDB', () => {
  describe('query plans in MongoDB', () => {
    const subject = connectionSubject();
    let connection: MongoConnection;
    beforeAll(async () => void (connection = await subject.open()));
    afterAll(() => subject.close());

    it.each(QUERIES)('of %s go by an index, and sort nothing', async (_title, query, index) => {
      const store = new MongoDocumentStore(connection);
      await store.dropCollection(THINGS.name);
      const things = await store.collection(THINGS);
      await things.writeMany(nearMisses(THINGS, query, EACH).map((document) => ({ kind: 'insert', document })));
      expect(await things.find(query)).toHaveLength(query.limit);
      const { queryPlanner } = (await connection.run((database) =>
        database
          .collection(THINGS.name)
          .find(mongoQuery(THINGS, query) as object)
          .sort(mongoSort(query.sort))
          .limit(query.limit)
          .explain(),
      )) as { queryPlanner: { winningPlan: PlanStage } };
      const stages = stagesOf(queryPlanner.winningPlan);
      expect(stages.flatMap(({ indexName }) => indexName ?? [])).toEqual([index]);
      expect(stages.map(({ stage }) => stage)).not.toContain('COLLSCAN');
      expect(stages.map(({ stage }) => stage)).not.toContain('SORT');
    });
  });
});

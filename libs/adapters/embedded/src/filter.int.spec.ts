import fc from 'fast-check';
import type { Collection, Scalar } from '@tracking/ports';
import {
  matchesCondition,
  noMetrics,
  silentLogger,
  createTempFolder,
  type StoredField,
  type TempFolder,
  choosePropertyTestRounds,
} from '@tracking/testing';
import { EmbeddedSqliteEngine } from './index.ts';

interface FilteredRow {
  readonly id: string;
  readonly plain?: StoredField;
  readonly list?: StoredField;
}

const scalar = fc.constantFrom<Scalar>(0, 1, -1, 1.5, 10, '', '0', '1', 'a', 'ab', 'b', true, false, null);
const field = fc.oneof({ weight: 4, arbitrary: scalar }, fc.constant({ a: 1 }));
const list = fc.array(scalar, { maxLength: 3 });
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 5 });
const row = fc.record({ plain: optional(field), list: optional(list) });
const bounds = fc
  .record({ gt: scalar, gte: scalar, lt: scalar, lte: scalar }, { requiredKeys: [] })
  .filter((given) => Object.keys(given).length > 0);
const condition = fc.oneof(
  scalar,
  bounds,
  fc.record({ in: fc.array(scalar, { maxLength: 3 }) }),
  fc.record({ ne: scalar }),
  fc.record({ exists: fc.boolean() }),
  fc.record({ all: fc.array(fc.oneof(scalar, bounds), { maxLength: 3 }) }),
);
const filters = fc.record({ plain: condition, list: condition }, { requiredKeys: [] });

describe('filters', () => {
  let folder: TempFolder;
  let engine: EmbeddedSqliteEngine;
  let indexed: Collection<FilteredRow>;
  let bare: Collection<FilteredRow>;
  beforeAll(async () => {
    folder = await createTempFolder();
    engine = await EmbeddedSqliteEngine.openEmbeddedEngine({
      dataDir: folder.path,
      logger: silentLogger,
      metrics: noMetrics,
    });
    const indexes = [
      { name: 'by_plain', fields: ['plain', 'id'] },
      { name: 'by_list', fields: ['list', 'id'], arrayField: 'list' },
      { name: 'by_both', fields: ['plain', 'list'], arrayField: 'list' },
    ];
    indexed = await engine.documentStore.collection<FilteredRow>({ name: 'indexed', durability: 'derived', indexes });
    bare = await engine.documentStore.collection<FilteredRow>({ name: 'bare', durability: 'derived', indexes: [] });
  });
  afterAll(async () => {
    await engine.closeEngine();
    await folder.remove();
  });

  it('match the same documents with and without indexes, as the port specifies', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 12 }),
        fc.array(filters, { minLength: 1, maxLength: 8 }),
        async (rows, asked) => {
          const documents = rows.map(
            (fields, index) => JSON.parse(JSON.stringify({ ...fields, id: `r${index}` })) as FilteredRow,
          );
          for (const collection of [indexed, bare]) {
            const old = await collection.find({ filter: {}, limit: 100 });
            await collection.writeMany(old.map(({ id }) => ({ kind: 'delete', id })));
            await collection.writeMany(documents.map((document) => ({ kind: 'insert', document })));
          }
          for (const filter of asked) {
            const expected = documents.filter((document) =>
              Object.entries(filter).every(([name, given]) =>
                matchesCondition(document[name as 'plain' | 'list'], given),
              ),
            );
            for (const collection of [indexed, bare]) {
              const found = await collection.find({ filter, sort: { fields: ['id'] }, limit: 100 });
              expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id).sort());
              expect(await collection.count(filter)).toBe(expected.length);
            }
          }
        },
      ),
      { numRuns: choosePropertyTestRounds(60) },
    );
  }, 60_000);
});

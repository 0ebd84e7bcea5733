import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Filter } from '@tracking/ports';
import { tempFolder, type TempFolder } from '@tracking/testing';
import { openTestEngine } from './testing.ts';

interface Thing {
  readonly id: string;
  readonly owner?: string;
  readonly words?: readonly string[];
  readonly aliases?: readonly string[];
}

const SPEC = {
  name: 'things',
  indexes: [
    { name: 'by_owner', fields: ['owner', 'id'] },
    { name: 'by_word', fields: ['owner', 'words'], arrayField: 'words' },
    { name: 'by_alias', fields: ['owner', 'aliases'], arrayField: 'aliases', unique: true },
  ],
};
const THINGS: readonly Thing[] = [
  { id: 'a', owner: 'o', words: ['red', 'round'], aliases: ['x'] },
  { id: 'b', owner: 'o', words: ['red'] },
  { id: 'c', words: ['green'], aliases: ['x', 'y'] },
  { id: 'd', owner: 'p' },
];

/** As version 1 of the schema had arrays: a table without order, and an index for each way to come to its rows. */
function toVersion1(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(`
    DROP TABLE "array:things:by_word";
    DROP TABLE "array:things:by_alias";
    CREATE TABLE "array:things:by_word" ("f_owner","f_words",id TEXT NOT NULL);
    CREATE INDEX "index:array:things:by_word:id" ON "array:things:by_word" (id);
    CREATE INDEX "index:array:things:by_word" ON "array:things:by_word" ("f_owner","f_words");
    INSERT INTO "array:things:by_word" VALUES
      ('o', 'red', 'a'), ('o', 'round', 'a'), ('o', 'red', 'b'), (NULL, 'green', 'c');
    CREATE TABLE "array:things:by_alias" ("f_owner","f_aliases",id TEXT NOT NULL);
    CREATE INDEX "index:array:things:by_alias:id" ON "array:things:by_alias" (id);
    CREATE UNIQUE INDEX "index:array:things:by_alias" ON "array:things:by_alias" ("f_owner","f_aliases");
    INSERT INTO "array:things:by_alias" VALUES ('o', 'x', 'a'), (NULL, 'x', 'c'), (NULL, 'y', 'c');
  `);
  const spec = JSON.stringify({ name: SPEC.name, indexes: SPEC.indexes });
  database.prepare('UPDATE collections SET spec = ?').run(spec);
  database.exec('PRAGMA user_version = 1');
  database.close();
}

describe('a data folder of an earlier version', () => {
  let folder: TempFolder;
  const open = () => openTestEngine(folder.path);
  beforeEach(async () => {
    folder = await tempFolder();
    const engine = await open();
    const things = await engine.documentStore.collection<Thing>(SPEC);
    await things.writeMany(THINGS.map((document) => ({ kind: 'insert', document })));
    await engine.close();
    toVersion1(join(folder.path, 'storage.db'));
  });
  afterEach(() => folder.remove());

  it('has its indexes of arrays made anew', async () => {
    for (let start = 0; start < 2; start += 1) {
      const engine = await open();
      const things = await engine.documentStore.collection<Thing>(SPEC);
      const ids = async (filter: Filter) => (await things.find({ filter, limit: 9 })).map(({ id }) => id).sort();
      expect(await ids({ owner: 'o', words: 'red' })).toEqual(['a', 'b']);
      expect(await ids({ words: 'green' })).toEqual(['c']);
      expect(await ids({ owner: 'o', aliases: 'x' })).toEqual(['a']);
      await expect(things.insert({ id: 'e', owner: 'o', aliases: ['x'] })).rejects.toMatchObject({ index: 'by_alias' });
      expect(await things.count({})).toBe(4);
      await engine.close();
    }
  });

  it('goes on to be written to', async () => {
    const engine = await open();
    const things = await engine.documentStore.collection<Thing>(SPEC);
    await things.upsert({ id: 'a', owner: 'o', words: ['round', 'new'] });
    await things.delete('b');
    expect(await things.count({ owner: 'o', words: 'red' })).toBe(0);
    expect(await things.count({ owner: 'o', words: 'new' })).toBe(1);
    expect(await things.insert({ id: 'e', owner: 'o', aliases: ['x'] })).toBe(true);
    await engine.close();
  });

  it('may have collections dropped that nobody opened', async () => {
    const engine = await open();
    await engine.documentStore.dropCollection('things');
    expect(await engine.documentStore.collectionNames('')).toEqual([]);
    const things = await engine.documentStore.collection<Thing>(SPEC);
    expect(await things.count({ words: 'green' })).toBe(0);
    await engine.close();
  });
});

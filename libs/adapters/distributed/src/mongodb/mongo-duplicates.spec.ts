import { DuplicateKeyError, UnavailableError, type Document } from '@tracking/ports';
import { noMetrics, readMongoCommandName } from '@tracking/testing';
import { type CommandHandler, MongoStub } from '../../test/mongodb/mongo-stub.ts';
import { MongoCollection } from './mongo-collection.ts';
import { MongoConnection } from './mongo-connection.ts';

interface Thing extends Document {
  readonly owner?: string;
}

const SPEC = {
  name: 'things',
  indexes: [
    { name: 'owners', fields: ['owner'] },
    { name: 'by_owner', fields: ['owner'], unique: true },
    { name: 'by_owner_and_id', fields: ['owner', 'id'], unique: true, version: 3 },
  ],
};
const keyText = (index: string, between = '') =>
  `E11000 duplicate key error collection: tracking.things index: ${index} ${between}dup key: { owner: "o" }`;
const COLLATION = 'collation: { locale: "en", caseLevel: false, strength: 2, version: "57.1" } ';
const UNREADABLE = 'Duplicate key violation on the requested collection';

/** Error of a write, as MongoDB reports it since version 4.2. */
const writeError = (errmsg: string, keyPattern?: object) => ({
  ...(keyPattern && { keyPattern, keyValue: { owner: 'o' } }),
  index: 0,
  code: 11_000,
  errmsg,
});
const refusalOf = (errmsg: string, keyPattern?: object) => ({
  n: 0,
  nModified: 0,
  writeErrors: [writeError(errmsg, keyPattern)],
  ok: 1,
});

describe('a duplicate key', () => {
  let stub: MongoStub;
  let connection: MongoConnection;
  let things: MongoCollection<Thing>;

  /** Opens the collection on a server that responds in this way to writes. */
  async function openThings(respond: CommandHandler): Promise<void> {
    const isWrite = (command: object) => /^(insert|update|findAndModify)$/.test(readMongoCommandName(command));
    const writes: object[] = [];
    stub = await MongoStub.startMongoStub((command) => {
      if (!isWrite(command)) return undefined;
      if (writes.push(command) > 50) return { ok: 0, code: 8_000, errmsg: 'the adapter repeats a write for ever' };
      return respond(command);
    });
    connection = new MongoConnection({ url: stub.formatMongoConnectionString(), metrics: noMetrics });
    things = new MongoCollection<Thing>(SPEC, connection);
  }

  afterEach(async () => {
    await connection.closeConnection();
    await stub.closeMongoStub();
  });

  it.each([
    ['its key pattern, whatever the text', UNREADABLE, { owner: 1 }, 'by_owner'],
    ['its key pattern of several fields', UNREADABLE, { owner: 1, _id: 1 }, 'by_owner_and_id'],
    ['the text, if no index of the collection has the key pattern', keyText('by_hand'), { hand: 1 }, 'by_hand'],
    ['the text', keyText('by_owner'), undefined, 'by_owner'],
    ['the text of an index of a later version', keyText('by_owner_and_id.v3'), undefined, 'by_owner_and_id'],
    ['the text of an index with a collation', keyText('by_owner', COLLATION), undefined, 'by_owner'],
  ])('names the index by %s', async (_title, errmsg, keyPattern, index) => {
    await openThings(({ findAndModify }) =>
      findAndModify === undefined
        ? refusalOf(errmsg, keyPattern)
        : { ok: 0, code: 11_000, codeName: 'DuplicateKey', errmsg, ...(keyPattern && { keyPattern }) },
    );
    const refusal = new DuplicateKeyError('things', index);
    const thing = { id: 'a', owner: 'o' };
    await expect(things.insert(thing)).rejects.toEqual(refusal);
    await expect(things.upsert(thing)).rejects.toEqual(refusal);
    await expect(things.replace(thing)).rejects.toEqual(refusal);
    await expect(things.claim({ filter: { id: 'a' } }, { owner: 'o' })).rejects.toEqual(refusal);
    // The driver keeps only the text of the errors of a bulk. Without a readable text, the write is repeated alone.
    await expect(things.writeMany([{ kind: 'upsert', document: thing }])).rejects.toEqual(refusal);
    await expect(things.writeMany([{ kind: 'insert', document: thing }])).rejects.toEqual(refusal);
  });

  it.each([
    ['its key pattern', UNREADABLE, { _id: 1 }],
    ['the key pattern of a hashed index', UNREADABLE, { _id: 'hashed' }],
    ['the text', keyText('_id_'), undefined],
  ])('of the id is recognized by %s', async (_title, errmsg, keyPattern) => {
    await openThings(() => refusalOf(errmsg, keyPattern));
    expect(await things.insert({ id: 'a' })).toBe(false);
    expect(await things.upsert({ id: 'a' }, { owner: 'o' })).toBe(false);
    await things.writeMany([{ kind: 'insert', document: { id: 'a' } }]);
    await things.writeMany([{ kind: 'upsert', document: { id: 'a' }, guard: { owner: 'o' } }]);
  });

  it('of an unknown index is an error, and never counts as an existing id', async () => {
    await openThings(() => refusalOf(UNREADABLE));
    const refusal = { name: 'Error', message: 'document store: refused (duplicate key of an unknown index)' };
    await expect(things.insert({ id: 'a' })).rejects.toMatchObject(refusal);
    await expect(things.upsert({ id: 'a' })).rejects.toMatchObject(refusal);
    await expect(things.upsert({ id: 'a' }, { owner: 'o' })).rejects.toMatchObject(refusal);
    await expect(things.writeMany([{ kind: 'insert', document: { id: 'a' } }])).rejects.toMatchObject(refusal);
    await expect(things.writeMany([{ kind: 'upsert', document: { id: 'a' } }])).rejects.toMatchObject(refusal);
  });

  it('of the id ends an upsert without a guard after some attempts', async () => {
    await openThings(() => refusalOf(keyText('_id_'), { _id: 1 }));
    const end = new UnavailableError('document store', 'other writes change the document all the time');
    await expect(things.upsert({ id: 'a' })).rejects.toEqual(end);
    await expect(things.writeMany([{ kind: 'upsert', document: { id: 'a' } }])).rejects.toEqual(end);
  });
});

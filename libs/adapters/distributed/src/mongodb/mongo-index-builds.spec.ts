import { DuplicateKeyError, UnavailableError, type CollectionSpec, type IndexSpec } from '@tracking/ports';
import { noMetrics, readMongoCommandName } from '@tracking/testing';
import { UUID } from 'mongodb';
import { type CommandHandler, createCursorReply, MongoStub } from '../../test/mongodb/mongo-stub.ts';
import { MongoConnection } from './mongo-connection.ts';
import { MongoDocumentStore } from './mongo-document-store.ts';

const BY_OWNER: IndexSpec = { name: 'by_owner', fields: ['owner'], version: 2 };
const specOf = (...indexes: IndexSpec[]): CollectionSpec => ({ name: 'things', indexes });
const ID_ON_SERVER = { v: 2, key: { _id: 1 }, name: '_id_' };
const V1_ON_SERVER = { v: 2, key: { owner: 1, id: 1 }, name: 'by_owner' };
const V2_ON_SERVER = { v: 2, key: { owner: 1 }, name: 'by_owner.v2' };
const V3_ON_SERVER = { v: 2, key: { owner: -1 }, name: 'by_owner.v3' };
const isListedAsBuilt = (command: object) => !('includeBuildUUIDs' in command && command.includeBuildUUIDs === true);
/** Response of a server that builds the second version: it lists the index, and marks it only if asked. */
const listWhileBuilding = (command: object) => {
  if (!('listIndexes' in command)) return undefined;
  const building = isListedAsBuilt(command) ? V2_ON_SERVER : { spec: V2_ON_SERVER, buildUUID: new UUID() };
  return createCursorReply(ID_ON_SERVER, V1_ON_SERVER, building);
};
const NO_SUCH_INDEX = { ok: 0, code: 27, codeName: 'IndexNotFound', errmsg: 'index not found with name [by_owner]' };

describe('index changes', () => {
  let stub: MongoStub;
  let connection: MongoConnection;
  afterEach(async () => {
    await connection.closeConnection();
    await stub.closeMongoStub();
  });

  /**
   * Opens stores on a server whose collection contains a document and these indexes.
   * @param respond responses that differ from those of a server that performs every command
   */
  async function connect(indexes: readonly object[], respond: CommandHandler = () => undefined) {
    stub = await MongoStub.startMongoStub((command) => {
      const reply = respond(command);
      if (reply !== undefined) return reply;
      if ('create' in command) return { ok: 0, code: 48, codeName: 'NamespaceExists', errmsg: 'already exists' };
      if ('listIndexes' in command) return createCursorReply(ID_ON_SERVER, ...indexes);
      return 'find' in command ? createCursorReply({ _id: 'a' }) : undefined;
    });
    connection = new MongoConnection({ url: stub.formatMongoConnectionString(), metrics: noMetrics });
    return {
      service: new MongoDocumentStore(connection),
      setUp: new MongoDocumentStore(connection, { canChangeIndexes: true }),
    };
  }
  const changes = () => stub.commands.filter((command) => /^(create|drop)Indexes$/.test(readMongoCommandName(command)));

  it('build the new version, by a majority of the members, and leave the earlier one to the next run', async () => {
    const { setUp } = await connect([V1_ON_SERVER]);
    await setUp.collection(specOf(BY_OWNER));
    const index = { name: 'by_owner.v2', key: { owner: 1 } };
    expect(changes()).toMatchObject([{ createIndexes: 'things', indexes: [index], commitQuorum: 'majority' }]);
  });

  it('wait for the build of an earlier run, and leave the earlier version to the next run', async () => {
    const { setUp } = await connect([], listWhileBuilding);
    await setUp.collection(specOf(BY_OWNER));
    expect(changes()).toMatchObject([{ createIndexes: 'things', indexes: [{ name: 'by_owner.v2' }] }]);
  });

  it('make services wait until the index is built, because queries cannot use it before', async () => {
    const { service } = await connect([], listWhileBuilding);
    const reason = 'the collection things lacks the index by_owner.v2; run the set-up';
    await expect(service.collection(specOf(BY_OWNER))).rejects.toMatchObject({ name: 'Unavailable', reason });
    expect(changes()).toEqual([]);
  });

  it('drop the earlier version if the new one was already there', async () => {
    const { setUp } = await connect([V1_ON_SERVER, V2_ON_SERVER]);
    await setUp.collection(specOf(BY_OWNER));
    expect(changes()).toMatchObject([{ dropIndexes: 'things', index: 'by_owner' }]);
  });

  it('drop the earlier version of a unique index after the build, because it may refuse writes', async () => {
    const { setUp } = await connect([{ ...V1_ON_SERVER, unique: true }]);
    await setUp.collection(specOf({ ...BY_OWNER, unique: true }));
    expect(changes()).toMatchObject([{ createIndexes: 'things' }, { dropIndexes: 'things', index: 'by_owner' }]);
  });

  it('never drop the version of a newer release', async () => {
    const { setUp } = await connect([V2_ON_SERVER, V3_ON_SERVER]);
    await setUp.collection(specOf(BY_OWNER));
    expect(changes()).toEqual([]);
  });

  it('accept that another run has dropped the earlier version', async () => {
    const isDrop = (command: object) => 'dropIndexes' in command;
    const { setUp } = await connect([V1_ON_SERVER, V2_ON_SERVER], (command) =>
      isDrop(command) ? NO_SUCH_INDEX : undefined,
    );
    await setUp.collection(specOf(BY_OWNER));
  });

  it('are left to the set-up by services, which report the missing index until then', async () => {
    const { service } = await connect([V1_ON_SERVER]);
    const error: unknown = await service.collection(specOf(BY_OWNER)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).toMatchObject({ reason: 'the collection things lacks the index by_owner.v2; run the set-up' });
    expect(changes()).toEqual([]);
  });

  it('are not necessary for services whose version is there, and no service drops another version', async () => {
    const { service } = await connect([V1_ON_SERVER, V2_ON_SERVER, V3_ON_SERVER]);
    await service.collection(specOf(BY_OWNER));
    expect(changes()).toEqual([]);
  });

  it('are made by services in an empty collection', async () => {
    const { service } = await connect([], (command) => ('find' in command ? createCursorReply() : undefined));
    await service.collection(specOf(BY_OWNER));
    expect(changes()).toMatchObject([{ createIndexes: 'things', commitQuorum: 'majority' }]);
  });

  it.each(['service', 'setUp'] as const)('need a new version: otherwise the %s fails', async (role) => {
    const stores = await connect([V2_ON_SERVER]);
    for (const index of [
      { ...BY_OWNER, fields: ['owner', 'id'] },
      { ...BY_OWNER, unique: true },
    ]) {
      const opening = stores[role].collection(specOf(index));
      await expect(opening).rejects.toThrow('the index by_owner.v2 of things conflicts with an existing index');
      await expect(opening).rejects.not.toBeInstanceOf(UnavailableError);
    }
  });

  it('fail if an index of another name has the same definition', async () => {
    const conflict = {
      ok: 0,
      code: 85,
      codeName: 'IndexOptionsConflict',
      errmsg: 'Index already exists with a different name: owners',
    };
    const { setUp } = await connect([{ ...V2_ON_SERVER, name: 'owners' }], (command) =>
      'createIndexes' in command ? conflict : undefined,
    );
    await expect(setUp.collection(specOf(BY_OWNER))).rejects.toThrow('drop that index and run the set-up again');
    expect(stub.listCommandsNamed('dropIndexes')).toEqual([]);
  });

  it('fail if existing documents violate a unique index', async () => {
    const violation = {
      ok: 0,
      code: 11_000,
      codeName: 'DuplicateKey',
      errmsg: 'Index build failed: 0190: Collection tracking.things: caused by E11000 duplicate key error',
      keyPattern: { owner: 1 },
      keyValue: { owner: 'o' },
    };
    const { setUp } = await connect([], (command) => ('createIndexes' in command ? violation : undefined));
    const opening = setUp.collection(specOf({ ...BY_OWNER, unique: true }));
    await expect(opening).rejects.toEqual(new DuplicateKeyError('things', 'by_owner'));
  });

  it.each([
    'error processing query: ns=tracking.things Tree: $and planner returned error :: caused by :: hint provided does not correspond to an existing index',
    'planner returned error: bad hint',
    'hint provided does not correspond to an existing index',
  ])('make queries that name a missing index unavailable, not refused: %s', async (errmsg) => {
    const { service } = await connect([V2_ON_SERVER], (command) =>
      'hint' in command ? { ok: 0, code: 2, codeName: 'BadValue', errmsg } : undefined,
    );
    const things = await service.collection(specOf(BY_OWNER));
    const query = { filter: { owner: 'o' }, index: 'by_owner', limit: 1 };
    await expect(things.find(query)).rejects.toBeInstanceOf(UnavailableError);
    expect(await things.find({ filter: {}, limit: 1 })).toEqual([{ id: 'a' }]);
  });
});

import { type Document, UnavailableError } from '@tracking/ports';
import { noMetrics, readMongoCommandName } from '@tracking/testing';
import { createCursorReply, MongoStub } from '../../test/mongodb/mongo-stub.ts';
import { MongoCollection } from './mongo-collection.ts';
import { MongoConnection } from './mongo-connection.ts';

type Conditions = Readonly<Record<string, unknown>>;
type Command = Readonly<Record<string, unknown>> & {
  readonly updates?: readonly { readonly q: Conditions }[];
  readonly deletes?: readonly { readonly q: Conditions }[];
  readonly documents?: readonly Conditions[];
  readonly pipeline?: readonly { readonly $match: Conditions }[];
};

interface Job extends Document {
  readonly owner: string;
  readonly state: string;
  readonly rank?: number;
}

/** Returns the filters of a command, or the inserted documents, which contain their keys. */
function filtersOf(command: Command): readonly Conditions[] {
  const { updates = [], deletes = [], documents = [], pipeline = [] } = command;
  const own = [command['query'], command['filter']] as readonly (Conditions | undefined)[];
  return [
    ...own.filter((one) => one !== undefined),
    ...documents,
    ...updates.map(({ q }) => q),
    ...deletes.map(({ q }) => q),
    ...pipeline.slice(0, 1).map(({ $match }) => $match),
  ];
}

/** Returns the values that a filter allows for a field; undefined if it does not compare the field with values. */
function valuesOf(filter: Conditions, field: string): readonly unknown[] | undefined {
  const { [field]: condition, $and = [] } = filter as Conditions & { readonly $and?: readonly Conditions[] };
  const nested = $and.map((one) => valuesOf(one, field)).find((one) => one !== undefined);
  if (typeof condition === 'string') return [condition];
  const { $eq, $in } = (condition ?? {}) as { readonly $eq?: unknown; readonly $in?: readonly unknown[] };
  return $in ?? ($eq === undefined ? nested : [$eq]);
}

const WRITES = new Set(['insert', 'update', 'delete', 'findAndModify']);

describe('a sharded collection', () => {
  let stub: MongoStub;
  let connection: MongoConnection;
  let jobs: MongoCollection<Job>;
  /** Documents that the server finds, one for each query. */
  let found: object[];
  /** Ids that the server claims. */
  let free: Set<string>;

  /** Fields that the filters of a command must compare with one value each, or with several for reads. */
  const open = async (shardKey: readonly string[]) => {
    stub = await MongoStub.startMongoStub((command: Command) => {
      const name = readMongoCommandName(command);
      const filters = filtersOf(command);
      const key = WRITES.has(name) ? [...shardKey, '_id'] : shardKey;
      const isRouted = filters.every((filter) =>
        key.every((field) => (valuesOf(filter, field)?.length ?? Infinity) <= (WRITES.has(name) ? 1 : 2)),
      );
      if (!isRouted) return { ok: 0, code: 61, codeName: 'ShardKeyNotFound', errmsg: 'no shard key' };
      if (name === 'find' && found.length > 0) return createCursorReply(found.shift() ?? {});
      if (name === 'aggregate') return createCursorReply({ n: 3, sum: 3 });
      if (name !== 'findAndModify') return undefined;
      const [id] = valuesOf(filters[0] ?? {}, '_id') ?? [];
      return { value: free.has(String(id)) ? { _id: id, owner: 'o', state: 'mine' } : null, ok: 1 };
    });
    connection = new MongoConnection({ url: stub.formatMongoConnectionString(), metrics: noMetrics });
    const indexes = [
      { name: 'by_state', fields: ['state', 'rank', 'id'] },
      { name: 'by_owner', fields: ['owner', 'state', 'rank', 'id'] },
    ];
    jobs = new MongoCollection<Job>({ name: 'jobs', indexes, shardKey }, connection);
  };
  beforeEach(() => {
    [found, free] = [[], new Set()];
  });
  afterEach(async () => {
    await connection.closeConnection();
    await stub.closeMongoStub();
  });

  const job: Job = { id: 'a', owner: 'o', state: 'open', rank: 1 };
  const order = { fields: ['rank', 'id'] };
  const KEYS = [[], ['owner']];

  it.each(KEYS.map((key) => [key]))(
    'with the key %j before the id gets writes that contain the whole key',
    async (key) => {
      await open(key);
      await jobs.insert(job);
      await jobs.replace(job);
      await jobs.replace(job, { state: 'open' });
      await jobs.replace(job, { id: 'a', owner: 'o', rank: { lt: 2 } });
      await jobs.upsert(job);
      await jobs.upsert(job, { rank: { lt: 2 } });
      await jobs.upsert(job, { owner: { in: ['o', 'p'] } });
      await jobs.delete('a', { owner: 'o' });
      await jobs.delete('a', { owner: 'o', state: { in: ['open', 'done'] } });
      await jobs.writeMany([
        { kind: 'insert', document: { ...job, id: 'b' } },
        { kind: 'upsert', document: { ...job, id: 'c' }, guard: { rank: { lt: 2 } } },
        { kind: 'upsert', document: { ...job, id: 'd' } },
        { kind: 'delete', id: 'e', guard: { owner: 'o', state: 'open' } },
      ]);
      await jobs.claim({ filter: { id: 'a', owner: 'o', state: 'open' } }, { state: 'mine' });
    },
  );

  it('gets reads that contain the fields of its key before the id', async () => {
    await open(['owner']);
    const shards = { owner: ['o'] };
    await jobs.getMany(['a', 'b'], { owner: ['o', 'p'] });
    await jobs.find({ filter: { owner: 'o', state: 'open' }, limit: 5 });
    await jobs.find({ filter: { state: 'open' }, index: 'by_state', sort: order, after: [1, 'a'], limit: 5, shards });
    await jobs.findWithinByteLimit({ filter: { state: 'open' }, limit: 5, shards }, 1_000);
    await jobs.count({ state: 'open' }, { index: 'by_state', shards });
    await jobs.sum('rank', { owner: 'o' }, 'by_owner');
    // A scan also searches for the end of its range in an index that lacks the key.
    await jobs.scan({ filter: { owner: 'o', state: 'open' }, index: 'by_state', sort: order, visit: 9, limit: 5 });
    expect(stub.listCommandsNamed('find')).toHaveLength(6);
  });

  it('gets one query for all reads of documents in a turn, with the keys of all of them', async () => {
    await open(['owner']);
    await Promise.all([
      jobs.get('a', { owner: ['o'] }),
      jobs.get('b', { owner: ['p'] }),
      jobs.get('c', { owner: ['o'] }),
    ]);
    expect(stub.listCommandsNamed('find')).toMatchObject([
      { filter: { _id: { $in: ['a', 'b', 'c'] }, owner: { $in: ['o', 'p'] } } },
    ]);
  });

  it('gets a claim of the first matching document by its key, and of the next one if another claim gets it', async () => {
    await open(['owner']);
    found = ['a', 'b'].map((_id) => ({ _id, owner: 'o' }));
    free = new Set(['b']);
    const query = { filter: { owner: { in: ['o', 'p'] }, state: 'open' }, sort: order };
    expect(await jobs.claim(query, { state: 'mine' })).toEqual({ id: 'b', owner: 'o', state: 'mine' });
  });

  it('gets no further claim after many of which others got the document', async () => {
    await open(['owner']);
    found = Array.from({ length: 1_100 }, (_, at) => ({ _id: `job-${at}`, owner: 'o' }));
    const claim = jobs.claim({ filter: { owner: 'o', state: 'open' }, sort: order }, { state: 'mine' });
    await expect(claim).rejects.toBeInstanceOf(UnavailableError);
    expect(found).toHaveLength(100);
  });

  it('claims nothing if no document matches', async () => {
    await open(['owner']);
    expect(await jobs.claim({ filter: { owner: 'o' } }, { state: 'mine' })).toBeUndefined();
    expect(stub.listCommandsNamed('find')).toHaveLength(1);
    expect(await jobs.claim({ filter: { owner: 'o', state: { in: [] } } }, { state: 'mine' })).toBeUndefined();
    expect(stub.listCommandsNamed('find')).toHaveLength(1);
  });
});

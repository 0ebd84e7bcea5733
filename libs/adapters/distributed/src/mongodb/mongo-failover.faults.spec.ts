import { randomUUID } from 'node:crypto';
import { eventually, MongoProxy, readMongoCommandName, RecordedMetrics } from '@tracking/testing';
import { MongoDriverClient } from './driver-client.ts';
import { GridfsObjectStore } from './gridfs-object-store.ts';
import { MongoConnection } from './mongo-connection.ts';
import { MongoDocumentStore } from './mongo-document-store.ts';
import { KillableMongoServer } from '../../test/mongodb/mongo-engine.ts';
import { describeWithKillableMongoEngine } from '../../test/mongodb/mongo-subject.ts';

interface TestDocument {
  readonly id: string;
  readonly version?: number;
  readonly text?: string;
}

const DEADLINE_MS = 1_000;
const REPLACEMENTS = 'document_store_client_replacements_total';
/** Commands that the driver sends by itself. */
const DRIVER_COMMANDS = ['hello', 'ismaster', 'endSessions', 'killCursors'];
/** The driver does not limit these on the server. They end with their connection. */
const UNLIMITED_COMMANDS = ['createIndexes'];

describeWithKillableMongoEngine('MongoDB behind a faulty network', (enginesDir) => {
  describe('MongoDB behind a faulty network', () => {
    let engine: KillableMongoServer;
    let proxy: MongoProxy;
    let metrics: RecordedMetrics;
    const connections: MongoConnection[] = [];
    beforeAll(async () => {
      engine = await KillableMongoServer.createMongoServerForTest(enginesDir);
      await engine.startEngine();
    });
    beforeEach(async () => {
      metrics = new RecordedMetrics();
      proxy = await MongoProxy.startMongoProxy(engine.port, { members: 3 });
    });
    afterEach(async () => {
      proxy.endFaults();
      await Promise.all(connections.splice(0).map((connection) => connection.closeConnection()));
      await proxy.closeProxy();
    });
    afterAll(() => engine.killEngineAndDeleteFolder());

    function connect(options = ''): MongoConnection {
      const url = proxy.buildConnectionStringOfDatabase(`proxied-${randomUUID()}`, options);
      const connection = new MongoConnection({ url, metrics, deadlineMs: DEADLINE_MS });
      connections.push(connection);
      return connection;
    }

    const openThings = (options?: string) =>
      new MongoDocumentStore(connect(options)).collection<TestDocument>({ name: 'things', indexes: [] });

    it('replaces a client whose connections are lost to operations that never end', async () => {
      const things = await openThings('maxPoolSize=2');
      const ids = ['a', 'b', 'c', 'd'];
      await Promise.all(ids.map((id) => things.insert({ id })));
      proxy.hangConnections('operations');
      // More than the operating system buffers, so the driver waits until it can write the rest.
      const text = 'x'.repeat(12_000_000);
      const outcomes = await Promise.allSettled(ids.map((id) => things.upsert({ id, text })));
      expect(outcomes.map(({ status }) => status)).toEqual(ids.map(() => 'rejected'));
      await eventually(async () => expect(await things.upsert({ id: 'e' })).toBe(true), { deadlineMs: 15_000 });
      expect(metrics.getMetricValue(REPLACEMENTS)).toBe(1);
      expect(metrics.getMetricValue('document_store_operations')).toBe(0);
    });

    it('replaces a client that gets no answer, and works when the server is back', async () => {
      const things = await openThings();
      await things.insert({ id: 'a' });
      proxy.breakCurrentAndNewConnections();
      await eventually(
        async () => {
          await expect(things.get('a')).rejects.toMatchObject({ name: 'Unavailable' });
          expect(metrics.getMetricValue(REPLACEMENTS)).toBeGreaterThan(0);
        },
        { deadlineMs: 20_000 },
      );
      proxy.acceptConnectionsAgain();
      await eventually(async () => expect(await things.get('a')).toEqual({ id: 'a' }), { deadlineMs: 15_000 });
    });

    it('closes a connection whose answers do not arrive, and keeps its client', async () => {
      const things = await openThings();
      await things.insert({ id: 'a' });
      proxy.hangConnections('operations');
      await expect(things.get('a')).rejects.toMatchObject({ name: 'Unavailable' });
      await eventually(() => expect(metrics.getMetricValue('document_store_operations')).toBe(0));
      expect(metrics.getMetricValue(REPLACEMENTS)).toBe(0);
      expect(await things.get('a')).toEqual({ id: 'a' });
    });

    it('closes connections that are unused for a minute', async () => {
      const client = new MongoDriverClient(proxy.buildConnectionStringOfDatabase('idle'), DEADLINE_MS);
      const connected = await client.connectToMongoOnce();
      const topology = Reflect.get(connected, 'topology') as {
        readonly s: { readonly servers: ReadonlyMap<string, object> };
      };
      const pools = [...topology.s.servers.values()].map(
        (server) => Reflect.get(server, 'pool') as { options: object },
      );
      await client.closeDriverClient();
      // The pool searches for unused connections every two seconds, because each search wakes the process.
      expect(pools.map(({ options }) => options)).toContainEqual(
        expect.objectContaining({ maxIdleTimeMS: 60_000, minPoolSizeCheckFrequencyMS: 2_000 }),
      );
    });

    it('keeps its client during errors that the server reports', async () => {
      const things = await openThings();
      for (let n = 0; n < 5; n += 1) {
        proxy.failNextWrites('refused', 'refused');
        await things.upsert({ id: 'a', version: n });
      }
      expect(metrics.getMetricValue(REPLACEMENTS)).toBe(0);
    });

    it('reads its own writes on a primary with an old snapshot', async () => {
      const things = await openThings();
      await things.insert({ id: 'a' });
      proxy.hasOldSnapshot = true;
      expect(await things.get('a')).toEqual({ id: 'a' });
      await things.upsert({ id: 'b', version: 1 });
      expect(await things.find({ filter: { version: 1 }, limit: 10 })).toEqual([{ id: 'b', version: 1 }]);
      expect(await things.count({})).toBe(2);
    });

    describe.each([
      ['the driver repeats writes', '', true],
      ['the connection string turns this off', 'retryWrites=false', false],
    ])('if %s', (_, options, isRepeatedByDriver) => {
      it.each(['answer lost', 'interrupted', 'refused'] as const)('performs each write once: %s', async (fault) => {
        const numbered = new Set<unknown>();
        proxy.onCommand = (command) => void numbered.add('update' in command && 'txnNumber' in command);
        const things = await openThings(options);
        const writeWithFaults = <R>(write: () => Promise<R>) => {
          proxy.failNextWrites(fault, fault);
          return write();
        };
        expect(await writeWithFaults(() => things.insert({ id: 'a', version: 0 }))).toBe(true);
        // The stored document could be a later version of the inserted one.
        const another = writeWithFaults(() => things.insert({ id: 'a', version: 9 }));
        await expect(another).rejects.toMatchObject({ name: 'Unavailable' });
        expect(await writeWithFaults(() => things.replace({ id: 'a', version: 1 }, { version: 0 }))).toBe(true);
        expect(await writeWithFaults(() => things.upsert({ id: 'a', version: 2 }, { version: 1 }))).toBe(true);
        expect(await writeWithFaults(() => things.upsert({ id: 'b' }))).toBe(true);
        const many = ['c', 'd'].map((id) => ({ kind: 'insert', document: { id } }) as const);
        await writeWithFaults(() => things.writeMany([...many, { kind: 'delete', id: 'b' }]));
        await writeWithFaults(() => things.delete('d')).catch((error: unknown) => {
          expect(error).toMatchObject({ name: 'Unavailable' });
        });
        expect(await things.find({ filter: {}, sort: { fields: ['id'] }, limit: 9 })).toEqual([
          { id: 'a', version: 2 },
          { id: 'c' },
        ]);
        expect(numbered.has(true)).toBe(isRepeatedByDriver);
        expect(metrics.getMetricValue(REPLACEMENTS)).toBe(0);
      });
    });

    it('limits every operation in time on the server', async () => {
      const unlimited: string[] = [];
      const names = new Set<string>();
      proxy.onCommand = (command) => {
        const name = readMongoCommandName(command);
        if ([...DRIVER_COMMANDS, ...UNLIMITED_COMMANDS].includes(name)) return;
        names.add(name);
        if (!(Number(command['maxTimeMS']) > 0)) unlimited.push(name);
      };
      const connection = connect();
      const store = new MongoDocumentStore(connection);
      const indexes = [{ name: 'by_version', fields: ['version', 'id'] }];
      const things = await store.collection<TestDocument>({ name: 'things', indexes });
      await things.insert({ id: 'a', version: 1 });
      await things.replace({ id: 'a', version: 2 }, { version: 1 });
      await things.upsert({ id: 'b' });
      await things.writeMany([{ kind: 'upsert', document: { id: 'c' } }]);
      await things.claim({ filter: { id: 'c' } }, { version: 3 });
      await things.delete('b');
      await things.find({ filter: {}, limit: 3 });
      await things.count({});
      await things.sum('version', {}, 'by_version');
      await store.listCollectionNames('');
      const objects = new GridfsObjectStore(connection);
      const id = randomUUID();
      await objects.putObject(
        id,
        (async function* () {
          yield await Promise.resolve(Buffer.from('x'));
        })(),
      );
      await objects.deleteObject(id);
      await store.dropCollection('things');
      await connection.pingDatabase();
      expect(unlimited).toEqual([]);
      const expected = ['insert', 'update', 'delete', 'findAndModify', 'find', 'aggregate', 'create', 'drop'];
      expect([...names]).toEqual(expect.arrayContaining(expected));
    });
  });
});

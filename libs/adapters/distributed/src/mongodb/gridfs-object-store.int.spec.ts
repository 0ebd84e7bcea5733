import { UnavailableError } from '@tracking/ports';
import { eventually, noMetrics } from '@tracking/testing';
import { GridFSBucket, type Db } from 'mongodb';
import { KillableMongoServer } from '../../test/mongodb/mongo-engine.ts';
import { describeWithKillableMongoEngine } from '../../test/mongodb/mongo-subject.ts';
import { GridfsObjectStore, GridfsCollections } from './gridfs-object-store.ts';
import { MongoConnection } from './mongo-connection.ts';

const DAY_MS = 86_400_000;
const tomorrow = () => new Date(Date.now() + DAY_MS);
const DEADLINE_MS = 1_500;

/** 600 kB, that is three chunks. */
async function* large(between: () => Promise<void> = () => Promise.resolve()) {
  yield Buffer.alloc(300_000, 'a');
  await between();
  yield Buffer.alloc(300_000, 'b');
}

describeWithKillableMongoEngine('objects in GridFS', (enginesDir) => {
  describe('objects in GridFS', () => {
    let engine: KillableMongoServer;
    let store: GridfsObjectStore;
    const connections: MongoConnection[] = [];
    beforeAll(async () => {
      engine = await KillableMongoServer.createMongoServerForTest(enginesDir);
      await engine.startEngine();
    });
    beforeEach(() => void (store = new GridfsObjectStore(connect())));
    afterEach(async () => {
      engine.resumeEngine();
      await onMongo((database) => database.dropDatabase());
      await Promise.all(connections.splice(0).map((connection) => connection.closeConnection()));
    });
    afterAll(() => engine.killEngineAndDeleteFolder());

    function connect(): MongoConnection {
      const connection = new MongoConnection({
        url: engine.createDatabaseUrl('objects'),
        metrics: noMetrics,
        deadlineMs: DEADLINE_MS,
      });
      connections.push(connection);
      return connection;
    }
    const onMongo = <R>(work: (database: Db) => Promise<R>) => connect().runOnDatabase(work);
    const counts = () =>
      onMongo(async (database) => {
        const { files, chunks, unfinished } = new GridfsCollections(database, DEADLINE_MS);
        return Promise.all([files, chunks, unfinished].map((of) => of.countDocuments()));
      });

    it('can be read with the driver’s own GridFS', async () => {
      await store.putObject('obj_a', large());
      const read = await onMongo(async (database) => {
        const bucket = new GridFSBucket(database, { bucketName: 'objects' });
        const parts: Buffer[] = [];
        for await (const part of bucket.openDownloadStreamByName('obj_a')) parts.push(part as Buffer);
        return Buffer.concat(parts);
      });
      expect(read.equals(Buffer.concat([Buffer.alloc(300_000, 'a'), Buffer.alloc(300_000, 'b')]))).toBe(true);
    });

    it('leave nothing after a failed upload or a deletion', async () => {
      const fault = () => Promise.reject(new Error('went away'));
      await expect(store.putObject('obj_a', large(fault))).rejects.toThrow('went away');
      await store.putObject('obj_b', large());
      await store.deleteObject('obj_b');
      await store.putObject('obj_c', large());
      await expect(store.putObject('obj_c', large())).rejects.toThrow('object obj_c already exists');
      expect(await counts()).toEqual([1, 3, 0]);
    });

    it('are not stored while the engine hangs, but under a new id afterwards, and the remains are removed', async () => {
      await expect(
        store.putObject(
          'obj_a',
          large(async () => engine.suspendEngine()),
        ),
      ).rejects.toThrow(UnavailableError);
      engine.resumeEngine();
      let attempt = 0;
      await eventually(() => store.putObject(`obj_b${(attempt += 1)}`, large()));
      expect(await store.getObject('obj_a')).toBeUndefined();
      await store.removeUnfinishedObjects(tomorrow());
      expect(await counts()).toEqual([1, 3, 0]);
    });

    it('are not completed by an abandoned upload', async () => {
      const other = new GridfsObjectStore(connect());
      const slow = store.putObject(
        'obj_a',
        large(() => other.removeUnfinishedObjects(tomorrow())),
      );
      await expect(slow).rejects.toThrow('took too long');
      expect(await counts()).toEqual([0, 0, 0]);
    });

    it('are kept if an upload was interrupted after its decisive step, and removed if a deletion was', async () => {
      await store.putObject('obj_put', large());
      await store.putObject('obj_delete', large());
      await onMongo(async (database) => {
        const { files, unfinished } = new GridfsCollections(database, DEADLINE_MS);
        const at = new Date();
        await unfinished.insertOne({ _id: 'obj_put', at, isGivenUp: true });
        await unfinished.insertOne({ _id: 'obj_delete', at, isGivenUp: true });
        await files.deleteOne({ _id: 'obj_delete' });
      });
      await store.removeUnfinishedObjects(new Date(Date.now() - DAY_MS));
      expect(await counts()).toEqual([1, 6, 2]);
      await store.removeUnfinishedObjects(tomorrow());
      expect(await counts()).toEqual([1, 3, 0]);
      expect((await store.getObject('obj_put'))?.sizeBytes).toBe(600_000);
    });

    it('are listed over many pages, each once', async () => {
      const at = new Date();
      const ids = Array.from({ length: 1_201 }, (_, n) => `obj_${n}`);
      await onMongo(async (database) => {
        const { files } = new GridfsCollections(database, DEADLINE_MS);
        const metadata = { sha256: '' };
        await files.insertMany(
          // More objects with one time than a page contains.
          ids.map((_id, n) => {
            const uploadDate = new Date(at.getTime() - (n % 2) * n);
            return { _id, length: 0, chunkSize: 1, uploadDate, filename: _id, metadata };
          }),
        );
      });
      const listed: string[] = [];
      for await (const id of store.listObjectIdsStoredInPeriod({ before: tomorrow() })) listed.push(id);
      expect(listed.sort()).toEqual(ids.sort());
    });

    it('can be read slowly across a restart of the engine', async () => {
      await store.putObject('obj_a', large());
      let size = 0;
      for await (const bytes of (await store.getObject('obj_a'))?.bytes ?? []) {
        if (size === 0) {
          await engine.killEngine();
          await engine.startEngine();
          await eventually(counts);
        }
        size += bytes.length;
      }
      expect(size).toBe(600_000);
    });
  });
});

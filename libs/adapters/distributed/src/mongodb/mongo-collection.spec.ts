import { BusyError, UnavailableError, type Document } from '@tracking/ports';
import { BSON } from 'mongodb';
import { MongoCollection } from './mongo-collection.ts';
import type { MongoConnection } from './mongo-connection.ts';
import type { MongoDocument } from './mongo-filter.ts';

interface Row extends Document {
  readonly n: number;
  readonly text?: string;
}

/** Performs `admitted` operations successfully and refuses later ones. */
function collectionOf(admitted: number) {
  let left = admitted;
  const run = () => (left-- > 0 ? Promise.resolve([]) : Promise.reject(new BusyError('document store', 'full')));
  const connection = { runOnDatabase: run, deadlineMs: 1 } as unknown as MongoConnection;
  return new MongoCollection({ name: 'things', indexes: [] }, connection);
}
const inserts = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ kind: 'insert', document: { id: `${n}` } }) as const);

describe('many writes of a collection', () => {
  it('are split for a server that is too slow for one operation', async () => {
    const answeredInTime = 100;
    const written: number[] = [];
    const bulkWrite = (models: readonly unknown[]) => {
      if (models.length > answeredInTime)
        return Promise.reject(new UnavailableError('document store', 'does not answer'));
      written.push(models.length);
      return Promise.resolve();
    };
    const connection = {
      deadlineMs: 1,
      runOnDatabase: (operation: (database: unknown) => unknown) => operation({ collection: () => ({ bulkWrite }) }),
    } as unknown as MongoConnection;
    const rows = new MongoCollection<Row>({ name: 'rows', indexes: [] }, connection);
    const writes = Array.from({ length: 300 }, (_, n) => ({
      kind: 'upsert' as const,
      document: { id: String(n), n },
    }));
    let failures = 0;
    for (let isWritten = false; !isWritten;) {
      try {
        await rows.writeMany(writes);
        isWritten = true;
      } catch (error) {
        expect(error).toBeInstanceOf(UnavailableError);
        failures += 1;
        expect(failures).toBeLessThan(20);
      }
    }
    expect(Math.max(...written)).toBeLessThanOrEqual(answeredInTime);
  });

  describe('with large documents', () => {
    const MIB = 1_024 * 1_024;
    let batches: string[][];
    let rows: MongoCollection<Row>;
    beforeEach(() => {
      batches = [];
      const bulkWrite = (models: readonly { readonly insertOne: { readonly document: MongoDocument } }[]) => {
        const documents = models.map(({ insertOne }) => insertOne.document);
        if (documents.some((document) => BSON.calculateObjectSize(document) > 16 * MIB))
          return Promise.reject(new Error('document store: refused'));
        batches.push(documents.map(({ _id }) => _id));
        return Promise.resolve();
      };
      const connection = {
        deadlineMs: 1,
        runOnDatabase: (operation: (database: unknown) => unknown) => operation({ collection: () => ({ bulkWrite }) }),
      } as unknown as MongoConnection;
      rows = new MongoCollection<Row>({ name: 'rows', indexes: [] }, connection);
    });
    const writeOf = (id: string, mib: number) =>
      ({ kind: 'insert', document: { id, n: 0, text: 'x'.repeat(mib * MIB) } }) as const;

    it('are sent in batches of at most 4 MiB', async () => {
      await rows.writeMany(['a', 'b', 'c', 'd', 'e'].map((id) => writeOf(id, 1.3)));
      expect(batches).toEqual([
        ['a', 'b', 'c'],
        ['d', 'e'],
      ]);
    });

    it('include one of more than 4 MiB, which is sent alone', async () => {
      await rows.writeMany([writeOf('a', 1), writeOf('b', 5), writeOf('c', 1), writeOf('d', 1)]);
      expect(batches).toEqual([['a'], ['b'], ['c', 'd']]);
    });

    it('include one that the server refuses: all others are written first', async () => {
      await expect(rows.writeMany([writeOf('a', 1), writeOf('b', 17), writeOf('c', 1)])).rejects.toThrow('refused');
      expect(batches).toEqual([['a'], ['c']]);
    });
  });

  it('have an unknown outcome after one of several operations was performed', async () => {
    const error: unknown = await collectionOf(1)
      .writeMany(inserts(1_001))
      .catch((each: unknown) => each);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).not.toBeInstanceOf(BusyError);
  });

  it('are refused as not done if none was performed', async () => {
    await expect(collectionOf(0).writeMany(inserts(1_001))).rejects.toBeInstanceOf(BusyError);
  });
});

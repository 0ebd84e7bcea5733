import { Busy, Unavailable, type Document } from '@tracking/ports';
import { MongoCollection } from './mongo-collection.ts';
import type { MongoConnection } from './mongo-connection.ts';

interface Row extends Document {
  readonly n: number;
}

/** Performs `admitted` operations successfully and refuses later ones. */
function collectionOf(admitted: number) {
  let left = admitted;
  const run = () => (left-- > 0 ? Promise.resolve([]) : Promise.reject(new Busy('document store', 'full')));
  const connection = { run, deadlineMs: 1 } as unknown as MongoConnection;
  return new MongoCollection({ name: 'things', indexes: [] }, connection);
}
const inserts = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ kind: 'insert', document: { id: `${n}` } }) as const);

describe('many writes of a collection', () => {
  it('are split for a server that is too slow for one operation', async () => {
    const answeredInTime = 100;
    const written: number[] = [];
    const bulkWrite = (models: readonly unknown[]) => {
      if (models.length > answeredInTime) return Promise.reject(new Unavailable('document store', 'does not answer'));
      written.push(models.length);
      return Promise.resolve();
    };
    const connection = {
      deadlineMs: 1,
      run: (operation: (database: unknown) => unknown) => operation({ collection: () => ({ bulkWrite }) }),
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
        expect(error).toBeInstanceOf(Unavailable);
        failures += 1;
        expect(failures).toBeLessThan(20);
      }
    }
    expect(Math.max(...written)).toBeLessThanOrEqual(answeredInTime);
  });

  it('have an unknown outcome after one of several operations was performed', async () => {
    const error: unknown = await collectionOf(1)
      .writeMany(inserts(1_001))
      .catch((each: unknown) => each);
    expect(error).toBeInstanceOf(Unavailable);
    expect(error).not.toBeInstanceOf(Busy);
  });

  it('are refused as not done if none was performed', async () => {
    await expect(collectionOf(0).writeMany(inserts(1_001))).rejects.toBeInstanceOf(Busy);
  });
});

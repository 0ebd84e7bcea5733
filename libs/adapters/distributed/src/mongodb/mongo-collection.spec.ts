import { Unavailable, type Document } from '@tracking/ports';
import { MongoCollection } from './mongo-collection.ts';
import type { MongoConnection } from './mongo-connection.ts';

interface Row extends Document {
  readonly n: number;
}

describe('many writes of a collection', () => {
  it('get through to a server that is too slow for as many in one operation', async () => {
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
});

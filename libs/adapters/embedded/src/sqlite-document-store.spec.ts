import { UnavailableError, WritesRefusedError } from '@tracking/ports';
import { computeSqliteCollectionLayout } from './collection-layout.ts';
import { SqliteCollection } from './sqlite-document-store.ts';
import type { SqliteStorage } from './sqlite-reader-pool.ts';

/** Commits `admitted` operations and refuses later ones as `BusyError`. */
function collectionOf(admitted: number) {
  let left = admitted;
  const run = () =>
    left-- > 0 ? Promise.resolve({ duplicate: null }) : Promise.reject(new WritesRefusedError('storage', 'no room'));
  const storage = {
    writer: { throwIfNotWritable: () => undefined, addOperationToBatch: run },
  } as unknown as SqliteStorage;
  return new SqliteCollection(computeSqliteCollectionLayout({ name: 'things', indexes: [] }), storage);
}
const inserts = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ kind: 'insert', document: { id: `${n}` } }) as const);

describe('many writes to SQLite', () => {
  it('have an unknown outcome if one of several operations may be committed', async () => {
    const error: unknown = await collectionOf(1)
      .writeMany(inserts(1_001))
      .catch((each: unknown) => each);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).not.toBeInstanceOf(WritesRefusedError);
  });

  it('are refused as not done if they are one operation', async () => {
    await expect(collectionOf(0).writeMany(inserts(1_000))).rejects.toBeInstanceOf(WritesRefusedError);
  });
});

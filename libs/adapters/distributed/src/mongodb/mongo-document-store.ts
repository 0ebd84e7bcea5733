import { DuplicateKey, type Collection, type CollectionSpec, type Document, type DocumentStore } from '@tracking/ports';
import type { Db, IndexDescription } from 'mongodb';
import { MongoCollection } from './mongo-collection.ts';
import type { MongoConnection } from './mongo-connection.ts';
import { isCollectionThere, isIndexConflict, isNoSuchCollection, violatedIndex } from './mongo-errors.ts';
import { mongoIndex } from './mongo-filter.ts';

/** An index over documents that are there already takes its time. */
const BUILD_DEADLINE_MS = 600_000;

/**
 * Documents in MongoDB, a collection each. Writes are acknowledged by a majority of the replica set. Indexes that no
 * specification names any more stay: other versions of the services, or people, may need them.
 */
export class MongoDocumentStore implements DocumentStore {
  private readonly collections = new Map<string, { readonly spec: string; readonly opened: Promise<unknown> }>();

  constructor(private readonly connection: MongoConnection) {}

  async collection<T extends Document>(spec: CollectionSpec): Promise<Collection<T>> {
    const json = JSON.stringify(spec);
    const known = this.collections.get(spec.name);
    if (known?.spec === json) return known.opened as Promise<MongoCollection<T>>;
    const opened = this.open<T>(spec);
    this.collections.set(spec.name, { spec: json, opened });
    opened.catch(() => this.collections.delete(spec.name));
    return opened;
  }

  async collectionNames(prefix: string): Promise<readonly string[]> {
    const all = await this.connection.run((database) => database.listCollections({}, { nameOnly: true }).toArray());
    return all.map(({ name }) => name).filter((name) => name.startsWith(prefix));
  }

  async dropCollection(name: string): Promise<void> {
    this.collections.delete(name);
    await this.connection.run((database) => database.dropCollection(name).catch(unless(isNoSuchCollection)));
  }

  /** Closes the connection, for all that use it. */
  close(): Promise<void> {
    return this.connection.close();
  }

  private async open<T extends Document>(spec: CollectionSpec): Promise<Collection<T>> {
    const indexes = spec.indexes.flatMap((index) => mongoIndex(index) ?? []);
    await this.connection.run(async (database) => {
      await database.createCollection(spec.name).catch(unless(isCollectionThere));
      for (const index of indexes) await ensureIndex(database, spec.name, index);
    }, BUILD_DEADLINE_MS);
    return new MongoCollection<T>(spec, this.connection);
  }
}

async function ensureIndex(database: Db, collection: string, index: IndexDescription): Promise<void> {
  const documents = database.collection(collection);
  const create = () => documents.createIndexes([index]);
  try {
    await create().catch(async (error: unknown) => {
      unless(isIndexConflict)(error);
      const key = JSON.stringify(index.key);
      for (const there of await documents.listIndexes().toArray()) {
        const { name } = there as { readonly name: string };
        if (name === index.name || JSON.stringify(there.key) === key) await documents.dropIndex(name);
      }
      await create();
    });
  } catch (error) {
    const violated = violatedIndex(error);
    throw violated === undefined ? error : new DuplicateKey(collection, violated);
  }
}

function unless(expected: (error: unknown) => boolean): (error: unknown) => void {
  return (error) => {
    if (!expected(error)) throw error;
  };
}

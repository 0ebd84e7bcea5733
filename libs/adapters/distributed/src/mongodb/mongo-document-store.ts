import {
  DuplicateKey,
  type Collection,
  type CollectionSpec,
  type Document,
  type DocumentStore,
  type Durability,
} from '@tracking/ports';
import type { Db, IndexDescription } from 'mongodb';
import { MongoCollection } from './mongo-collection.ts';
import {
  isCollectionConflict,
  isIndexConflict,
  isNoSuchCollection,
  type MongoConnection,
  findViolatedIndex,
} from './mongo-connection.ts';
import { toMongoIndex } from './mongo-filter.ts';

/** Milliseconds allowed for building an index over existing documents. */
const INDEX_BUILD_DEADLINE_MS = 600_000;

/** An existing collection with its indexes, and the objects opened on it. */
interface OpenCollection {
  readonly indexes: string;
  readonly ready: Promise<void>;
  readonly byDurability: Map<Durability, Collection<never>>;
}

/**
 * Documents in MongoDB, with one MongoDB collection per collection. Writes are acknowledged by a majority of the
 * replica set. Indexes that are no longer specified are kept, because other versions of the services or operators may
 * need them.
 */
export class MongoDocumentStore implements DocumentStore {
  private readonly collections = new Map<string, OpenCollection>();

  constructor(private readonly connection: MongoConnection) {}

  async collection<T extends Document>(spec: CollectionSpec): Promise<Collection<T>> {
    const { ready, byDurability } = this.findOpenCollection(spec);
    await ready;
    const { durability = 'durable' } = spec;
    const known = byDurability.get(durability) as Collection<T> | undefined;
    if (known !== undefined) return known;
    const collection = new MongoCollection<T>(spec, this.connection);
    byDurability.set(durability, collection as unknown as Collection<never>);
    return collection;
  }

  async collectionNames(prefix: string): Promise<readonly string[]> {
    const all = await this.connection.run((database) => database.listCollections({}, { nameOnly: true }).toArray());
    return all.map(({ name }) => name).filter((name) => name.startsWith(prefix));
  }

  async dropCollection(name: string): Promise<void> {
    this.collections.delete(name);
    await this.connection.run((database) =>
      database.dropCollection(name).catch(ignoreExpectedError(isNoSuchCollection)),
    );
  }

  /** Closes the connection, which all ports of the process share. */
  close(): Promise<void> {
    return this.connection.close();
  }

  private findOpenCollection(spec: CollectionSpec): OpenCollection {
    const indexes = JSON.stringify(spec.indexes);
    const known = this.collections.get(spec.name);
    if (known?.indexes === indexes) return known;
    const opened = { indexes, ready: this.ensureCollection(spec), byDurability: new Map() };
    this.collections.set(spec.name, opened);
    opened.ready.catch(() => this.collections.delete(spec.name));
    return opened;
  }

  private async ensureCollection(spec: CollectionSpec): Promise<void> {
    const indexes = spec.indexes.flatMap((index) => toMongoIndex(index) ?? []);
    await this.connection.run(async (database) => {
      await database.createCollection(spec.name).catch(ignoreExpectedError(isCollectionConflict));
      for (const index of indexes) await ensureIndex(database, spec.name, index);
    }, INDEX_BUILD_DEADLINE_MS);
  }
}

async function ensureIndex(database: Db, collection: string, index: IndexDescription): Promise<void> {
  const documents = database.collection(collection);
  const create = () => documents.createIndexes([index]);
  try {
    await create().catch(async (error: unknown) => {
      ignoreExpectedError(isIndexConflict)(error);
      const key = JSON.stringify(index.key);
      for (const there of await documents.listIndexes().toArray()) {
        const { name } = there as { readonly name: string };
        if (name === index.name || JSON.stringify(there.key) === key) await documents.dropIndex(name);
      }
      await create();
    });
  } catch (error) {
    const violated = findViolatedIndex(error);
    throw violated === undefined ? error : new DuplicateKey(collection, violated);
  }
}

function ignoreExpectedError(expected: (error: unknown) => boolean): (error: unknown) => void {
  return (error) => {
    if (!expected(error)) throw error;
  };
}

import type { Collection, CollectionSpec, Document, DocumentStore, Durability } from '@tracking/ports';
import { MongoCollection } from './mongo-collection.ts';
import type { MongoConnection } from './mongo-connection.ts';
import { isCollectionExistsError, isNoSuchCollection } from './mongo-errors.ts';
import { ensureIndexes } from './mongo-index-builds.ts';

interface MongoDocumentStoreOptions {
  /**
   * True for the set-up: it builds indexes over existing documents, and drops earlier versions of indexes. False by
   * default: collections whose indexes are missing throw `UnavailableError` until the set-up has built them.
   */
  readonly canChangeIndexes?: boolean;
}

/** An existing collection with its indexes, and the objects opened on it. */
interface OpenedMongoCollection {
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
  private readonly collections = new Map<string, OpenedMongoCollection>();

  constructor(
    private readonly connection: MongoConnection,
    private readonly options: MongoDocumentStoreOptions = {},
  ) {}

  async collection<T extends Document>(spec: CollectionSpec): Promise<Collection<T>> {
    const { ready, byDurability } = this.findOrOpenCollection(spec);
    await ready;
    const { durability = 'durable' } = spec;
    const known = byDurability.get(durability) as Collection<T> | undefined;
    if (known !== undefined) return known;
    const collection = new MongoCollection<T>(spec, this.connection);
    byDurability.set(durability, collection as unknown as Collection<never>);
    return collection;
  }

  async listCollectionNames(prefix: string): Promise<readonly string[]> {
    const all = await this.connection.runOnDatabase((database) =>
      database.listCollections({}, { nameOnly: true }).toArray(),
    );
    return all.map(({ name }) => name).filter((name) => name.startsWith(prefix));
  }

  async dropCollection(name: string): Promise<void> {
    this.collections.delete(name);
    await this.connection.runOnDatabase((database) =>
      database.dropCollection(name).catch(ignoreExpectedError(isNoSuchCollection)),
    );
  }

  /** Closes the connection, which all ports of the process share. */
  close(): Promise<void> {
    return this.connection.closeConnection();
  }

  private findOrOpenCollection(spec: CollectionSpec): OpenedMongoCollection {
    const indexes = JSON.stringify(spec.indexes);
    const known = this.collections.get(spec.name);
    if (known?.indexes === indexes) return known;
    const opened = { indexes, ready: this.ensureCollection(spec), byDurability: new Map() };
    this.collections.set(spec.name, opened);
    opened.ready.catch(() => this.collections.delete(spec.name));
    return opened;
  }

  private async ensureCollection(spec: CollectionSpec): Promise<void> {
    await this.connection.runOnDatabase((database) =>
      database.createCollection(spec.name).catch(ignoreExpectedError(isCollectionExistsError)),
    );
    await ensureIndexes(this.connection, spec, this.options.canChangeIndexes === true);
  }
}

function ignoreExpectedError(expected: (error: unknown) => boolean): (error: unknown) => void {
  return (error) => {
    if (!expected(error)) throw error;
  };
}

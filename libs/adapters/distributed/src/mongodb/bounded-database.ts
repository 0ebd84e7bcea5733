import type { ClientSession, Collection, CollectionOptions, Db, Document } from 'mongodb';

/** Options of every call of the driver. */
interface DriverCallOptions {
  readonly session: ClientSession;
  /** Milliseconds after which the server ends the operation. */
  readonly maxTimeMS: number;
  /** Milliseconds after which the driver closes a connection without a response. */
  readonly socketTimeoutMS: number;
}

/** Position of the options among the arguments of the methods that the adapters call. */
const OPTIONS_POSITION_BY_DATABASE_METHOD: ReadonlyMap<string, number> = new Map([
  ['createCollection', 1],
  ['dropCollection', 1],
  ['dropDatabase', 0],
  ['listCollections', 1],
]);
const OPTIONS_POSITION_BY_COLLECTION_METHOD: ReadonlyMap<string, number> = new Map([
  ['aggregate', 1],
  ['bulkWrite', 1],
  ['countDocuments', 1],
  ['createIndex', 1],
  ['createIndexes', 1],
  ['deleteMany', 1],
  ['deleteOne', 1],
  ['dropIndex', 1],
  ['find', 1],
  ['findOne', 1],
  ['findOneAndUpdate', 2],
  ['insertMany', 1],
  ['insertOne', 1],
  ['replaceOne', 2],
  ['updateOne', 2],
]);

/**
 * Returns the database with methods that limit each call in time and make it part of the session. The server ends the
 * operation first, so the driver closes the connection only if the server does not respond. Calls of `collection` with
 * the same object of options return the same collection.
 * @throws TypeError when a method is called whose options are unknown here
 */
export function limitDatabaseCallTimes(database: Db, session: ClientSession, maxTimeMS: number): Db {
  const options = { session, maxTimeMS, socketTimeoutMS: computeSocketTimeoutMs(maxTimeMS) };
  const limitCollection = (name: string, own?: CollectionOptions): Collection =>
    addOptionsToDriverMethods(database.collection(name, own), OPTIONS_POSITION_BY_COLLECTION_METHOD, options);
  const collections = new WeakMap<CollectionOptions, Collection>();
  return addOptionsToDriverMethods(database, OPTIONS_POSITION_BY_DATABASE_METHOD, options, {
    // The driver adds no limit to commands that it does not know.
    command: (body: Document, own: object = {}) => database.command({ ...body, maxTimeMS }, { ...options, ...own }),
    collection: (name: string, own?: CollectionOptions): Collection => {
      if (own === undefined) return limitCollection(name);
      let collection = collections.get(own);
      if (collection?.collectionName !== name) collections.set(own, (collection = limitCollection(name, own)));
      return collection;
    },
  });
}

/** Returns the milliseconds without a response after which a connection is closed. */
export function computeSocketTimeoutMs(maxTimeMS: number): number {
  return Math.ceil(1.2 * maxTimeMS);
}

function addOptionsToDriverMethods<T extends object>(
  target: T,
  methods: ReadonlyMap<string, number>,
  options: DriverCallOptions,
  overrides: Readonly<Record<string, unknown>> = {},
): T {
  return new Proxy(target, {
    get(_, name) {
      if (typeof name === 'string' && name in overrides) return overrides[name];
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const at = methods.get(String(name));
      if (at === undefined) throw new TypeError(`the options of ${String(name)} are unknown`);
      return (...args: unknown[]): unknown => {
        args[at] = { ...options, ...(args[at] as object | undefined) };
        return Reflect.apply(member, target, args);
      };
    },
  });
}

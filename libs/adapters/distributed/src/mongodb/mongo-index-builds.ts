import { DuplicateKeyError, UnavailableError, type CollectionSpec } from '@tracking/ports';
import type { MongoConnection } from './mongo-connection.ts';
import { ENGINE_NAME, parseViolatedIndex, isIndexConflict, isNoSuchIndex } from './mongo-errors.ts';
import { parseIndexNameAndVersion, toMongoIndex } from './mongo-indexes.ts';

/** Milliseconds allowed for building indexes over existing documents. A repeated build waits for the running one. */
export const INDEX_BUILD_DEADLINE_MS = 600_000;
/**
 * Options of index builds: the number of replica set members that must have built an index before the primary uses it.
 * Without it, the primary waits for all members that hold data, even for one that is down.
 */
export const INDEX_BUILD_OPTIONS = { commitQuorum: 'majority' } as const;

type ServerIndex = NonNullable<ReturnType<typeof toMongoIndex>>;

/**
 * Creates the missing indexes of a collection.
 * @param canChange true for the set-up, which builds indexes over existing documents and drops superseded versions.
 *   False for services: many start at the same time and in two releases, so they build only indexes of an empty
 *   collection
 * @throws UnavailableError if the set-up must first build an index
 * @throws DuplicateKeyError if existing documents violate a new unique index
 * @throws Error if an index of this name and version has another definition, or if an index of another name has the same
 */
export async function ensureIndexes(
  connection: MongoConnection,
  spec: CollectionSpec,
  canChange: boolean,
): Promise<void> {
  const wanted = spec.indexes.flatMap((index) => toMongoIndex(index) ?? []);
  if (wanted.length === 0) return;
  const present = await listServerIndexes(connection, spec.name);
  const missing: ServerIndex[] = [];
  for (const index of wanted) {
    const found = present.find(({ name }) => name === index.name);
    if (found === undefined) missing.push(index);
    else if (!isSameIndexDefinition(found, index)) throw createIndexConflictError(spec.name, index.name);
  }
  if (missing.length > 0) {
    if (!canChange && !(await isCollectionEmpty(connection, spec.name)))
      throw createMissingIndexError(spec.name, missing);
    await buildIndexes(connection, spec, missing);
  }
  if (canChange) await dropSupersededIndexes(connection, spec, present, missing);
}

/**
 * Lists the indexes that queries can use. Without `includeBuildUUIDs`, the server does not mark indexes that it still
 * builds. A collection has at most 64 indexes, fewer than a first batch contains.
 */
async function listServerIndexes(connection: MongoConnection, collection: string): Promise<readonly ServerIndex[]> {
  const command = { listIndexes: collection, cursor: {}, includeBuildUUIDs: true };
  const { cursor } = await connection.runOnDatabase((database) => database.command(command));
  const { firstBatch } = cursor as { readonly firstBatch: readonly (ServerIndex | { readonly buildUUID: unknown })[] };
  return firstBatch.filter((index): index is ServerIndex => !('buildUUID' in index));
}

async function isCollectionEmpty(connection: MongoConnection, collection: string): Promise<boolean> {
  const options = { projection: { _id: 1 } };
  return (await connection.runOnDatabase((database) => database.collection(collection).findOne({}, options))) === null;
}

async function buildIndexes(
  connection: MongoConnection,
  { name, indexes }: CollectionSpec,
  missing: readonly ServerIndex[],
): Promise<void> {
  await connection.runOnDatabase(async (database) => {
    try {
      await database.collection(name).createIndexes([...missing], INDEX_BUILD_OPTIONS);
    } catch (error) {
      if (isIndexConflict(error)) throw createIndexConflictError(name, missing.map((index) => index.name).join());
      const violated = parseViolatedIndex(error, indexes);
      throw violated === undefined ? error : new DuplicateKeyError(name, violated);
    }
  }, INDEX_BUILD_DEADLINE_MS);
}

/**
 * Drops earlier versions of the indexes, after the new versions were built. Replicas of the previous release may still
 * name an earlier version in queries: the run that builds a new version leaves the earlier ones, and the next run drops
 * them. Earlier versions of unique indexes are dropped at once, because they may refuse writes of this release. Later
 * versions, which a newer release has built, are never dropped.
 */
async function dropSupersededIndexes(
  connection: MongoConnection,
  { name: collection, indexes }: CollectionSpec,
  present: readonly ServerIndex[],
  built: readonly ServerIndex[],
): Promise<void> {
  for (const { name, unique } of present) {
    const found = parseIndexNameAndVersion(name);
    const newest = indexes.find((index) => index.name === found.name);
    if (newest === undefined || found.version >= (newest.version ?? 1)) continue;
    const isNew = built.some((index) => parseIndexNameAndVersion(index.name).name === found.name);
    if (isNew && unique !== true) continue;
    await connection.runOnDatabase((database) =>
      database
        .collection(collection)
        .dropIndex(name)
        .catch((error: unknown) => {
          if (!isNoSuchIndex(error)) throw error;
        }),
    );
  }
}

function isSameIndexDefinition(one: ServerIndex, other: ServerIndex): boolean {
  return JSON.stringify(one.key) === JSON.stringify(other.key) && (one.unique === true) === (other.unique === true);
}

function createMissingIndexError(collection: string, missing: readonly ServerIndex[]): UnavailableError {
  const names = missing.map(({ name }) => name).join(', ');
  return new UnavailableError(ENGINE_NAME, `the collection ${collection} lacks the index ${names}; run the set-up`);
}

function createIndexConflictError(collection: string, index: string): Error {
  const what = `the index ${index} of ${collection} conflicts with an existing index of other name or definition`;
  return new Error(`${ENGINE_NAME}: ${what}; drop that index and run the set-up again`);
}

import type { Collection, CollectionSpec, Document, DocumentStore } from '@tracking/ports';
import { waitForSimulatedDelay } from './eventually.ts';

/**
 * Returns a document store whose single writes become readable, and resolve, `lagMs` milliseconds after they took effect;
 * guards apply them immediately. MongoDB with majority reads and writes behaves like this. Applies to `get`, `insert`,
 * `replace` and `claim`.
 */
export function delayStoreReads(store: DocumentStore, lagMs = 50): DocumentStore {
  return {
    collection: async <T extends Document>(spec: CollectionSpec): Promise<Collection<T>> =>
      delayCollectionReads(await store.collection<T>(spec), lagMs),
    listCollectionNames: (prefix) => store.listCollectionNames(prefix),
    dropCollection: (name) => store.dropCollection(name),
    close: () => Promise.resolve(),
  };
}

function delayCollectionReads<T extends Document>(inner: Collection<T>, lagMs: number): Collection<T> {
  /**
   * Document versions that reads still return, by document id, oldest first: the versions before the writes that are
   * not readable yet.
   */
  const visibleVersions = new Map<string, (T | undefined)[]>();
  let previous: Promise<unknown> = Promise.resolve();
  const write = async <R>(id: string, action: () => Promise<R>): Promise<R> => {
    const turn = previous.then(async () => {
      const before = await inner.get(id);
      const result = await action();
      if (result !== false && result !== undefined)
        visibleVersions.set(id, [...(visibleVersions.get(id) ?? []), before]);
      return result;
    });
    previous = turn.catch(() => undefined);
    const result = await turn;
    if (result === false || result === undefined) return result;
    await waitForSimulatedDelay(lagMs);
    const [, ...left] = visibleVersions.get(id) ?? [];
    if (left.length > 0) visibleVersions.set(id, left);
    else visibleVersions.delete(id);
    return result;
  };
  return {
    get: (id, shards) =>
      visibleVersions.has(id) ? Promise.resolve(visibleVersions.get(id)?.[0]) : inner.get(id, shards),
    getMany: (ids, shards) => inner.getMany(ids, shards),
    find: (query) => inner.find(query),
    findWithinByteLimit: (query, maxBytes) => inner.findWithinByteLimit(query, maxBytes),
    count: (filter, options) => inner.count(filter, options),
    sum: (field, filter, index) => inner.sum(field, filter, index),
    scan: (query) => inner.scan(query),
    insert: (document) => write(document.id, () => inner.insert(document)),
    replace: (document, guard) => write(document.id, () => inner.replace(document, guard)),
    replaceMany: (replacements) => inner.replaceMany(replacements),
    upsert: (document, guard) => inner.upsert(document, guard),
    delete: (id, guard) => inner.delete(id, guard),
    writeMany: (writes) => inner.writeMany(writes),
    claim: (query, set) => write(String(query.filter['id']), () => inner.claim(query, set)),
  };
}

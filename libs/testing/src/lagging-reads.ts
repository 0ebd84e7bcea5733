import type { Collection, CollectionSpec, Document, DocumentStore } from '@tracking/ports';
import { takeTime } from './eventually.ts';

/**
 * A document store whose single writes become readable, and resolve, `lagMs` after they took effect: guards see them at once.
 * MongoDB behaves so with majority reads and writes. Covers `get`, `insert`, `replace` and `claim`.
 */
export function withLaggingReads(store: DocumentStore, lagMs = 50): DocumentStore {
  return {
    collection: async <T extends Document>(spec: CollectionSpec): Promise<Collection<T>> =>
      lagging(await store.collection<T>(spec), lagMs),
    collectionNames: (prefix) => store.collectionNames(prefix),
    dropCollection: (name) => store.dropCollection(name),
    close: () => Promise.resolve(),
  };
}

function lagging<T extends Document>(inner: Collection<T>, lagMs: number): Collection<T> {
  /** By id, what reads still show: the forms before the writes that are not readable yet, the oldest first. */
  const shown = new Map<string, (T | undefined)[]>();
  let previous: Promise<unknown> = Promise.resolve();
  const write = async <R>(id: string, action: () => Promise<R>): Promise<R> => {
    const turn = previous.then(async () => {
      const before = await inner.get(id);
      const result = await action();
      if (result !== false && result !== undefined) shown.set(id, [...(shown.get(id) ?? []), before]);
      return result;
    });
    previous = turn.catch(() => undefined);
    const result = await turn;
    if (result === false || result === undefined) return result;
    await takeTime(lagMs);
    const [, ...left] = shown.get(id) ?? [];
    if (left.length > 0) shown.set(id, left);
    else shown.delete(id);
    return result;
  };
  return {
    get: (id) => (shown.has(id) ? Promise.resolve(shown.get(id)?.[0]) : inner.get(id)),
    getMany: (ids) => inner.getMany(ids),
    find: (query) => inner.find(query),
    findWithin: (query, maxBytes) => inner.findWithin(query, maxBytes),
    count: (filter, options) => inner.count(filter, options),
    scan: (query) => inner.scan(query),
    insert: (document) => write(document.id, () => inner.insert(document)),
    replace: (document, guard) => write(document.id, () => inner.replace(document, guard)),
    upsert: (document, guard) => inner.upsert(document, guard),
    delete: (id, guard) => inner.delete(id, guard),
    writeMany: (writes) => inner.writeMany(writes),
    claim: (query, set) => write(String(query.filter['id']), () => inner.claim(query, set)),
  };
}

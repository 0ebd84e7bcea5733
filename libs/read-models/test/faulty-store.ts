import { UnavailableError } from '@tracking/ports';
import type { Collection, CollectionSpec, Document, DocumentStore, CollectionWrite } from '@tracking/ports';

/** Decides, before every operation on a collection, whether the operation works or fails. */
type FaultPlan = (operation: 'read' | 'write', collection: string) => 'works' | 'fails' | 'works_and_fails';

/**
 * Wraps a document store so that operations fail before or after they take effect, and batches may be applied
 * partially.
 */
export function createFaultyDocumentStore(store: DocumentStore, trouble: FaultPlan): DocumentStore {
  const throughTo =
    (collection: string) =>
    async <R>(operation: 'read' | 'write', action: () => Promise<R>): Promise<R> => {
      const outcome = trouble(operation, collection);
      if (outcome === 'fails') throw new UnavailableError('document store', 'in trouble');
      const result = await action();
      if (outcome === 'works_and_fails') throw new UnavailableError('document store', 'in trouble, afterwards');
      return result;
    };
  return {
    collection: async <T extends Document>(spec: CollectionSpec): Promise<Collection<T>> => {
      const through = throughTo(spec.name);
      const inner = await through('read', () => store.collection<T>(spec));
      return {
        get: (id) => through('read', () => inner.get(id)),
        getMany: (ids, shards) => through('read', () => inner.getMany(ids, shards)),
        find: (query) => through('read', () => inner.find(query)),
        findWithinByteLimit: (query, maxBytes) => through('read', () => inner.findWithinByteLimit(query, maxBytes)),
        count: (filter, options) => through('read', () => inner.count(filter, options)),
        sum: (field, filter, index) => through('read', () => inner.sum(field, filter, index)),
        scan: (query) => through('read', () => inner.scan(query)),
        insert: (document) => through('write', () => inner.insert(document)),
        replace: (document, guard) => through('write', () => inner.replace(document, guard)),
        replaceMany: (replacements) => through('write', () => inner.replaceMany(replacements)),
        upsert: (document, guard) => through('write', () => inner.upsert(document, guard)),
        delete: (id, guard) => through('write', () => inner.delete(id, guard)),
        claim: (query, set) => through('write', () => inner.claim(query, set)),
        writeMany: async (writes) => {
          const halves: (readonly CollectionWrite<T>[])[] = [
            writes.slice(0, writes.length >> 1),
            writes.slice(writes.length >> 1),
          ];
          for (const half of halves) await through('write', () => inner.writeMany(half));
        },
      };
    },
    listCollectionNames: (prefix) => throughTo(prefix)('read', () => store.listCollectionNames(prefix)),
    dropCollection: (name) => throughTo(name)('write', () => store.dropCollection(name)),
    close: () => Promise.resolve(),
  };
}

/** Creates faults that fail all writes from the n-th write on, like a process that was killed at that write. */
export function createWriteFaults(n: number): { readonly trouble: FaultPlan; readonly isDead: () => boolean } {
  let writes = 0;
  return {
    trouble: (operation) => {
      if (writes >= n) return 'fails';
      if (operation === 'write') writes += 1;
      return writes === n && n % 2 === 1 ? 'works_and_fails' : 'works';
    },
    isDead: () => writes >= n,
  };
}

/** Returns a generator of numbers from 0 to 1. The sequence is the same for each seed. */
export function createSeededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

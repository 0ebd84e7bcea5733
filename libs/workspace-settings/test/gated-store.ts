import type { Collection, Document, DocumentStore } from '@tracking/ports';

/** Wraps a document store. Reads return their results only after `gate` resolves. */
export function delayStoreReads(documentStore: DocumentStore, gate: () => Promise<void>): DocumentStore {
  return {
    collection: async <T extends Document>(spec: Parameters<DocumentStore['collection']>[0]) => {
      const collection = await documentStore.collection<T>(spec);
      const get: Collection<T>['get'] = async (id) => {
        const found = await collection.get(id);
        await gate();
        return found;
      };
      return new Proxy(collection, {
        get(target, name) {
          const member: unknown = name === 'get' ? get : Reflect.get(target, name);
          return typeof member === 'function' ? member.bind(target) : member;
        },
      });
    },
    listCollectionNames: (prefix) => documentStore.listCollectionNames(prefix),
    dropCollection: (name) => documentStore.dropCollection(name),
    close: () => documentStore.close(),
  };
}

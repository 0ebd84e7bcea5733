import type { Collection, Document, DocumentStore } from '@tracking/ports';

/** Wraps the store so that `step` runs before each operation. `step` may wait, or throw so that nothing is done. */
export function createStoreWithStepHook(
  store: DocumentStore,
  step: (operation: string, collection: string) => Promise<void>,
): DocumentStore {
  const stepping = <T extends Document>(collection: Collection<T>, collectionName: string): Collection<T> =>
    new Proxy(collection, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return async (...values: unknown[]) => {
          await step(String(name), collectionName);
          const result: unknown = await Reflect.apply(member, target, values);
          return result;
        };
      },
    });
  return {
    collection: async <T extends Document>(spec: Parameters<DocumentStore['collection']>[0]) =>
      stepping(await store.collection<T>(spec), spec.name),
    listCollectionNames: (prefix) => store.listCollectionNames(prefix),
    dropCollection: (name) => store.dropCollection(name),
    close: () => store.close(),
  };
}

/** Returns delays of a few turns of the event loop, determined by the seed. */
export function createRandomDelays(seed: number): () => Promise<void> {
  let state = seed * 2_654_435_761 + 1;
  return async () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    for (let turns = (state >> 16) % 6; turns > 0; turns -= 1) await new Promise(setImmediate);
  };
}

import type { CollectionSpec, DocumentStore } from '@tracking/ports';

const PAGE = 500;

/**
 * Deletes what a subscriber's generations before this one left in a collection: nobody goes on with it.
 * @param spec of `CHECKPOINTS` or `PARKED`
 * @throws Unavailable
 */
export async function forgetEarlier(
  store: DocumentStore,
  spec: CollectionSpec,
  subscriber: string,
  generation: number,
): Promise<void> {
  const documents = await store.collection(spec);
  const earlier = { filter: { subscriber, generation: { lt: generation } }, limit: PAGE };
  for (let found = await documents.find(earlier); found.length > 0; found = await documents.find(earlier)) {
    await documents.writeMany(found.map(({ id }) => ({ kind: 'delete', id })));
  }
}

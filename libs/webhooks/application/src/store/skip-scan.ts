import type { Collection, Document } from '@tracking/ports';

/**
 * The first document for each value of the first of these fields, which is a text, found by skipping from value to value
 * along the index of these fields.
 */
export async function* firstOfEach<F extends string, T extends Document & { readonly [K in F]?: string }>(
  collection: Collection<T>,
  fields: readonly [F, ...string[]],
): AsyncIterable<T> {
  const [field] = fields;
  let value = '';
  for (;;) {
    const [next] = await collection.find({ filter: { [field]: { gt: value } }, sort: { fields }, limit: 1 });
    if (next?.[field] === undefined) return;
    value = next[field];
    yield next;
  }
}

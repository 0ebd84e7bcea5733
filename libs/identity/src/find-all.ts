import type { Collection, Document, Filter, Scalar } from '@tracking/ports';

const PAGE = 500;

/**
 * Every document that matches, sorted by fields of which the last is `id`. For collections that people fill by hand:
 * workspaces, keys.
 */
export async function findAll<T extends Document>(
  collection: Collection<T>,
  filter: Filter,
  sortedBy: readonly (keyof T & string)[],
): Promise<readonly T[]> {
  const all: T[] = [];
  let after: readonly Scalar[] | undefined;
  for (;;) {
    const page = await collection.find({ filter, sort: { fields: sortedBy }, limit: PAGE, ...(after && { after }) });
    all.push(...page);
    const last = page.at(-1);
    if (!last || page.length < PAGE) return all;
    after = sortedBy.map((field) => last[field] as Scalar);
  }
}

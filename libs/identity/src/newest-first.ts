import type { PageOf, PageRequest } from '@tracking/contracts';
import type { Collection, Document, Filter } from '@tracking/ports';

interface Dated extends Document {
  readonly created_at: string;
}

/**
 * A page of what matches, the newest first. The index has the fields that the filter compares with one value, then
 * `created_at` and `id`.
 */
export async function newestFirst<T extends Dated>(
  collection: Collection<T>,
  filter: Filter,
  { limit, after }: PageRequest,
): Promise<PageOf<T>> {
  const sort = { fields: ['created_at', 'id'], descending: true };
  const found = await collection.find({ filter, sort, limit: limit + 1, ...(after && { after }) });
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? placeOf(items.at(-1)) : null };
}

/** Looked through at once where only some of them are wanted. */
const PAGE = 200;

/** The same, as `wanted` answers them, of those that it lets pass, which no filter could tell: of collections that people fill by hand. */
export async function newestFirstOf<T extends Dated, R extends Dated>(
  collection: Collection<T>,
  filter: Filter,
  { limit, after }: PageRequest,
  wanted: (documents: readonly T[]) => Promise<readonly R[]>,
): Promise<PageOf<R>> {
  const items: R[] = [];
  let place = after;
  for (;;) {
    const page = await newestFirst(collection, filter, { limit: PAGE, ...(place && { after: place }) });
    items.push(...(await wanted(page.items)));
    if (items.length > limit) return { items: items.slice(0, limit), next: placeOf(items[limit - 1]) };
    if (page.next === null) return { items, next: null };
    place = page.next;
  }
}

function placeOf(last: Dated | undefined): readonly string[] | null {
  return last ? [last.created_at, last.id] : null;
}

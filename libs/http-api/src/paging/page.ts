import { DEFAULT_PAGE_SIZE } from '@tracking/contracts';
import type { Page } from '@tracking/contracts';
import type { Listed, SortValues } from '@tracking/read-models';
import type { Cursors, Listing } from './cursors.ts';

/** One page of a list, from its query to its answer. */
export async function page<T, R>(
  query: { readonly limit?: string; readonly cursor?: string },
  listing: Listing,
  cursors: Cursors,
  read: (limit: number, after: SortValues | undefined) => Promise<Listed<T>>,
  form: (item: T) => R,
): Promise<Page<R>> {
  const after = query.cursor === undefined ? undefined : cursors.read(query.cursor, listing);
  const limit = query.limit === undefined ? DEFAULT_PAGE_SIZE : Number(query.limit);
  const { items, next } = await read(limit, after);
  return {
    data: items.map(form),
    next_cursor: next === undefined ? null : cursors.issue(next, listing),
    has_more: next !== undefined,
  };
}

import { DEFAULT_PAGE_SIZE } from '@tracking/contracts';
import type { Page, PageRequest } from '@tracking/contracts';
import type { Cursors, Listing, SortValues } from './cursors.ts';

/** What a feature found; `next` is where the page after it begins, if there is one. */
export interface PageContent<T> {
  readonly items: readonly T[];
  readonly next: SortValues | null | undefined;
}

interface PageQuery {
  readonly limit?: string;
  readonly cursor?: string;
}

/** One page of a list, from its query to its answer. */
export async function page<T>(
  query: PageQuery,
  listing: Listing,
  cursors: Cursors,
  read: (limit: number, after: SortValues | undefined) => Promise<PageContent<T>>,
): Promise<Page<T>> {
  const after = query.cursor === undefined ? undefined : cursors.read(query.cursor, listing);
  const limit = query.limit === undefined ? DEFAULT_PAGE_SIZE : Number(query.limit);
  const { items, next } = await read(limit, after);
  return { data: items, next_cursor: next ? cursors.issue(next, listing) : null, has_more: Boolean(next) };
}

/** The same, of a list of records whose place is told in texts. */
export function recordPage<T>(
  query: PageQuery,
  listing: Listing,
  cursors: Cursors,
  read: (request: PageRequest) => Promise<PageContent<T>>,
): Promise<Page<T>> {
  return page(query, listing, cursors, (limit, after) => read({ limit, ...(after && { after: after.map(String) }) }));
}

import { DEFAULT_PAGE_SIZE, type Page, type PageRequest, type Scope } from '@tracking/contracts';
import { invalidRequest } from '../errors/request-error.ts';
import type { Sealer } from '../server/seal.ts';
import { Cursor, Limit } from '../validation/fields.ts';

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

/** The query of a list without filters; those with some extend it. */
export class PageDto {
  @Limit()
  limit?: string;

  @Cursor()
  cursor?: string;
}

/** What a cursor belongs to. Used with another list, scope, filter or sort it is refused; the page size may differ. */
export interface Listing {
  readonly list: string;
  readonly scope: Scope;
  readonly filter: Readonly<Record<string, unknown>>;
  readonly sort: string;
}

/** Values of the sort fields of a list's item, in their order; null sorts behind all others. */
export type SortValues = readonly (string | number | null)[];

/** Cursors: the sort values of a page's last item, sealed and bound to the listing that they came from. */
export class Cursors {
  constructor(private readonly sealer: Sealer) {}

  issue(after: SortValues, listing: Listing): string {
    return this.sealer.close(JSON.stringify(after), { purpose: 'cursor', binding: binding(listing) });
  }

  /** @throws RequestError `invalid_cursor` */
  read(cursor: string, listing: Listing): SortValues {
    const text = this.sealer.open(cursor, { purpose: 'cursor', binding: binding(listing) });
    if (text !== undefined) return JSON.parse(text) as SortValues;
    throw invalidRequest([
      {
        param: 'cursor',
        code: 'invalid_cursor',
        message: 'Must be a next_cursor of this list, sent with the same filters and sort.',
      },
    ]);
  }
}

function binding({ list, scope, filter, sort }: Listing): string {
  const filters = Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([list, scope.workspace_id, scope.environment, filters, sort]);
}

import { DEFAULT_PAGE_SIZE, type Page, type PageRequest, type WorkspaceScope } from '@tracking/contracts';
import { createInvalidRequestError } from '../errors/request-error.ts';
import type { TokenSigner } from '../server/seal.ts';
import { PageCursorProperty, PageLimitProperty } from '../validation/fields.ts';

/** The items of a page. `next` is the position of the next page; absent on the last page. */
export interface ItemsAndNextPosition<T> {
  readonly items: readonly T[];
  readonly next: SortValues | null | undefined;
}

interface PageQuery {
  readonly limit?: string;
  readonly cursor?: string;
}

/** Reads one page of a list. */
export async function readListPage<T>(
  query: PageQuery,
  listing: CursorScope,
  cursors: PageCursorCodec,
  read: (limit: number, after: SortValues | undefined) => Promise<ItemsAndNextPosition<T>>,
): Promise<Page<T>> {
  const after = query.cursor === undefined ? undefined : cursors.parsePageCursor(query.cursor, listing);
  const { items, next } = await read(parsePageLimit(query.limit), after);
  return { data: items, next_cursor: next ? cursors.createCursor(next, listing) : null, has_more: Boolean(next) };
}

/** Returns the number of items per page: the limit of the query, or the default. */
export function parsePageLimit(limit: string | undefined): number {
  return limit === undefined ? DEFAULT_PAGE_SIZE : Number(limit);
}

/** Reads one page of a list whose cursor position consists of texts. */
export function readListPageByTextPosition<T>(
  query: PageQuery,
  listing: CursorScope,
  cursors: PageCursorCodec,
  read: (request: PageRequest) => Promise<ItemsAndNextPosition<T>>,
): Promise<Page<T>> {
  return readListPage(query, listing, cursors, (limit, after) =>
    read({ limit, ...(after && { after: after.map(String) }) }),
  );
}

/** Query parameters of a list. Lists with filters extend the class. */
export class PageDto {
  @PageLimitProperty()
  limit?: string;

  @PageCursorProperty()
  cursor?: string;
}

/**
 * The list that a cursor belongs to. A cursor is refused for another list, scope, filter or sort order; the page size
 * may differ.
 */
export interface CursorScope {
  readonly list: string;
  readonly scope: WorkspaceScope;
  readonly filter: Readonly<Record<string, unknown>>;
  readonly sort: string;
}

/** Values of an item's sort fields, in order. Null sorts last. */
export type SortValues = readonly (string | number | null)[];

/** Creates cursors. A cursor contains the sort values of a page's last item, signed and bound to the list. */
export class PageCursorCodec {
  constructor(private readonly sealer: TokenSigner) {}

  createCursor(after: SortValues, listing: CursorScope): string {
    return this.sealer.sealTextWithMac(JSON.stringify(after), {
      purpose: 'cursor',
      binding: createListCursorBinding(listing),
    });
  }

  /** @throws RequestError `invalid_cursor` */
  parsePageCursor(cursor: string, listing: CursorScope): SortValues {
    const text = this.sealer.readTextOfVerifiedToken(cursor, {
      purpose: 'cursor',
      binding: createListCursorBinding(listing),
    });
    if (text !== undefined) return JSON.parse(text) as SortValues;
    throw createInvalidRequestError([
      {
        param: 'cursor',
        code: 'invalid_cursor',
        message: 'Must be a next_cursor of this list, sent with the same filters and sort order.',
      },
    ]);
  }
}

function createListCursorBinding({ list, scope, filter, sort }: CursorScope): string {
  const filters = Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([list, scope.workspace_id, scope.environment, filters, sort]);
}

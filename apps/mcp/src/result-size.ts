import type { List, Page } from '@tracking/client';
import { ToolError } from './api-errors.ts';

/**
 * Maximum number of bytes of the JSON of one result, about 8,000 tokens. A result is sent twice, as structured content
 * and as text for clients that do not read structured content.
 */
export const MAX_RESULT_BYTES = 32 * 1_024;
/** Bytes of a page besides its items: names, cursor and hint. */
const PAGE_OVERHEAD_BYTES = 2_048;
const MAX_TOOL_RESULT_ITEMS_BYTES = MAX_RESULT_BYTES - PAGE_OVERHEAD_BYTES;
/** Maximum number of empty pages that are skipped, because a filter may match only items of later pages. */
const MAX_EMPTY_PAGES = 10;
/** Lengths of texts and lists that are tried in turn until a value is small enough. */
const SHORTENED_TEXT_AND_LIST_LENGTHS = [
  { text: 2_000, list: 100 },
  { text: 500, list: 20 },
  { text: 100, list: 5 },
  { text: 60, list: 1 },
];
const TRUNCATION_MARKER = '… [shortened]';

/** Fields of the results of all list tools. */
export interface ResultPage<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

/**
 * Reads one page of a list of the API that is small enough for a result. If the page is too large, reads it again with
 * a smaller `limit`, so that its cursor continues after its last item. Skips empty pages, after which a model would
 * stop although other pages follow.
 * @param list returns the list with this page size
 * @param toItem selects the fields of an item
 */
export async function readPageWithinResultSize<Item, Shown>(
  list: (limit: number) => List<Item>,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  toItem: (item: Item) => Shown,
): Promise<ResultPage<Shown>> {
  let size = limit;
  let start = cursor;
  let emptyPages = 0;
  for (;;) {
    const page: Page<Item> = await list(size).page(start);
    if (page.data.length === 0 && page.next_cursor !== null && emptyPages < MAX_EMPTY_PAGES) {
      emptyPages += 1;
      start = page.next_cursor;
      continue;
    }
    const items = page.data.map(toItem);
    const count = countItemsWithinBytes(items, MAX_TOOL_RESULT_ITEMS_BYTES);
    if (count === items.length) return { items, next_cursor: page.next_cursor };
    if (size === 1)
      return {
        items: items.map((item) => shortenValueToBytes(item, MAX_TOOL_RESULT_ITEMS_BYTES)),
        next_cursor: page.next_cursor,
      };
    size = Math.max(1, Math.min(count, size - 1));
  }
}

/** Returns how many items at the start fit into the bytes. */
function countItemsWithinBytes(items: readonly unknown[], bytes: number): number {
  let used = 0;
  const index = items.findIndex((item) => (used += countJsonBytes(item) + 1) > bytes);
  return index === -1 ? items.length : index;
}

export function countJsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

/**
 * Returns one page of a resource with long lists. Each page has all other fields. The items of the lists follow in the
 * order of `lists`, so a page may have an empty list whose items are on another page.
 * @param version version of the resource, so that a changed resource is not paged as if it were unchanged
 * @throws ToolError if the cursor is invalid, or if the resource has changed since the first page
 */
export function createPageOfResourceLists<Resource extends object>(
  resource: Resource,
  lists: readonly (keyof Resource & string)[],
  version: number,
  cursor: string | undefined,
): Resource & { readonly next_cursor: string | null } {
  const offset = parseCursorOffset(cursor, version);
  const fields = Object.fromEntries(Object.entries(resource).filter(([name]) => !lists.includes(name as never)));
  const others = shortenValueToBytes(fields, MAX_TOOL_RESULT_ITEMS_BYTES / 2);
  const all = lists.flatMap((name) => (resource[name] as readonly unknown[]).map((item) => ({ name, item })));
  const available = MAX_TOOL_RESULT_ITEMS_BYTES - countJsonBytes(others);
  const rest = all.slice(offset);
  const count = countItemsWithinBytes(
    rest.map(({ item }) => item),
    available,
  );
  const shown = rest.slice(0, Math.max(1, count));
  const end = offset + shown.length;
  const itemsOf = (list: string) =>
    shown.flatMap(({ name, item }) =>
      name === list ? [count === 0 ? shortenValueToBytes(item, available) : item] : [],
    );
  return {
    ...others,
    ...Object.fromEntries(lists.map((name) => [name, itemsOf(name)])),
    next_cursor: end < all.length ? `${version}.${end}` : null,
  } as Resource & { readonly next_cursor: string | null };
}

function parseCursorOffset(cursor: string | undefined, version: number): number {
  if (cursor === undefined) return 0;
  const [, pageVersion, offset] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? [];
  if (offset === undefined) throw new ToolError('invalid_cursor', 'cursor must be next_cursor of the previous page.');
  if (Number(pageVersion) !== version) {
    throw new ToolError(
      'resource_changed',
      'The data changed since the first page. Call the tool again without cursor.',
    );
  }
  return Number(offset);
}

/** Shortens long texts and lists in a value until its JSON fits into the bytes. Keeps the names of all short fields. */
export function shortenValueToBytes<T>(value: T, bytes: number): T {
  if (countJsonBytes(value) <= bytes) return value;
  for (const lengths of SHORTENED_TEXT_AND_LIST_LENGTHS) {
    const shortened = shortenTextsAndLists(value, lengths);
    if (countJsonBytes(shortened) <= bytes) return shortened as T;
  }
  throw new ToolError('result_too_large', 'The result is too large. Use the API to read it.');
}

function shortenTextsAndLists(value: unknown, lengths: { readonly text: number; readonly list: number }): unknown {
  if (typeof value === 'string') {
    return value.length > lengths.text ? `${value.slice(0, lengths.text).toWellFormed()}${TRUNCATION_MARKER}` : value;
  }
  if (Array.isArray(value)) return value.slice(0, lengths.list).map((item) => shortenTextsAndLists(item, lengths));
  if (typeof value !== 'object' || value === null) return value;
  // Resources have fewer fields than this; only free-form objects, such as metadata, have more.
  const entries = Object.entries(value).slice(0, Math.max(lengths.list, MIN_KEPT_OBJECT_FIELDS));
  return Object.fromEntries(entries.map(([name, item]) => [name, shortenTextsAndLists(item, lengths)]));
}

const MIN_KEPT_OBJECT_FIELDS = 50;

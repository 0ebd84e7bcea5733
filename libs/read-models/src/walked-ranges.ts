import type { Collection, Document, Filter, Query, Scalar, IndexScanResult } from '@tracking/ports';
import type { SortValues } from './read-model.ts';

/** One part of a list: ranges of one index, each in index order. No row is in two ranges. */
export interface IndexRangesOfListPart {
  readonly index: string;
  /**
   * Complete filters, one for each range. Status ranges are in the order in which a shipment usually passes the
   * statuses.
   */
  readonly filters: readonly Filter[];
  readonly sort: NonNullable<Query['sort']>;
  /** Sort values after which the scan of the part continues; undefined to start at its beginning. */
  readonly after: readonly Scalar[] | undefined;
  /** Converts sort values of this part to sort values of the whole list. */
  readonly toSortValues: (values: readonly Scalar[]) => SortValues;
}

export interface RowPage<R> {
  readonly rows: readonly R[];
  /** Sort values at which the next page starts; undefined if no rows follow. */
  readonly next: SortValues | undefined;
}

/** Maximum size of a page in bytes of JSON, independent of its `limit`. */
export const MAX_PAGE_BYTES = 8 * 1_048_576;
/** Minimum share of a page's bytes that each range may read, so that a page of large documents is never empty. */
const MIN_BYTE_SHARE_OF_RANGE = 1 / 8;

/** Divides the bytes of a page among several ranges. Returns the bytes that each range may read. */
function divideBytesAmongRanges(bytes: number, ranges: number): number {
  return bytes * Math.max(MIN_BYTE_SHARE_OF_RANGE, 1 / ranges);
}

/** Limits of the work for one part of a list page. */
export interface ListScanWorkLimits {
  /** Maximum number of index entries that one scan visits in all ranges together, at least one per range. */
  readonly visit: number;
  readonly stretches: number;
  /** Approximate maximum size of the rows, in bytes of JSON. */
  readonly bytes: number;
}

/**
 * Reads one page of a list that consists of consecutive parts. If a part is not read to its end, the page ends with the
 * rows found so far, and the next page continues in that part.
 */
export async function readPageFromConsecutiveListParts<R extends Document>(
  parts: readonly IndexRangesOfListPart[],
  limit: number,
  read: (part: IndexRangesOfListPart, wanted: number) => Promise<IndexScanResult<R>>,
): Promise<RowPage<R>> {
  const found: { readonly row: R; readonly part: IndexRangesOfListPart }[] = [];
  const rows = () => found.slice(0, limit).map(({ row }) => row);
  for (const part of parts) {
    // One row more than requested shows whether more rows follow.
    const { documents, next } = await read(part, limit + 1 - found.length);
    for (const row of documents) found.push({ row, part });
    const last = found[limit - 1];
    if (found.length > limit && last !== undefined) {
      return { rows: rows(), next: last.part.toSortValues(readSortValues(last.row, last.part)) };
    }
    if (next !== undefined) return { rows: rows(), next: part.toSortValues(next) };
  }
  return { rows: rows(), next: undefined };
}

/** Scans the ranges until the requested number of rows is found or a limit is reached. */
export async function scanRowRanges<R extends Document>(
  rows: Pick<Collection<R>, 'scan'>,
  part: IndexRangesOfListPart,
  wanted: number,
  bounds: ListScanWorkLimits,
): Promise<IndexScanResult<R>> {
  let documents: readonly R[] = [];
  let { after } = part;
  const visit = Math.ceil(bounds.visit / part.filters.length);
  const maxBytes = divideBytesAmongRanges(bounds.bytes, part.filters.length);
  for (let stretch = 0; stretch < bounds.stretches; stretch += 1) {
    const rest = { ...part, after };
    const scans = await readRangesByStatusInTurn(part.filters, (filter) =>
      rows.scan({ ...toRangeQuery(rest, filter, wanted - documents.length), visit, maxBytes }),
    );
    const merged = mergeScanResults(scans, part);
    documents = removeDuplicateRows([...documents, ...merged.documents]);
    after = merged.next;
    if (after === undefined || documents.length >= wanted || scans.some(({ isCut }) => isCut)) break;
  }
  return { documents: documents.slice(0, wanted), next: after };
}

/**
 * Reads the ranges of one status concurrently, and the statuses one after another. A row that moves to the next status
 * during the read is therefore found in at least one of them.
 */
async function readRangesByStatusInTurn<T>(
  filters: readonly Filter[],
  read: (filter: Filter) => Promise<T>,
): Promise<readonly T[]> {
  const byStatus = new Map<string, Filter[]>();
  for (const filter of filters) {
    const status = JSON.stringify(filter['status'] ?? filter['terms'] ?? null);
    byStatus.set(status, [...(byStatus.get(status) ?? []), filter]);
  }
  const all: T[] = [];
  for (const some of byStatus.values()) all.push(...(await Promise.all(some.map(read))));
  return all;
}

/** Reads all rows of the ranges and sorts them. If large rows truncate a range, the result ends at that point. */
export async function readSortedRanges<R extends Document>(
  rows: Pick<Collection<R>, 'findWithinByteLimit'>,
  part: IndexRangesOfListPart,
  limit: number,
  bytes: number,
): Promise<IndexScanResult<R>> {
  const maxBytes = divideBytesAmongRanges(bytes, part.filters.length);
  const found = await readRangesByStatusInTurn(part.filters, (filter) =>
    rows.findWithinByteLimit(toRangeQuery(part, filter, limit), maxBytes),
  );
  const stretches = found.map(({ documents, isCut }) => {
    const last = documents.at(-1);
    return { documents, next: isCut && last !== undefined ? readSortValues(last, part) : undefined };
  });
  const { documents, next } = mergeScanResults(stretches, part);
  return { documents: documents.slice(0, limit), next };
}

/** Returns the query of one range. */
function toRangeQuery({ index, sort, after }: IndexRangesOfListPart, filter: Filter, limit: number) {
  return { index, filter, sort, limit, ...(after !== undefined && { after }) };
}

/** Merges concurrent scans of several ranges. The result ends at the position that all scans have reached. */
function mergeScanResults<R extends Document>(
  stretches: readonly IndexScanResult<R>[],
  part: IndexRangesOfListPart,
): IndexScanResult<R> {
  const places = stretches.flatMap(({ next }) => (next === undefined ? [] : [next]));
  const [next] = places.sort((one, other) => compareSortValues(one, other, part));
  const documents = stretches
    .flatMap((stretch) => stretch.documents)
    .filter((row) => next === undefined || compareSortValues(readSortValues(row, part), next, part) <= 0);
  return { documents: sortRows(part, documents), next };
}

/** Sorts the rows in the order of the part and removes duplicates. */
function sortRows<R extends Document>(part: IndexRangesOfListPart, rows: readonly R[]): readonly R[] {
  return removeDuplicateRows(rows).sort((one, other) =>
    compareSortValues(readSortValues(one, part), readSortValues(other, part), part),
  );
}

/** Removes duplicates. A row that is written during the read can appear in two ranges, or twice in one range. */
function removeDuplicateRows<R extends Document>(rows: readonly R[]): R[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

function readSortValues(row: Document, { sort }: IndexRangesOfListPart): readonly Scalar[] {
  const fields = row as Document & Readonly<Record<string, Scalar>>;
  return sort.fields.map((field) => fields[field] ?? null);
}

/** Compares the sort values of two rows. They are times and ids, which contain only ASCII characters. */
function compareSortValues(one: readonly Scalar[], other: readonly Scalar[], { sort }: IndexRangesOfListPart): number {
  const at = one.findIndex((value, place) => value !== other[place]);
  if (at < 0) return 0;
  const isBefore = String(one[at]) < String(other[at]);
  return isBefore === (sort.descending === true) ? 1 : -1;
}

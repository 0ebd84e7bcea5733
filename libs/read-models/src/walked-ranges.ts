import type { Collection, Document, Filter, Query, Scalar, ScanResult } from '@tracking/ports';
import type { SortValues } from './read-model.ts';

/** A part of a list: ranges of one index, each in its order. No row is in two of them. */
export interface ListPart {
  readonly index: string;
  /** All that is asked for, once for each range; ranges of statuses in the order in which a row usually has these. */
  readonly filters: readonly Filter[];
  readonly sort: NonNullable<Query['sort']>;
  /** Where to go on; undefined at the beginning of the part. */
  readonly after: readonly Scalar[] | undefined;
  /** The place of an entry in the whole list, by its sort values in this part. */
  readonly toSortValues: (values: readonly Scalar[]) => SortValues;
}

export interface RowPage<R> {
  readonly rows: readonly R[];
  /** Where the next page begins, if there may be one. */
  readonly next: SortValues | undefined;
}

/** Most bytes of JSON in one page, whatever `limit` allows. */
export const PAGE_BYTES = 8 * 1_048_576;
/** The least share of these bytes that one of many ranges may read, so that pages of large documents make progress. */
const MIN_BYTE_SHARE = 1 / 8;

/** Share of the bytes of a page that each of several ranges may read. */
function byteShare(bytes: number, ranges: number): number {
  return bytes * Math.max(MIN_BYTE_SHARE, 1 / ranges);
}

/** What a part of a page may cost. */
export interface WalkBounds {
  /** Most entries that one stretch looks at, all ranges together; each looks at one at least. */
  readonly visit: number;
  readonly stretches: number;
  /** About how many bytes of JSON its rows may have. */
  readonly bytes: number;
}

/**
 * One page of a list of several parts, one behind the other. Where a part is not read to its end, the page holds what was
 * found so far, and the next one goes on from where it stopped.
 */
export async function readPageOfParts<R extends Document>(
  parts: readonly ListPart[],
  limit: number,
  read: (part: ListPart, wanted: number) => Promise<ScanResult<R>>,
): Promise<RowPage<R>> {
  const found: { readonly row: R; readonly part: ListPart }[] = [];
  const rows = () => found.slice(0, limit).map(({ row }) => row);
  for (const part of parts) {
    // One more than asked for tells whether there are more.
    const { documents, next } = await read(part, limit + 1 - found.length);
    for (const row of documents) found.push({ row, part });
    const last = found[limit - 1];
    if (found.length > limit && last !== undefined) {
      return { rows: rows(), next: last.part.toSortValues(sortValuesOf(last.row, last.part)) };
    }
    if (next !== undefined) return { rows: rows(), next: part.toSortValues(next) };
  }
  return { rows: rows(), next: undefined };
}

/** As many as are wanted, or as far as the bounds reach. */
export async function walkRanges<R extends Document>(
  rows: Pick<Collection<R>, 'scan'>,
  part: ListPart,
  wanted: number,
  bounds: WalkBounds,
): Promise<ScanResult<R>> {
  let documents: readonly R[] = [];
  let { after } = part;
  const visit = Math.ceil(bounds.visit / part.filters.length);
  const maxBytes = byteShare(bounds.bytes, part.filters.length);
  for (let stretch = 0; stretch < bounds.stretches; stretch += 1) {
    const rest = { ...part, after };
    const scans = await readStatusByStatus(part.filters, (filter) =>
      rows.scan({ ...toQuery(rest, filter, wanted - documents.length), visit, maxBytes }),
    );
    const merged = mergeScans(scans, part);
    documents = uniqueById([...documents, ...merged.documents]);
    after = merged.next;
    if (after === undefined || documents.length >= wanted || scans.some(({ isCut }) => isCut)) break;
  }
  return { documents: documents.slice(0, wanted), next: after };
}

/**
 * Reads ranges of the same status side by side, and one status after another: a row that moves to the next status
 * while ranges are read is then found in one of them.
 */
async function readStatusByStatus<T>(
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

/**
 * All rows of the ranges, in the order of the part: they are few enough to read at once.
 * Ends where a range was cut because its rows are large.
 */
export async function readSortedRanges<R extends Document>(
  rows: Pick<Collection<R>, 'findWithin'>,
  part: ListPart,
  limit: number,
  bytes: number,
): Promise<ScanResult<R>> {
  const maxBytes = byteShare(bytes, part.filters.length);
  const found = await readStatusByStatus(part.filters, (filter) =>
    rows.findWithin(toQuery(part, filter, limit), maxBytes),
  );
  const stretches = found.map(({ documents, isCut }) => {
    const last = documents.at(-1);
    return { documents, next: isCut && last !== undefined ? sortValuesOf(last, part) : undefined };
  });
  const { documents, next } = mergeScans(stretches, part);
  return { documents: documents.slice(0, limit), next };
}

/** Of one range. */
function toQuery({ index, sort, after }: ListPart, filter: Filter, limit: number) {
  return { index, filter, sort, limit, ...(after !== undefined && { after }) };
}

/** Of several ranges side by side: as far as all of them were looked at. */
function mergeScans<R extends Document>(stretches: readonly ScanResult<R>[], part: ListPart): ScanResult<R> {
  const places = stretches.flatMap(({ next }) => (next === undefined ? [] : [next]));
  const [next] = places.sort((one, other) => compareSortValues(one, other, part));
  const documents = stretches
    .flatMap((stretch) => stretch.documents)
    .filter((row) => next === undefined || compareSortValues(sortValuesOf(row, part), next, part) <= 0);
  return { documents: sortRows(part, documents), next };
}

/** Each row once, in the order of the part. */
function sortRows<R extends Document>(part: ListPart, rows: readonly R[]): readonly R[] {
  return uniqueById(rows).sort((one, other) =>
    compareSortValues(sortValuesOf(one, part), sortValuesOf(other, part), part),
  );
}

/** A row that is written while ranges are looked at may be found in two, or again further on. */
function uniqueById<R extends Document>(rows: readonly R[]): R[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

function sortValuesOf(row: Document, { sort }: ListPart): readonly Scalar[] {
  const fields = row as Document & Readonly<Record<string, Scalar>>;
  return sort.fields.map((field) => fields[field] ?? null);
}

/** Text of times and ids only: all of it is ASCII. */
function compareSortValues(one: readonly Scalar[], other: readonly Scalar[], { sort }: ListPart): number {
  const at = one.findIndex((value, place) => value !== other[place]);
  if (at < 0) return 0;
  const isBefore = String(one[at]) < String(other[at]);
  return isBefore === (sort.descending === true) ? 1 : -1;
}

import { SHIPMENT_STATUSES } from '@tracking/contracts';
import type { WorkspaceScope, ShipmentRecord } from '@tracking/contracts';
import type { Collection, DocumentsWithinByteLimit, Filter } from '@tracking/ports';
import { createScopeFilter } from '../read-model.ts';
import type { ShipmentReadModelRow } from './shipment-rows.ts';
import { foldReference, INACTIVE_STATUSES, createTermIndexEntry } from './shipment-terms.ts';

/** Fields that identify the freight of a shipment. */
export type Freight = Pick<ShipmentRecord, 'id' | 'house_bill' | 'container_numbers'>;

/** Another shipment that may be the same freight. */
export interface PossibleDuplicate {
  readonly id: string;
  /** True if both shipments have the same house bill. */
  readonly house_bill: boolean;
  /** Container numbers that both shipments have. */
  readonly container_numbers: readonly string[];
}

const MAX_POSSIBLE_DUPLICATE_SHIPMENTS = 5;
/** Number of rows in the first read, in any status. It nearly always finds all rows with the references. */
export const DUPLICATE_SEARCH_FIRST_READ_ROWS = 10;
/**
 * Maximum size of the rows of one read, in bytes of JSON. A bulk request searches for the duplicates of many items at
 * the same time.
 */
export const MAX_DUPLICATE_SEARCH_READ_BYTES = 1_048_576;
/** Limits of the second read, for references with more rows: the number of rows per reference, and in total. */
const MAX_VISITED_ROWS_PER_REFERENCE = 200;
const MAX_ROWS_VISITED_FOR_DUPLICATES = 2_000;
/**
 * Maximum number of references that the second read queries, one after another. Duplicates share nearly all references.
 */
const MAX_REFERENCES_QUERIED_FOR_DUPLICATES = 20;
const ACTIVE_STATUSES = SHIPMENT_STATUSES.filter((status) => !INACTIVE_STATUSES.includes(status));

/** Returns a filter for rows that have at least one of the terms. */
export function createTermsFilter(scope: WorkspaceScope, terms: readonly string[]): Filter {
  const [only] = terms;
  return { ...createScopeFilter(scope), terms: terms.length === 1 && only !== undefined ? only : { in: terms } };
}

/** Rows of shipments, and the version of the read model that built them. */
interface DuplicateSearchSource {
  readonly rows: Pick<Collection<ShipmentReadModelRow>, 'scan'>;
  readonly version: number;
  /**
   * Returns up to {@link DUPLICATE_SEARCH_FIRST_READ_ROWS} rows that have at least one of the terms, of at most
   * {@link MAX_DUPLICATE_SEARCH_READ_BYTES}.
   */
  readFirstRows(terms: readonly string[]): Promise<DocumentsWithinByteLimit<ShipmentReadModelRow>>;
}

/** Finds a few other active shipments with the same house bill or a common container. */
export async function findPossibleDuplicateShipments(
  { rows, version, readFirstRows }: DuplicateSearchSource,
  scope: WorkspaceScope,
  freight: Freight,
): Promise<readonly PossibleDuplicate[]> {
  const { id, house_bill, container_numbers } = freight;
  const terms = [
    ...(house_bill === null ? [] : [createTermIndexEntry('house_bill', house_bill, version)]),
    ...container_numbers.map((number) => createTermIndexEntry('container_number', number, version)),
  ];
  if (terms.length === 0) return [];
  const { documents: found, isCut } = await readFirstRows(terms);
  const others = new Map<string, ShipmentReadModelRow>();
  const add = (some: readonly ShipmentReadModelRow[]) => {
    for (const row of some) if (row.id !== id && !INACTIVE_STATUSES.includes(row.status)) others.set(row.id, row);
  };
  // Carriers reuse containers for years, and tests may use one container for all shipments.
  if (isCut || found.length >= DUPLICATE_SEARCH_FIRST_READ_ROWS) {
    const asked = terms.slice(0, MAX_REFERENCES_QUERIED_FOR_DUPLICATES);
    const visit = Math.min(MAX_VISITED_ROWS_PER_REFERENCE, Math.floor(MAX_ROWS_VISITED_FOR_DUPLICATES / asked.length));
    const filter = (terms: string) => ({ ...createScopeFilter(scope), terms, status: { in: ACTIVE_STATUSES } });
    for (const one of asked)
      if (others.size < MAX_POSSIBLE_DUPLICATE_SHIPMENTS) add(await findNewestRows(rows, filter(one), id, visit));
  }
  add(found);
  const own = new Set(container_numbers);
  return [...others.values()].slice(0, MAX_POSSIBLE_DUPLICATE_SHIPMENTS).map(({ id: other, record }) => ({
    id: other,
    house_bill: house_bill !== null && foldReference(record.house_bill ?? '') === foldReference(house_bill),
    container_numbers: record.container_numbers.filter((number) => own.has(number)),
  }));
}

/** Returns the newest rows. If there are other rows than the own one, at least one of them is returned. */
async function findNewestRows(
  rows: Pick<Collection<ShipmentReadModelRow>, 'scan'>,
  filter: Filter,
  ownId: string,
  visit: number,
): Promise<readonly ShipmentReadModelRow[]> {
  const query = {
    index: 'by_term',
    filter,
    sort: { fields: ['created_at', 'id'], descending: true },
    // The limit includes one more row, because the shipment itself may be among the rows.
    limit: MAX_POSSIBLE_DUPLICATE_SHIPMENTS + 1,
    visit,
    maxBytes: MAX_DUPLICATE_SEARCH_READ_BYTES,
  };
  const { documents, next, isCut = false } = await rows.scan(query);
  const isOnlyOwn = documents.every(({ id }) => id === ownId);
  return isCut && isOnlyOwn && next !== undefined ? (await rows.scan({ ...query, after: next })).documents : documents;
}

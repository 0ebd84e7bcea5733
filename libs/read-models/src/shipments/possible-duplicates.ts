import { SHIPMENT_STATUSES } from '@tracking/contracts';
import type { WorkspaceScope, ShipmentRecord } from '@tracking/contracts';
import type { Collection, Filter } from '@tracking/ports';
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
  /** Returns up to {@link DUPLICATE_SEARCH_FIRST_READ_ROWS} rows that have at least one of the terms. */
  readFirstRows(terms: readonly string[]): Promise<readonly ShipmentReadModelRow[]>;
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
  const found = await readFirstRows(terms);
  const others = new Map<string, ShipmentReadModelRow>();
  const add = (some: readonly ShipmentReadModelRow[]) => {
    for (const row of some) if (row.id !== id && !INACTIVE_STATUSES.includes(row.status)) others.set(row.id, row);
  };
  // Carriers reuse containers for years, and tests may use one container for all shipments.
  if (found.length >= DUPLICATE_SEARCH_FIRST_READ_ROWS) {
    const asked = terms.slice(0, MAX_REFERENCES_QUERIED_FOR_DUPLICATES);
    const visit = Math.min(MAX_VISITED_ROWS_PER_REFERENCE, Math.floor(MAX_ROWS_VISITED_FOR_DUPLICATES / asked.length));
    for (const one of asked)
      if (others.size < MAX_POSSIBLE_DUPLICATE_SHIPMENTS) add(await findNewestActiveShipment(rows, scope, one, visit));
  }
  add(found);
  const own = new Set(container_numbers);
  return [...others.values()].slice(0, MAX_POSSIBLE_DUPLICATE_SHIPMENTS).map(({ id: other, record }) => ({
    id: other,
    house_bill: house_bill !== null && foldReference(record.house_bill ?? '') === foldReference(house_bill),
    container_numbers: record.container_numbers.filter((number) => own.has(number)),
  }));
}

async function findNewestActiveShipment(
  rows: Pick<Collection<ShipmentReadModelRow>, 'scan'>,
  scope: WorkspaceScope,
  one: string,
  visit: number,
) {
  const { documents } = await rows.scan({
    index: 'by_term',
    filter: { ...createScopeFilter(scope), terms: one, status: { in: ACTIVE_STATUSES } },
    sort: { fields: ['created_at', 'id'], descending: true },
    // The limit includes one more row, because the shipment itself may be among the rows.
    limit: MAX_POSSIBLE_DUPLICATE_SHIPMENTS + 1,
    visit,
  });
  return documents;
}

import { SHIPMENT_STATUSES } from '@tracking/contracts';
import type { Scope, ShipmentRecord } from '@tracking/contracts';
import type { Collection, Filter } from '@tracking/ports';
import { scopeFilter } from '../read-model.ts';
import type { ShipmentRow } from './shipment-rows.ts';
import { INACTIVE_STATUSES, term } from './shipment-terms.ts';

/** What tells that two shipments may be the same freight. */
export type Freight = Pick<ShipmentRecord, 'id' | 'house_bill' | 'container_numbers'>;

/** Another shipment that seems to be the same freight. */
export interface PossibleDuplicate {
  readonly id: string;
  /** Whether the house bill is the same. */
  readonly house_bill: boolean;
  /** Those that both have. */
  readonly container_numbers: readonly string[];
}

const MAX_DUPLICATES = 5;
/** No more rows than these are looked at, whatever has become of them, where there are no more: nearly always. */
const FIRST_READ_ROWS = 10;
/** Else the newest of each reference, so many at most, and so many of all together. */
const MAX_VISITED_PER_TERM = 200;
const MAX_VISITED = 2_000;
/** References that are asked for then, one after another. Freight that is the same shares nearly all of them. */
const MAX_TERMS = 20;
const ACTIVE_STATUSES = SHIPMENT_STATUSES.filter((status) => !INACTIVE_STATUSES.includes(status));

/** Rows that have any of the terms. */
export function termsFilter(scope: Scope, terms: readonly string[]): Filter {
  const [only] = terms;
  return { ...scopeFilter(scope), terms: terms.length === 1 && only !== undefined ? only : { in: terms } };
}

/** Others that are still on their way, with the same house bill or a container; at most a few. */
export async function findPossibleDuplicates(
  rows: Pick<Collection<ShipmentRow>, 'find' | 'scan'>,
  scope: Scope,
  freight: Freight,
): Promise<readonly PossibleDuplicate[]> {
  const { id, house_bill, container_numbers } = freight;
  const terms = [
    ...(house_bill === null ? [] : [term('house_bill', house_bill)]),
    ...container_numbers.map((number) => term('container_number', number)),
  ];
  if (terms.length === 0) return [];
  const found = await rows.find({ filter: termsFilter(scope, terms), limit: FIRST_READ_ROWS });
  const others = new Map<string, ShipmentRow>();
  const add = (some: readonly ShipmentRow[]) => {
    for (const row of some) if (row.id !== id && !INACTIVE_STATUSES.includes(row.status)) others.set(row.id, row);
  };
  // A container comes back for years, a test may give all its shipments the same one.
  if (found.length >= FIRST_READ_ROWS) {
    const asked = terms.slice(0, MAX_TERMS);
    const visit = Math.min(MAX_VISITED_PER_TERM, Math.floor(MAX_VISITED / asked.length));
    for (const one of asked) if (others.size < MAX_DUPLICATES) add(await newestActive(rows, scope, one, visit));
  }
  add(found);
  const own = new Set(container_numbers);
  return [...others.values()].slice(0, MAX_DUPLICATES).map(({ id: other, record }) => ({
    id: other,
    house_bill: house_bill !== null && record.house_bill === house_bill,
    container_numbers: record.container_numbers.filter((number) => own.has(number)),
  }));
}

async function newestActive(rows: Pick<Collection<ShipmentRow>, 'scan'>, scope: Scope, one: string, visit: number) {
  const { documents } = await rows.scan({
    index: 'by_term',
    filter: { ...scopeFilter(scope), terms: one, status: { in: ACTIVE_STATUSES } },
    sort: { fields: ['created_at', 'id'], descending: true },
    // One more, for it may be among them itself.
    limit: MAX_DUPLICATES + 1,
    visit,
  });
  return documents;
}

import { isInScope } from '@tracking/contracts';
import type { Scope, ShipmentRecord } from '@tracking/contracts';
import { type Position, Unavailable } from '@tracking/ports';
import type { ActiveRows } from '../active-rows.ts';
import { scopeFilter, type QueryPage } from '../read-model.ts';
import { toRowFilter, type ShipmentListFilter, type ShipmentListQuery, type ShipmentOrder } from './list-conditions.ts';
import { DEFAULT_LIST_BOUNDS, readListPage, planList } from './list-plan.ts';
import { readPageByIds } from './named-page.ts';
import { type Freight, type PossibleDuplicate, termsFilter, findPossibleDuplicates } from './possible-duplicates.ts';
import type { ShipmentRow } from './shipment-rows.ts';
import { FIRST_VERSIONS_WITH_FILTER, TERM_FILTERS, type TermFilter, toTerm } from './shipment-terms.ts';

/** Values of one kind of reference to search for. */
export interface ShipmentReferences {
  readonly field: Extract<TermFilter, 'external_id' | 'master_bill' | 'booking_number' | 'container_number'>;
  readonly values: readonly string[];
}

/** Maximum number of reference values per query. */
const REFERENCES_PER_READ = 50;
const NEWEST_FIRST: ShipmentOrder = { field: 'created_at', descending: true };

/** Queries of shipments. For read-your-writes, wait with `ReadModelProgress`. */
export class ShipmentQueries {
  constructor(
    private readonly active: Pick<ActiveRows<ShipmentRow>, 'openActiveRows' | 'openVersionedRows'>,
    private readonly bounds = DEFAULT_LIST_BOUNDS,
    private readonly filtersSince = FIRST_VERSIONS_WITH_FILTER,
  ) {}

  /**
   * Returns a shipment.
   * @returns the record and the position of the last event that it reflects
   * @throws Unavailable
   */
  async get(scope: Scope, id: string): Promise<{ record: ShipmentRecord; position: Position } | undefined> {
    const row = await (await this.active.openActiveRows()).get(id);
    if (!row || !isInScope(row, scope)) return undefined;
    return { record: row.record, position: row.position };
  }

  /**
   * Lists shipments in the requested order, then by id. Shipments without an ETA are last. A page visits a bounded
   * number of index entries, so it can have fewer items than `limit`, even none, although more follow. During
   * concurrent writes, each unchanged shipment appears on exactly one page.
   * @throws Unavailable, Busy
   */
  async list(scope: Scope, query: ShipmentListQuery): Promise<QueryPage<ShipmentRecord>> {
    const { rows, version } = await this.active.openVersionedRows();
    const { order = NEWEST_FIRST } = query;
    this.requireKnownFilters(query.filter, version);
    const conditions = toRowFilter(query.filter);
    if (conditions.statuses?.length === 0) return { items: [], next: undefined };
    const listed = { rows, scope: scopeFilter(scope), bounds: this.bounds };
    const { ids } = query.filter;
    if (ids !== undefined)
      return readPageByIds({ rows, scope, bytes: this.bounds.bytes }, ids, conditions, { ...query, order });
    const plan = await planList(listed, conditions, order);
    const { rows: found, next } = await readListPage(listed, plan, order, query);
    return { items: found.map(({ record }) => record), next };
  }

  /**
   * Finds a few other active shipments that have the same house bill or a container of this shipment. Responses to
   * writes warn of some of these: docs/reference/shipments.md#warnings.
   * @throws Unavailable, Busy
   */
  async findPossibleDuplicates(scope: Scope, record: Freight): Promise<readonly PossibleDuplicate[]> {
    return findPossibleDuplicates(await this.active.openActiveRows(), scope, record);
  }

  /**
   * Returns the ids of shipments with the given reference values, in any status.
   * @param values normalized values
   * @param atMost maximum number of ids per value
   * @returns ids by value, in no particular order; values without a shipment are omitted
   * @throws Unavailable, Busy
   */
  async findIdsByReference(
    scope: Scope,
    { field, values }: ShipmentReferences,
    atMost: number,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const rows = await this.active.openActiveRows();
    const ids = new Map<string, string[]>();
    const of = (value: string) => ids.get(value) ?? [];
    const found = (those: readonly string[], all: readonly ShipmentRow[]) => {
      for (const { id, record } of all) {
        for (const value of those) {
          if (hasReference(record, field, value) && of(value).length < atMost) ids.set(value, [...of(value), id]);
        }
      }
    };
    const find = (those: readonly string[], limit: number) => {
      const terms = those.map((value) => toTerm(field, value));
      return rows.findWithin({ filter: termsFilter(scope, terms), limit }, this.bounds.bytes);
    };
    for (const some of splitIntoBatches([...new Set(values)], REFERENCES_PER_READ)) {
      const { documents, isCut } = await find(some, some.length * atMost);
      // If the results of one value may have displaced results of another value, each value is queried alone.
      if (!isCut && documents.length < some.length * atMost) found(some, documents);
      else for (const value of some) found([value], (await find([value], atMost)).documents);
    }
    return ids;
  }

  /**
   * Checks that rows of this version have the terms of all filters.
   * @throws Unavailable if an earlier version of the read model built the rows and lacks a filter
   */
  private requireKnownFilters(filter: ShipmentListFilter, version: number): void {
    const isUnknown = (name: TermFilter) => (this.filtersSince[name] ?? 1) > version;
    if (!TERM_FILTERS.some((name) => filter[name] !== undefined && isUnknown(name))) return;
    throw new Unavailable(
      'read models',
      'the shipment list is being rebuilt after an update and does not support this filter yet; retry later',
    );
  }
}

function hasReference(record: ShipmentRecord, field: ShipmentReferences['field'], value: string): boolean {
  return field === 'container_number' ? record.container_numbers.includes(value) : record[field] === value;
}

function* splitIntoBatches<T>(all: readonly T[], size: number): Iterable<readonly T[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size);
}

import { isInScope } from '@tracking/contracts';
import type { Scope, ShipmentRecord } from '@tracking/contracts';
import { type Position, Unavailable } from '@tracking/ports';
import type { ActiveRows } from '../active-rows.ts';
import { scopeFilter, type QueryPage } from '../read-model.ts';
import {
  toConditions,
  type ShipmentListFilter,
  type ShipmentListQuery,
  type ShipmentOrder,
} from './list-conditions.ts';
import { LIST_BOUNDS, readListPage, planList } from './list-plan.ts';
import { readNamedPage } from './named-page.ts';
import { type Freight, type PossibleDuplicate, termsFilter, findPossibleDuplicates } from './possible-duplicates.ts';
import type { ShipmentRow } from './shipment-rows.ts';
import { FILTERS_SINCE, TERM_FILTERS, type TermFilter, term } from './shipment-terms.ts';

/** Values of one kind of reference. */
export interface ShipmentReferences {
  readonly field: Extract<TermFilter, 'external_id' | 'master_bill' | 'booking_number' | 'container_number'>;
  readonly values: readonly string[];
}

/** Values that are looked for with one question. */
const REFERENCES_PER_READ = 50;
const NEWEST_FIRST: ShipmentOrder = { field: 'created_at', descending: true };

/** Shipments as the read model has them; read-your-writes is waited for with `ReadModelProgress`. */
export class ShipmentQueries {
  constructor(
    private readonly active: Pick<ActiveRows<ShipmentRow>, 'rows' | 'version'>,
    private readonly bounds = LIST_BOUNDS,
    private readonly filtersSince = FILTERS_SINCE,
  ) {}

  /**
   * @returns the shipment and the position of its last event that the record reflects
   * @throws Unavailable
   */
  async get(scope: Scope, id: string): Promise<{ record: ShipmentRecord; position: Position } | undefined> {
    const row = await (await this.active.rows()).get(id);
    if (!row || !isInScope(row, scope)) return undefined;
    return { record: row.record, position: row.position };
  }

  /**
   * In the order asked for, by id where that leaves a choice; those without an ETA come last. No page costs more than a
   * fixed number of entries of an index: it may hold fewer than `limit`, even none, while more follow. Whatever is written
   * while someone pages, a shipment that does not change is on one page, once.
   * @throws Unavailable, Busy
   */
  async list(scope: Scope, query: ShipmentListQuery): Promise<QueryPage<ShipmentRecord>> {
    const rows = await this.active.rows();
    const { order = NEWEST_FIRST } = query;
    this.requireKnownFilters(query.filter);
    const conditions = toConditions(query.filter);
    if (conditions.statuses?.length === 0) return { items: [], next: undefined };
    const listed = { rows, scope: scopeFilter(scope), bounds: this.bounds };
    const { ids } = query.filter;
    if (ids !== undefined)
      return readNamedPage({ rows, scope, bytes: this.bounds.bytes }, ids, conditions, { ...query, order });
    const plan = await planList(listed, conditions, order);
    const { rows: found, next } = await readListPage(listed, plan, order, query);
    return { items: found.map(({ record }) => record), next };
  }

  /**
   * Other shipments that are still on their way, with the same house bill or a container of this one; at most a few.
   * Of which shipments a write warns: docs/reference/shipments.md#warnings.
   * @throws Unavailable, Busy
   */
  async possibleDuplicates(scope: Scope, record: Freight): Promise<readonly PossibleDuplicate[]> {
    return findPossibleDuplicates(await this.active.rows(), scope, record);
  }

  /**
   * The shipments that have these values in a reference, whatever has become of them.
   * @param values normalised
   * @param atMost of each value
   * @returns their ids by value, in no particular order; values of none are not in it
   * @throws Unavailable, Busy
   */
  async idsByReference(
    scope: Scope,
    { field, values }: ShipmentReferences,
    atMost: number,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const rows = await this.active.rows();
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
      const terms = those.map((value) => term(field, value));
      return rows.findWithin({ filter: termsFilter(scope, terms), limit }, this.bounds.bytes);
    };
    for (const some of splitIntoBatches([...new Set(values)], REFERENCES_PER_READ)) {
      const { documents, isCut } = await find(some, some.length * atMost);
      // Where one value may have taken the places of others, each is asked for alone.
      if (!isCut && documents.length < some.length * atMost) found(some, documents);
      else for (const value of some) found([value], (await find([value], atMost)).documents);
    }
    return ids;
  }

  /** @throws Unavailable if the rows are of an earlier version of the read model, which did not know a filter */
  private requireKnownFilters(filter: ShipmentListFilter): void {
    const isUnknown = (name: TermFilter) => (this.filtersSince[name] ?? 1) > this.active.version;
    if (!TERM_FILTERS.some((name) => filter[name] !== undefined && isUnknown(name))) return;
    throw new Unavailable('read models', 'the list of shipments is being made anew after an update');
  }
}

function hasReference(record: ShipmentRecord, field: ShipmentReferences['field'], value: string): boolean {
  return field === 'container_number' ? record.container_numbers.includes(value) : record[field] === value;
}

function* splitIntoBatches<T>(all: readonly T[], size: number): Iterable<readonly T[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size);
}

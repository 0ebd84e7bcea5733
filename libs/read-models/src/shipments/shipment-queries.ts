import { isInScope } from '@tracking/contracts';
import type { Scope, ShipmentRecord } from '@tracking/contracts';
import type { Filter, Position } from '@tracking/ports';
import type { ActiveRows } from '../active-rows.ts';
import type { QueryPage } from '../read-model.ts';
import { inScope } from '../scope.ts';
import { formerPage, madeAnew } from './former-rows.ts';
import { conditionsOf } from './list-conditions.ts';
import { pageOf } from './list-pages.ts';
import { LIST_BOUNDS, planOf } from './list-plan.ts';
import type { ShipmentListQuery, ShipmentOrder } from './list-query.ts';
import type { ShipmentRow } from './shipment-rows.ts';
import { type TermKind, term } from './shipment-terms.ts';

/** Another shipment that seems to be the same freight. */
export interface PossibleDuplicate {
  readonly id: string;
  /** Whether the house bill is the same. */
  readonly house_bill: boolean;
  /** Those that both have. */
  readonly container_numbers: readonly string[];
}

/** Values of one kind of reference. */
export interface ShipmentReferences {
  readonly field: Extract<TermKind, 'external_id' | 'master_bill' | 'booking_number' | 'container_number'>;
  readonly values: readonly string[];
}

/** Values that are looked for with one question. */
const REFERENCES_AT_ONCE = 50;
const NEWEST_FIRST: ShipmentOrder = { field: 'created_at', descending: true };
const DUPLICATES_AT_MOST = 5;

/** Shipments as the read model has them; read-your-writes is waited for with `ReadModelProgress`. */
export class ShipmentQueries {
  constructor(
    private readonly active: Pick<ActiveRows<ShipmentRow>, 'rows' | 'areFormer'>,
    private readonly bounds = LIST_BOUNDS,
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
    const conditions = conditionsOf(query.filter);
    if (conditions.statuses?.length === 0) return { items: [], next: undefined };
    const listed = { rows, scope: inScope(scope), bounds: this.bounds };
    if (this.active.areFormer) return formerPage(listed, conditions, { ...query, order });
    const plan = await planOf(listed, conditions, order);
    const { rows: found, next } = await pageOf(listed, plan, order, query);
    return { items: found.map(({ record }) => record), next };
  }

  /**
   * Other shipments that are still on their way, with the same house bill or a container of this one; at most a few.
   * Of which shipments a write warns: docs/reference/shipments.md#warnings.
   * @throws Unavailable, Busy
   */
  async possibleDuplicates(
    scope: Scope,
    record: Pick<ShipmentRecord, 'id' | 'house_bill' | 'container_numbers'>,
  ): Promise<readonly PossibleDuplicate[]> {
    const { id, house_bill, container_numbers } = record;
    const shared = [
      ...(house_bill === null ? [] : [term('active_house_bill', house_bill)]),
      ...container_numbers.map((number) => term('active_container_number', number)),
    ];
    if (shared.length === 0) return [];
    const rows = await this.active.rows();
    if (this.active.areFormer) return [];
    // One more, for it may be among them itself.
    const found = await rows.find({ filter: among(scope, shared), limit: DUPLICATES_AT_MOST + 1 });
    const own = new Set(container_numbers);
    const others = found.filter((row) => row.id !== id).slice(0, DUPLICATES_AT_MOST);
    return others.map((row) => ({
      id: row.id,
      house_bill: house_bill !== null && row.record.house_bill === house_bill,
      container_numbers: row.record.container_numbers.filter((number) => own.has(number)),
    }));
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
    if (this.active.areFormer) throw madeAnew();
    const ids = new Map<string, string[]>();
    const of = (value: string) => ids.get(value) ?? [];
    const found = (those: readonly string[], all: readonly ShipmentRow[]) => {
      for (const { id, record } of all) {
        for (const value of those) {
          if (holds(record, field, value) && of(value).length < atMost) ids.set(value, [...of(value), id]);
        }
      }
    };
    const find = (those: readonly string[], limit: number) =>
      rows.find({
        filter: among(
          scope,
          those.map((value) => term(field, value)),
        ),
        limit,
      });
    for (const some of portions([...new Set(values)], REFERENCES_AT_ONCE)) {
      const all = await find(some, some.length * atMost);
      // Where one value may have taken the places of others, each is asked for alone.
      if (all.length < some.length * atMost) found(some, all);
      else await Promise.all(some.map(async (value) => found([value], await find([value], atMost))));
    }
    return ids;
  }
}

/** Rows that have any of the terms. */
function among(scope: Scope, terms: readonly string[]): Filter {
  const [only] = terms;
  return { ...inScope(scope), terms: terms.length === 1 && only !== undefined ? only : { in: terms } };
}

function holds(record: ShipmentRecord, field: ShipmentReferences['field'], value: string): boolean {
  return field === 'container_number' ? record.container_numbers.includes(value) : record[field] === value;
}

function* portions<T>(all: readonly T[], size: number): Iterable<readonly T[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size);
}

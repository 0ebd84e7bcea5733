import { SHIPMENT_STATUSES, isInScope } from '@tracking/contracts';
import type { Scope, ShipmentRecord, ShipmentStatus } from '@tracking/contracts';
import type { Collection, Filter, Position, Query } from '@tracking/ports';
import type { ActiveRows } from '../active-rows.ts';
import type { QueryPage, SortValues } from '../read-model.ts';
import { inScope } from '../scope.ts';
import type { ShipmentRow } from './shipment-rows.ts';

export interface ShipmentListQuery {
  readonly filter: {
    /** Any of these; all of them where absent. */
    readonly status?: readonly ShipmentStatus[] | undefined;
    readonly external_id?: string | undefined;
  };
  /** At least 1. */
  readonly limit: number;
  /** `next` of the page before, under the same filter. */
  readonly after?: SortValues | undefined;
}

/** Another shipment that seems to be the same freight. */
export interface PossibleDuplicate {
  readonly id: string;
  /** Whether the house bill is the same. */
  readonly house_bill: boolean;
  /** Those that both have. */
  readonly container_numbers: readonly string[];
}

const NEWEST_FIRST = { fields: ['created_at', 'id'], descending: true } as const;
const DUPLICATES_AT_MOST = 5;

/** Shipments as the read model has them; read-your-writes is waited for with `ReadModelProgress`. */
export class ShipmentQueries {
  constructor(private readonly active: ActiveRows<ShipmentRow>) {}

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
   * Newest first, by `created_at` and id. What is created while someone pages comes before the first page: it neither
   * repeats nor hides a shipment; one that changes its status between two pages may be in both or none.
   * @throws Unavailable, Busy
   */
  async list(scope: Scope, { filter, limit, after }: ShipmentListQuery): Promise<QueryPage<ShipmentRecord>> {
    const rows = await this.active.rows();
    const { external_id, status } = filter;
    if (external_id !== undefined) return onlyOne(await rows.find(byExternalId(scope, external_id, status)), after);
    const page = (narrower: Filter) =>
      rows.find({
        filter: { ...inScope(scope), ...narrower },
        sort: NEWEST_FIRST,
        limit: limit + 1,
        ...(after && { after }),
      });
    const found = (await Promise.all(narrowed(filter).map(page))).flat().sort(newestFirst);
    const items = found.slice(0, limit);
    const last = items[items.length - 1];
    return {
      items: items.map(({ record }) => record),
      next: last && found.length > limit ? [last.created_at, last.id] : undefined,
    };
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
    const rows = await this.active.rows();
    const others = new Map<string, ShipmentRow>();
    const { id, house_bill, container_numbers } = record;
    const shared: readonly Filter[] = [
      ...(house_bill === null ? [] : [{ house_bill }]),
      ...(container_numbers.length === 0 ? [] : [{ container_numbers: { in: container_numbers } }]),
    ];
    // One after the other: where the first finds as many as are told of, the rows of the next would be read for nothing.
    for (const filter of shared) {
      if (others.size >= DUPLICATES_AT_MOST) break;
      for (const row of await this.others(rows, scope, id, filter)) others.set(row.id, row);
    }
    const own = new Set(container_numbers);
    return [...others.values()].slice(0, DUPLICATES_AT_MOST).map((row) => ({
      id: row.id,
      house_bill: house_bill !== null && row.house_bill === house_bill,
      container_numbers: row.container_numbers.filter((number) => own.has(number)),
    }));
  }

  private others(rows: Collection<ShipmentRow>, scope: Scope, id: string, filter: Filter) {
    const query = { ...inScope(scope), active: true, ...filter, id: { ne: id } };
    return rows.find({ filter: query, limit: DUPLICATES_AT_MOST });
  }
}

/**
 * The filters of which each is one range of an index in the list's order, so that a page costs what it holds however
 * many shipments there are; together they are the filter asked for, and no shipment is in two of them.
 */
function narrowed({ status }: ShipmentListQuery['filter']): readonly Filter[] {
  const statuses = status && [...new Set(status)];
  if (!statuses || statuses.length === SHIPMENT_STATUSES.length) return [{}];
  return statuses.map((each) => ({ status: each }));
}

/** An external id is that of one shipment: nothing to sort, which leaves no choice of index. */
function byExternalId(scope: Scope, external_id: string, status: ShipmentListQuery['filter']['status']): Query {
  return { filter: { ...inScope(scope), external_id, ...(status && { status: { in: status } }) }, limit: 1 };
}

function onlyOne([row]: readonly ShipmentRow[], after: SortValues | undefined): QueryPage<ShipmentRecord> {
  return { items: row === undefined || after !== undefined ? [] : [row.record], next: undefined };
}

function newestFirst(a: ShipmentRow, b: ShipmentRow): number {
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? 1 : -1;
  return a.id < b.id ? 1 : -1;
}

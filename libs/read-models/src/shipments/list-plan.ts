import type { Collection, Filter } from '@tracking/ports';
import type { SortValues } from '../read-model.ts';
import {
  type IndexRangesOfListPart,
  MAX_PAGE_BYTES,
  readPageFromConsecutiveListParts,
  type RowPage,
  readSortedRanges,
  scanRowRanges,
} from '../walked-ranges.ts';
import {
  type ShipmentListConditions,
  createFiltersPerIndexRange,
  createFiltersOfLeadingCondition,
  type LeadingCondition,
  listConditionsUsableForIndexRange,
  type ShipmentSortOrder,
  type ShipmentSortField,
} from './list-conditions.ts';
import type { ShipmentReadModelRow } from './shipment-rows.ts';

/** Plan for reading the rows of a list. */
interface ListQueryPlan {
  readonly index: string;
  /** Complete filters, one for each range of the index. No row is in two ranges. */
  readonly filters: readonly Filter[];
  /**
   * True if the ranges contain so few rows that the query reads and sorts all of them; false if the query scans them in
   * list order.
   */
  readonly few: boolean;
  /** Maximum number of index entries that one scan visits. */
  readonly visit: number;
}

/** Limits of the work for one page. */
export interface ListPageReadLimits {
  /** Number of rows below which every page reads and sorts all rows. */
  readonly few: number;
  /** Maximum number of rows counted per condition to find the condition with the fewest rows. */
  readonly compared: number;
  /** Maximum number of index entries that one scan visits. */
  readonly stretch: number;
  /** Maximum number of scans per page for each part of the list. */
  readonly stretches: number;
  /** Approximate maximum size of the rows of a page, in bytes of JSON. */
  readonly bytes: number;
}

export const DEFAULT_LIST_PAGE_READ_LIMITS: ListPageReadLimits = {
  few: 1_000,
  compared: 10_000,
  stretch: 1_000,
  stretches: 2,
  bytes: MAX_PAGE_BYTES,
};

/**
 * Cost factor of a search word. A term needs one lookup in its index, but a word prefix is compared with all terms of a
 * row. For each remaining word, the maximum of sorted rows or scanned entries is divided by this factor.
 */
const SORT_COST_PER_WORD = 3;
const WALK_COST_PER_WORD = 5;

/** Rows of a scope, and the limits of the work for one page. */
export interface ScopedRowsWithBounds {
  readonly rows: Pick<Collection<ShipmentReadModelRow>, 'findWithinByteLimit' | 'count' | 'scan'>;
  readonly scope: Filter;
  readonly bounds: ListPageReadLimits;
}

/**
 * Chooses the cheapest plan for a list. If a condition selects few rows, the plan starts with its index. Otherwise the
 * plan scans an index in list order: the index of the rarest term if the list is sorted by creation time, else the sort
 * index. If one index needs no further filter, no rows are counted.
 */
export async function chooseListPlan(
  listed: ScopedRowsWithBounds,
  conditions: ShipmentListConditions,
  { field }: ShipmentSortOrder,
): Promise<ListQueryPlan> {
  const { scope, bounds } = listed;
  const planWith = (lead: LeadingCondition | undefined) => ({
    index: lead === undefined ? getSortIndexName(field) : getIndexName(lead),
    filters: createFiltersPerIndexRange(scope, conditions, lead),
    visit: divideVisitLimit(bounds.stretch, WALK_COST_PER_WORD * conditions.words.length),
  });
  const leads = listConditionsUsableForIndexRange(conditions);
  const inOrder = leads.filter((lead) => isIndexRangeInListOrder(field, lead));
  const others = leads.filter((lead) => !(lead.by === 'time' && lead.field === field));
  const [only] = others;
  if (only !== undefined && (others.length > 1 || !inOrder.includes(only))) {
    const few = await findSelectiveCondition(listed, conditions, leads);
    if (few !== undefined) return { ...planWith(few), few: true };
  }
  const rarest = inOrder.length > 1 ? await findRarestCondition(listed, conditions, inOrder) : inOrder[0];
  return { ...planWith(rarest), few: false };
}

/** Returns true if the index range of the condition is in list order. Entries of a term are sorted by creation time. */
function isIndexRangeInListOrder(field: ShipmentSortField, { by }: LeadingCondition): boolean {
  return field === 'created_at' && (by === 'term' || by === 'alternatives' || by === 'statuses');
}

async function findSelectiveCondition(
  listed: ScopedRowsWithBounds,
  conditions: ShipmentListConditions,
  leads: readonly LeadingCondition[],
) {
  for (const lead of leads) {
    const wordsLeft = conditions.words.length - (lead.by === 'word' ? 1 : 0);
    const few = divideVisitLimit(listed.bounds.few, SORT_COST_PER_WORD * wordsLeft);
    if ((await countMatchingRows(listed, conditions, lead, few)) < few) return lead;
  }
  return undefined;
}

async function findRarestCondition(
  listed: ScopedRowsWithBounds,
  conditions: ShipmentListConditions,
  leads: readonly LeadingCondition[],
) {
  const { compared } = listed.bounds;
  const counts = await Promise.all(leads.map((lead) => countMatchingRows(listed, conditions, lead, compared)));
  return leads[counts.indexOf(Math.min(...counts))];
}

/** Counts the rows of all ranges of the condition, up to `atMost`. It visits at most `atMost` index entries. */
async function countMatchingRows(
  { rows, scope }: ScopedRowsWithBounds,
  conditions: ShipmentListConditions,
  lead: LeadingCondition,
  atMost: number,
) {
  const index = getIndexName(lead);
  let counted = 0;
  for (const filter of createFiltersOfLeadingCondition(scope, conditions, lead)) {
    counted += await rows.count(filter, { atMost: atMost - counted, index });
    if (counted >= atMost) break;
  }
  return counted;
}

function divideVisitLimit(bound: number, times: number): number {
  return Math.ceil(bound / Math.max(1, times));
}

function getIndexName(lead: LeadingCondition): string {
  return lead.by === 'time' ? getSortIndexName(lead.field) : 'by_term';
}

function getSortIndexName(field: ShipmentSortField): string {
  return `by_${field}`;
}

/** Reads one page of a list. */
export function readListPage(
  { rows, bounds }: ScopedRowsWithBounds,
  plan: ListQueryPlan,
  order: ShipmentSortOrder,
  { limit, after }: { readonly limit: number; readonly after?: SortValues | undefined },
): Promise<RowPage<ShipmentReadModelRow>> {
  const { visit } = plan;
  const { stretches } = bounds;
  const parts = splitShipmentListByEtaPresence(plan, order, after);
  const bytes = bounds.bytes / parts.length;
  return readPageFromConsecutiveListParts(parts, limit, (part, wanted) =>
    plan.few
      ? readSortedRanges(rows, part, wanted, bytes)
      : scanRowRanges(rows, part, wanted, { visit, stretches, bytes }),
  );
}

/**
 * Splits the list into shipments with and without an ETA, so that shipments without one are last in both directions.
 */
function splitShipmentListByEtaPresence(
  { index, filters }: ListQueryPlan,
  { field, descending }: ShipmentSortOrder,
  after: SortValues | undefined,
): readonly IndexRangesOfListPart[] {
  const sort = { fields: [field, 'id'], descending };
  const whole: IndexRangesOfListPart = { index, filters, sort, after, toSortValues: (values) => values as SortValues };
  if (field !== 'eta' || filters.some(({ eta }) => eta !== undefined)) return [whole];
  const withoutEta: IndexRangesOfListPart = {
    index,
    filters: filters.map((filter) => ({ ...filter, eta: null })),
    sort: { fields: ['id'], descending },
    after: after?.[0] === null ? after.slice(1) : undefined,
    toSortValues: (values) => [null, ...values] as SortValues,
  };
  if (after?.[0] === null) return [withoutEta];
  return [{ ...whole, filters: filters.map((filter) => ({ ...filter, eta: { gte: '' } })) }, withoutEta];
}

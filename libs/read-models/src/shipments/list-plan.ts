import type { Collection, Filter } from '@tracking/ports';
import type { SortValues } from '../read-model.ts';
import { type ListPart, PAGE_BYTES, pageOfParts, type RowPage, sorted, walked } from '../walked-ranges.ts';
import {
  type Conditions,
  filtersBy,
  filtersOfLead,
  type Lead,
  leadsOf,
  type ShipmentOrder,
  type ShipmentSortField,
} from './list-conditions.ts';
import type { ShipmentRow } from './shipment-rows.ts';

/** How the rows of a list are reached. */
interface ListPlan {
  readonly index: string;
  /** The whole filter, once for each range of the index; no row is in two. */
  readonly filters: readonly Filter[];
  /** The ranges hold so few rows that all are looked at and sorted; else they are walked, in the order of the list. */
  readonly few: boolean;
  /** Most entries that one stretch of a walk looks at. */
  readonly visit: number;
}

/** What a page may cost. */
export interface ListBounds {
  /** Fewer rows than these are all looked at and sorted, for each page. */
  readonly few: number;
  /** As far as those ranges are counted of which the smallest is looked for. */
  readonly compared: number;
  /** Most entries of an index that one stretch of a walk looks at. */
  readonly stretch: number;
  /** Most stretches that are walked for a page, of each part of the list. */
  readonly stretches: number;
  /** About how many bytes of JSON the rows of a page may have. */
  readonly bytes: number;
}

export const LIST_BOUNDS: ListBounds = {
  few: 1_000,
  compared: 10_000,
  stretch: 1_000,
  stretches: 2,
  bytes: PAGE_BYTES,
};

/**
 * A term is one look into its index, the beginning of a word is looked for among all terms of a row: so many times fewer
 * rows are sorted, and entries walked, for each word that is left to look for.
 */
const SORTED_FOR_WORDS = 3;
const WALKED_FOR_WORDS = 5;

/** The rows of a scope, and what a page of them may cost. */
export interface Listed {
  readonly rows: Pick<Collection<ShipmentRow>, 'findWithin' | 'count' | 'scan'>;
  readonly scope: Filter;
  readonly bounds: ListBounds;
}

/**
 * The cheapest way to the rows: what leads to few does. Else an index is walked in the list's order, that of the rarest
 * term where the list is sorted by creation, else the sort's own. Nothing is counted where one way needs no other filter.
 */
export async function planOf(listed: Listed, conditions: Conditions, { field }: ShipmentOrder): Promise<ListPlan> {
  const { scope, bounds } = listed;
  const wayBy = (lead: Lead | undefined) => ({
    index: lead === undefined ? sortIndexOf(field) : indexOf(lead),
    filters: filtersBy(scope, conditions, lead),
    visit: share(bounds.stretch, WALKED_FOR_WORDS * conditions.words.length),
  });
  const leads = leadsOf(conditions);
  const inOrder = leads.filter((lead) => isInOrderOf(field, lead));
  const others = leads.filter((lead) => !(lead.by === 'time' && lead.field === field));
  const [only] = others;
  if (only !== undefined && (others.length > 1 || !inOrder.includes(only))) {
    const few = await leadToFew(listed, conditions, leads);
    if (few !== undefined) return { ...wayBy(few), few: true };
  }
  const rarest = inOrder.length > 1 ? await rarestOf(listed, conditions, inOrder) : inOrder[0];
  return { ...wayBy(rarest), few: false };
}

/** Whether the lead's range has the rows in the list's order: the entries of a term are in that of creation. */
function isInOrderOf(field: ShipmentSortField, { by }: Lead): boolean {
  return field === 'created_at' && (by === 'term' || by === 'statuses');
}

async function leadToFew(listed: Listed, conditions: Conditions, leads: readonly Lead[]) {
  for (const lead of leads) {
    const wordsLeft = conditions.words.length - (lead.by === 'word' ? 1 : 0);
    const few = share(listed.bounds.few, SORTED_FOR_WORDS * wordsLeft);
    if ((await counted(listed, conditions, lead, few)) < few) return lead;
  }
  return undefined;
}

async function rarestOf(listed: Listed, conditions: Conditions, leads: readonly Lead[]) {
  const { compared } = listed.bounds;
  const counts = await Promise.all(leads.map((lead) => counted(listed, conditions, lead, compared)));
  return leads[counts.indexOf(Math.min(...counts))];
}

async function counted({ rows, scope }: Listed, conditions: Conditions, lead: Lead, atMost: number) {
  const filters = filtersOfLead(scope, conditions, lead);
  const counts = await Promise.all(filters.map((filter) => rows.count(filter, { atMost, index: indexOf(lead) })));
  return counts.reduce((sum, count) => sum + count, 0);
}

function share(bound: number, times: number): number {
  return Math.ceil(bound / Math.max(1, times));
}

function indexOf(lead: Lead): string {
  return lead.by === 'time' ? sortIndexOf(lead.field) : 'by_term';
}

function sortIndexOf(field: ShipmentSortField): string {
  return `by_${field}`;
}

/** One page of a list. */
export function pageOf(
  { rows, bounds }: Listed,
  plan: ListPlan,
  order: ShipmentOrder,
  { limit, after }: { readonly limit: number; readonly after?: SortValues | undefined },
): Promise<RowPage<ShipmentRow>> {
  const { visit } = plan;
  const { stretches } = bounds;
  const parts = partsOf(plan, order, after);
  const bytes = bounds.bytes / parts.length;
  return pageOfParts(parts, limit, (part, wanted) =>
    plan.few ? sorted(rows, part, wanted, bytes) : walked(rows, part, wanted, { visit, stretches, bytes }),
  );
}

/** Those without an ETA come last, whichever way the list is sorted. */
function partsOf(
  { index, filters }: ListPlan,
  { field, descending }: ShipmentOrder,
  after: SortValues | undefined,
): readonly ListPart[] {
  const sort = { fields: [field, 'id'], descending };
  const whole: ListPart = { index, filters, sort, after, place: (values) => values as SortValues };
  if (field !== 'eta' || filters.some(({ eta }) => eta !== undefined)) return [whole];
  const withoutEta: ListPart = {
    index,
    filters: filters.map((filter) => ({ ...filter, eta: null })),
    sort: { fields: ['id'], descending },
    after: after?.[0] === null ? after.slice(1) : undefined,
    place: (values) => [null, ...values] as SortValues,
  };
  if (after?.[0] === null) return [withoutEta];
  return [{ ...whole, filters: filters.map((filter) => ({ ...filter, eta: { gte: '' } })) }, withoutEta];
}

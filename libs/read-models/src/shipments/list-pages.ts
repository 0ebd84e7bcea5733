import type { Filter, Query, Scalar, ScannedStretch } from '@tracking/ports';
import type { SortValues } from '../read-model.ts';
import type { ListPlan, Listed } from './list-plan.ts';
import type { ShipmentOrder } from './list-query.ts';
import type { ShipmentRow } from './shipment-rows.ts';

export interface RowPage {
  readonly rows: readonly ShipmentRow[];
  /** Where the next page begins, if there may be one. */
  readonly next: SortValues | undefined;
}

/** A part of a list that one range of a sort index holds. */
interface Part {
  readonly filter: Filter;
  readonly sort: NonNullable<Query['sort']>;
  readonly after: readonly Scalar[] | undefined;
  /** The place of an entry in the whole list, by its sort values in this part. */
  readonly place: (values: readonly Scalar[]) => SortValues;
}

/**
 * One page of a list. Where a walk does not come to its end within the bound, the page holds what was found so far, and
 * the next one goes on from where it stopped.
 */
export async function pageOf(
  listed: Listed,
  plan: ListPlan,
  order: ShipmentOrder,
  { limit, after }: { readonly limit: number; readonly after?: SortValues | undefined },
): Promise<RowPage> {
  const found: ShipmentRow[] = [];
  for (const part of partsOf(plan, order, after)) {
    // One more than asked for tells whether there are more.
    const wanted = limit + 1 - found.length;
    const { documents, next } = await (plan.few ? sorted : walked)(listed, plan, part, wanted);
    found.push(...documents);
    const last = found[limit - 1];
    if (found.length > limit && last !== undefined) {
      return { rows: found.slice(0, limit), next: [last[order.field], last.id] };
    }
    if (next !== undefined) return { rows: found, next: part.place(next) };
  }
  return { rows: found, next: undefined };
}

/** Those without an ETA come last, whichever way the list is sorted. */
function partsOf({ filters }: ListPlan, { field, descending }: ShipmentOrder, after: SortValues | undefined): Part[] {
  const whole: Part = {
    filter: {},
    sort: { fields: [field, 'id'], descending },
    after,
    place: (values) => values as SortValues,
  };
  if (field !== 'eta' || filters.some(({ eta }) => eta !== undefined)) return [whole];
  const withoutEta: Part = {
    filter: { eta: null },
    sort: { fields: ['id'], descending },
    after: after?.[0] === null ? after.slice(1) : undefined,
    place: (values) => [null, ...values] as SortValues,
  };
  return after?.[0] === null ? [withoutEta] : [{ ...whole, filter: { eta: { gte: '' } } }, withoutEta];
}

async function sorted({ rows }: Listed, plan: ListPlan, part: Part, limit: number) {
  const all = plan.filters.map((filter) => rows.find(queryOf(plan, part, filter, limit)));
  const documents = different((await Promise.all(all)).flat()).sort(inOrderOf(part));
  return { documents: documents.slice(0, limit), next: undefined };
}

async function walked({ rows, bounds }: Listed, plan: ListPlan, part: Part, limit: number) {
  let documents: readonly ShipmentRow[] = [];
  let { after } = part;
  for (let stretch = 0; stretch < bounds.stretches; stretch += 1) {
    const walk = { ...part, after };
    const visit = Math.ceil(plan.visit / plan.filters.length);
    const scans = plan.filters.map((filter) =>
      rows.scan({ ...queryOf(plan, walk, filter, limit - documents.length), visit }),
    );
    const merged = mergedOf(await Promise.all(scans), part);
    documents = different([...documents, ...merged.documents]);
    after = merged.next;
    if (after === undefined || documents.length >= limit) break;
  }
  return { documents: documents.slice(0, limit), next: after };
}

/** Of several ranges side by side: as far as all of them were looked at. */
function mergedOf(stretches: readonly ScannedStretch<ShipmentRow>[], part: Part): ScannedStretch<ShipmentRow> {
  const places = stretches.flatMap(({ next }) => (next === undefined ? [] : [next]));
  const [next] = places.sort((one, other) => compare(one, other, part));
  const documents = different(stretches.flatMap((stretch) => stretch.documents))
    .filter((row) => next === undefined || compare(valuesOf(row, part), next, part) <= 0)
    .sort(inOrderOf(part));
  return { documents, next };
}

/** A row that is written while ranges are looked at may be found in two, or again further on. */
function different(rows: readonly ShipmentRow[]): ShipmentRow[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

function queryOf({ index }: ListPlan, { filter, sort, after }: Part, whole: Filter, limit: number) {
  return { index, filter: { ...whole, ...filter }, sort, limit, ...(after !== undefined && { after }) };
}

function inOrderOf(part: Part): (one: ShipmentRow, other: ShipmentRow) => number {
  return (one, other) => compare(valuesOf(one, part), valuesOf(other, part), part);
}

function valuesOf(row: ShipmentRow, { sort }: Part): readonly Scalar[] {
  return sort.fields.map((field) => row[field as 'id' | ShipmentOrder['field']]);
}

/** Text of times and ids only: all of it is ASCII. */
function compare(one: readonly Scalar[], other: readonly Scalar[], { sort }: Part): number {
  const at = one.findIndex((value, place) => value !== other[place]);
  if (at < 0) return 0;
  const isBefore = String(one[at]) < String(other[at]);
  return isBefore === (sort.descending === true) ? 1 : -1;
}

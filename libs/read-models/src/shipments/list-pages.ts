import type { ScannedStretch } from '@tracking/ports';
import type { SortValues } from '../read-model.ts';
import {
  type ListPart,
  type RowPage,
  inOrderOf,
  pageOfParts,
  queryOf,
  statusByStatus,
  walked,
} from '../walked-ranges.ts';
import type { ListPlan, Listed } from './list-plan.ts';
import type { ShipmentOrder } from './list-query.ts';
import type { ShipmentRow } from './shipment-rows.ts';

/** One page of a list. */
export function pageOf(
  { rows, bounds }: Listed,
  plan: ListPlan,
  order: ShipmentOrder,
  { limit, after }: { readonly limit: number; readonly after?: SortValues | undefined },
): Promise<RowPage<ShipmentRow>> {
  const { visit } = plan;
  const { stretches } = bounds;
  return pageOfParts(partsOf(plan, order, after), limit, (part, wanted) =>
    plan.few ? sorted(rows, part, wanted) : walked(rows, part, wanted, { visit, stretches }),
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

/** All rows of the ranges are looked at. */
async function sorted(rows: Listed['rows'], part: ListPart, limit: number): Promise<ScannedStretch<ShipmentRow>> {
  const all = await statusByStatus(part.filters, (filter) => rows.find(queryOf(part, filter, limit)));
  return { documents: inOrderOf(part, all.flat()).slice(0, limit), next: undefined };
}

import type { SortValues } from '../read-model.ts';
import { type ListPart, type RowPage, pageOfParts, sorted, walked } from '../walked-ranges.ts';
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

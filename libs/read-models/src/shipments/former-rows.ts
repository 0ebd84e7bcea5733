import type { ShipmentRecord } from '@tracking/contracts';
import { Unavailable } from '@tracking/ports';
import type { QueryPage, SortValues } from '../read-model.ts';
import { type Conditions, fulfils } from './list-conditions.ts';
import type { Listed } from './list-plan.ts';
import type { ShipmentListQuery, ShipmentOrder } from './list-query.ts';

/** The rows of before do not know what is asked for; those that do are being made. */
export function madeAnew(): Unavailable {
  return new Unavailable('read models', 'the list of shipments is being made anew after an update');
}

/**
 * A page of rows that an earlier version of the read model made, which have neither terms nor other sort keys than
 * `created_at`: so many are looked at one by one, and may all be passed over.
 * @throws Unavailable for any other order
 */
export async function formerPage(
  { rows, scope, bounds }: Listed,
  conditions: Conditions,
  { order, limit, after }: ShipmentListQuery & { readonly order: ShipmentOrder },
): Promise<QueryPage<ShipmentRecord>> {
  if (order.field !== 'created_at') throw madeAnew();
  const { created_at } = conditions.ranges;
  const asked = {
    index: 'by_created_at',
    filter: { ...scope, ...(created_at !== undefined && { created_at }) },
    sort: { fields: ['created_at', 'id'], descending: order.descending },
    ...(after !== undefined && { after }),
    limit: bounds.few,
  };
  const { documents: found, isCut } = await rows.findWithin(asked, bounds.bytes);
  const items: ShipmentRecord[] = [];
  let place: SortValues | undefined;
  for (const { record } of found) {
    if (items.length === limit) return { items, next: place };
    place = [record.created_at, record.id];
    if (fulfils(record, conditions)) items.push(record);
  }
  return { items, next: found.length < bounds.few && !isCut ? undefined : place };
}

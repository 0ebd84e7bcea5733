import { isInScope } from '@tracking/contracts';
import type { Scope, ShipmentRecord } from '@tracking/contracts';
import type { Collection, Scalar } from '@tracking/ports';
import type { QueryPage } from '../read-model.ts';
import { type Conditions, fulfils } from './list-conditions.ts';
import type { ShipmentListQuery, ShipmentOrder } from './list-query.ts';
import type { ShipmentRow } from './shipment-rows.ts';

interface Named {
  readonly rows: Pick<Collection<ShipmentRow>, 'getMany'>;
  readonly scope: Scope;
}

/** A page of shipments that are named by their ids: all of these are read for it, whatever else is stored. */
export async function namedPage(
  { rows, scope }: Named,
  ids: readonly string[],
  conditions: Conditions,
  { order, limit, after }: ShipmentListQuery & { readonly order: ShipmentOrder },
): Promise<QueryPage<ShipmentRecord>> {
  const { field, descending } = order;
  const placeOf = (record: ShipmentRecord) => [record[field], record.id] as const;
  const found = await rows.getMany([...new Set(ids)]);
  const rest = found
    .filter((row) => isInScope(row, scope) && fulfils(row.record, conditions))
    .map(({ record }) => record)
    .filter((record) => after === undefined || compare(placeOf(record), after, descending) > 0)
    .sort((one, other) => compare(placeOf(one), placeOf(other), descending));
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rest.length > limit && last !== undefined ? placeOf(last) : undefined };
}

/** What has no value comes last, whichever way the list is sorted; ids go the way of the list. */
function compare(one: readonly Scalar[], other: readonly Scalar[], descending: boolean): number {
  const at = one.findIndex((value, place) => value !== other[place]);
  const [a, b] = [one[at], other[at]];
  if (at < 0) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return String(a) < String(b) === descending ? 1 : -1;
}

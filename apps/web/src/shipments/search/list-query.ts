import type { Status } from '../../values/codes.ts';
import { endOf, startOf } from './day.ts';
import { filtersOf, type ShipmentFilters, type ShipmentSearch, type ShipmentSort } from './shipment-search.ts';

/** As the API is asked for a list: times in UTC where the address has days. */
export type ListQuery = Omit<ShipmentFilters, 'status'> & {
  readonly status?: readonly Status[];
  readonly sort?: ShipmentSort | undefined;
};

/** What the API is asked for: days are those of the reader's calendar. */
export function listQuery(search: ShipmentSearch, now: Date): ListQuery {
  const { status, eta_from, eta_to, created_from, created_to, updated_since, ...others } = filtersOf(search);
  const begins = (day: string | undefined) => (day === undefined ? undefined : startOf(day, now).toISOString());
  const ends = (day: string | undefined) => (day === undefined ? undefined : endOf(day, now).toISOString());
  const query = {
    ...others,
    status: status?.split(',') as Status[] | undefined,
    eta_from: begins(eta_from),
    eta_to: ends(eta_to),
    created_from: begins(created_from),
    created_to: ends(created_to),
    updated_since: begins(updated_since),
    sort: search.sort,
  };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}

import { type DeliverySearch, readDeliverySearch } from '../deliveries/delivery-search.ts';
import { STATS_WINDOWS, type StatsWindow } from './stats-windows.ts';

export const ENDPOINT_TABS = ['overview', 'deliveries', 'replays', 'configuration'] as const;
export type EndpointTab = (typeof ENDPOINT_TABS)[number];

/** What of the page of an endpoint stands in the address: where one is on it, and what its deliveries are narrowed by. */
export interface EndpointSearch extends Omit<DeliverySearch, 'endpoint_id'> {
  /** The overview, unless told. */
  readonly tab?: EndpointTab | undefined;
  /** A day, unless told. */
  readonly window?: StatsWindow | undefined;
}

export function readEndpointSearch(raw: Record<string, unknown>): EndpointSearch {
  const { endpoint_id: _path, ...deliveries } = readDeliverySearch(raw);
  const tab = ENDPOINT_TABS.find((known) => known === raw['tab']);
  const window = STATS_WINDOWS.find(({ value }) => value === raw['window'])?.value;
  return { ...deliveries, ...(tab && { tab }), ...(window && { window }) };
}

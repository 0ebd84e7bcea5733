import { type InfiniteData, type Query, type QueryClient, queryOptions } from '@tanstack/react-query';
import type { Shipment } from '@tracking/client';
import type { Environment } from '../session/api.ts';

/** Changes to shipments since their lists were read. */
export interface ShipmentUpdates {
  /** Current shipments by id, latest change last. */
  readonly shipments: ReadonlyMap<
    string,
    { readonly shipment: Shipment; /** Epoch milliseconds. */ readonly receivedAt: number }
  >;
  /** True if further changes may exist because the stream was interrupted. */
  readonly missed: boolean;
}

/** Maximum number of shipments kept. With this many pending changes, users reload the list anyway. */
const MAX_PENDING_SHIPMENTS = 1_000;
const NO_UPDATES: ShipmentUpdates = { shipments: new Map(), missed: false };

type Page = { readonly data: Shipment[]; readonly next_cursor: string | null };

/** Query whose data comes from events and is never fetched. */
export function shipmentUpdatesQuery(environment: Environment) {
  return queryOptions({
    queryKey: ['shipment-news', environment],
    queryFn: (): ShipmentUpdates => NO_UPDATES,
    initialData: NO_UPDATES,
    staleTime: Infinity,
    gcTime: Infinity,
    refetchOnMount: false,
    refetchOnReconnect: false,
    refetchOnWindowFocus: false,
  });
}

/**
 * Updates listed shipments in place. Rows never move, appear or disappear under the pointer. The list page derives
 * everything else from these updates.
 */
export function updateCachedShipments(
  queries: QueryClient,
  environment: Environment,
  latest: readonly Shipment[],
): void {
  const byId = new Map<string, Shipment>();
  for (const shipment of latest) if (isNewerVersion(shipment, byId.get(shipment.id))) byId.set(shipment.id, shipment);
  const now = (known: Shipment) => {
    const update = byId.get(known.id);
    return update !== undefined && isNewerVersion(update, known) ? update : known;
  };
  for (const { id } of byId.values()) {
    queries.setQueryData<Shipment>(['shipment', environment, id], (known) => known && now(known));
  }
  queries.setQueriesData<InfiniteData<Page>>({ queryKey: ['shipments', environment] }, (list) => {
    if (!list?.pages.some(({ data }) => data.some((known) => now(known) !== known))) return list;
    return { ...list, pages: list.pages.map((page) => ({ ...page, data: page.data.map(now) })) };
  });
  queries.setQueryData<ShipmentUpdates>(shipmentUpdatesQuery(environment).queryKey, (news = NO_UPDATES) =>
    mergeUpdates(news, byId.values(), Date.now()),
  );
}

/**
 * Returns a predicate for shipments whose exception events matter: listed shipments, or all if a visible list filters
 * by exceptions.
 */
export function createListedShipmentFilter(queries: QueryClient, environment: Environment): (id: string) => boolean {
  const shipmentLists = { queryKey: ['shipments', environment] };
  const lists = queries.getQueriesData<InfiniteData<Page>>(shipmentLists);
  const listed = new Set(
    lists.flatMap(([, list]) => list?.pages.flatMap(({ data }) => data.map(({ id }) => id)) ?? []),
  );
  const shown = queries.getQueryCache().findAll({ ...shipmentLists, type: 'active' });
  const filtersByExceptions = shown.some(({ queryKey: [, , query] }) => {
    const { has_open_exceptions } = (query ?? {}) as { readonly has_open_exceptions?: boolean };
    return has_open_exceptions !== undefined;
  });
  return (id) => filtersByExceptions || listed.has(id);
}

/** Marks visible lists as possibly outdated. Hidden lists are refetched when they are next shown. */
export function markListsOutdated(queries: QueryClient, environment: Environment): void {
  const lists = { queryKey: ['shipments', environment] };
  queries.removeQueries({ ...lists, type: 'inactive' });
  if (queries.getQueryCache().findAll(lists).length === 0) return;
  queries.setQueryData<ShipmentUpdates>(shipmentUpdatesQuery(environment).queryKey, (news = NO_UPDATES) => ({
    ...news,
    missed: true,
  }));
}

/** Reloads all lists: visible ones from their first page, hidden ones when they are next shown. */
export async function reloadLists(queries: QueryClient, environment: Environment): Promise<void> {
  const lists = { queryKey: ['shipments', environment] };
  queries.removeQueries({ ...lists, type: 'inactive' });
  queries.setQueriesData<InfiniteData<Page>>(lists, (list) =>
    list === undefined ? list : { pages: list.pages.slice(0, 1), pageParams: list.pageParams.slice(0, 1) },
  );
  queries.setQueryData(shipmentUpdatesQuery(environment).queryKey, NO_UPDATES);
  await queries.refetchQueries(lists);
}

export function mergeUpdates(news: ShipmentUpdates, latest: Iterable<Shipment>, receivedAt: number): ShipmentUpdates {
  const shipments = new Map(news.shipments);
  for (const shipment of latest) {
    if (!isNewerVersion(shipment, shipments.get(shipment.id)?.shipment)) continue;
    shipments.delete(shipment.id);
    shipments.set(shipment.id, { shipment, receivedAt });
  }
  const excess = shipments.size - MAX_PENDING_SHIPMENTS;
  for (const id of [...shipments.keys()].slice(0, Math.max(excess, 0))) shipments.delete(id);
  return { shipments, missed: news.missed || excess > 0 };
}

function isNewerVersion(shipment: Shipment, known: Shipment | undefined): boolean {
  return known === undefined || known.version < shipment.version;
}

/** Queries whose data never changes through events. */
const QUERIES_UNAFFECTED_BY_EVENTS: ReadonlySet<unknown> = new Set([
  ...['session', 'shipment-news', 'place', 'places', 'milestone-codes', 'document-content'],
]);

/**
 * Refetches all data of an environment, including lists. Called when the stream opens, because data read before may be older
 * than the first event.
 */
export function refetchEnvironment(queries: QueryClient, environment: Environment): void {
  const read = queries.getQueryCache().findAll({
    predicate: ({ queryKey: [kind, of] }) => of === environment && !QUERIES_UNAFFECTED_BY_EVENTS.has(kind),
  });
  for (const query of read) void refetchAfterPendingFetch(queries, query);
}

async function refetchAfterPendingFetch(queries: QueryClient, query: Query): Promise<void> {
  // A pending fetch completes first. Restarting it would only delay its data.
  await query.promise?.catch(() => undefined);
  await queries.invalidateQueries({ predicate: (one) => one === query });
}

import { type InfiniteData, type Query, type QueryClient, queryOptions } from '@tanstack/react-query';
import type { Shipment } from '@tracking/client';
import type { Environment } from '../session/api.ts';

/** Shipments that have changed since the shipment lists were read. */
export interface ShipmentUpdates {
  /** Changed shipments by id, in the order of their latest changes. */
  readonly shipments: ReadonlyMap<
    string,
    { readonly shipment: Shipment; /** Time of the event in epoch milliseconds. */ readonly receivedAt: number }
  >;
  /** True if some changes may be missing because the event stream was interrupted. */
  readonly missed: boolean;
}

/** Maximum number of changed shipments in memory. A user with this many pending changes must reload the list anyway. */
const MAX_PENDING_SHIPMENTS = 1_000;
const NO_SHIPMENT_UPDATES: ShipmentUpdates = { shipments: new Map(), missed: false };

type Page = { readonly data: Shipment[]; readonly next_cursor: string | null };

/** Query of the changed shipments. Events write its data, and it is never fetched. */
export function shipmentUpdatesQuery(environment: Environment) {
  return queryOptions({
    queryKey: ['shipment-news', environment],
    queryFn: (): ShipmentUpdates => NO_SHIPMENT_UPDATES,
    initialData: NO_SHIPMENT_UPDATES,
    staleTime: Infinity,
    gcTime: Infinity,
    refetchOnMount: false,
    refetchOnReconnect: false,
    refetchOnWindowFocus: false,
  });
}

/**
 * Updates shipments in all cached lists. Rows never move, appear or disappear. The list page uses the changed shipments
 * to offer a refresh.
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
  queries.setQueryData<ShipmentUpdates>(shipmentUpdatesQuery(environment).queryKey, (news = NO_SHIPMENT_UPDATES) =>
    addChangedShipments(news, byId.values(), Date.now()),
  );
}

/**
 * Returns a function that decides if a shipment must be read again after an event about one of its exceptions or
 * documents. This applies to listed shipments. If a visible list filters by exceptions, it applies to all shipments.
 */
export function createShipmentRereadPredicate(queries: QueryClient, environment: Environment): (id: string) => boolean {
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

/** Marks the visible lists as possibly outdated. Hidden lists are read again when they are next shown. */
export function markVisibleShipmentListsAsMissingUpdates(queries: QueryClient, environment: Environment): void {
  const lists = { queryKey: ['shipments', environment] };
  queries.removeQueries({ ...lists, type: 'inactive' });
  if (queries.getQueryCache().findAll(lists).length === 0) return;
  queries.setQueryData<ShipmentUpdates>(shipmentUpdatesQuery(environment).queryKey, (news = NO_SHIPMENT_UPDATES) => ({
    ...news,
    missed: true,
  }));
}

/**
 * Reloads all shipment lists. A visible list is read again from its first page. A hidden list is read again when it is
 * next shown.
 */
export async function reloadShipmentLists(queries: QueryClient, environment: Environment): Promise<void> {
  const lists = { queryKey: ['shipments', environment] };
  queries.removeQueries({ ...lists, type: 'inactive' });
  queries.setQueriesData<InfiniteData<Page>>(lists, (list) =>
    list === undefined ? list : { pages: list.pages.slice(0, 1), pageParams: list.pageParams.slice(0, 1) },
  );
  queries.setQueryData(shipmentUpdatesQuery(environment).queryKey, NO_SHIPMENT_UPDATES);
  await queries.refetchQueries(lists);
}

export function addChangedShipments(
  news: ShipmentUpdates,
  latest: Iterable<Shipment>,
  receivedAt: number,
): ShipmentUpdates {
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

/** Kinds of queries whose data never changes through events. */
const QUERIES_UNAFFECTED_BY_EVENTS: ReadonlySet<unknown> = new Set([
  ...['session', 'shipment-news', 'place', 'places', 'milestone-codes', 'document-content'],
]);

/**
 * Refetches all data of an environment, including lists. Called when the event stream opens, because earlier data may
 * be older than the first event.
 */
export function refetchDataOfEnvironment(queries: QueryClient, environment: Environment): void {
  const read = queries.getQueryCache().findAll({
    predicate: ({ queryKey: [kind, of] }) => of === environment && !QUERIES_UNAFFECTED_BY_EVENTS.has(kind),
  });
  for (const query of read) void refetchAfterPendingFetch(queries, query);
}

async function refetchAfterPendingFetch(queries: QueryClient, query: Query): Promise<void> {
  // A pending fetch is completed before the refetch. Cancelling it would only delay the data.
  await query.promise?.catch(() => undefined);
  await queries.invalidateQueries({ predicate: (one) => one === query });
}

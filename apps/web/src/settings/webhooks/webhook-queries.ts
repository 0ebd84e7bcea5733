import { infiniteQueryOptions, queryOptions, useQuery } from '@tanstack/react-query';
import type { QueryOf, WebhookDelivery } from '@tracking/client';
import { type Environment, getApiClient } from '../../session/api.ts';
import { useEnvironment } from '../../session/session.ts';
import { getStatsStart } from './endpoints/stats-series.ts';
import { type DeliveryListUrlParameters, type StatsWindow, parseDeliveryStatuses } from './webhook-search.ts';

/**
 * Polling interval of endpoints and deliveries in milliseconds. No events report their changes. Polling stops while the
 * browser tab is hidden.
 */
export const POLL_INTERVAL_MS = 5_000;
const STATS_POLL_INTERVAL_MS = 30_000;
const PAGE_SIZE = 50;

/** Keys of the queries that are refetched after a change to an endpoint. */
export const ENDPOINT_QUERY_KEYS = [['webhook-endpoints'], ['webhook-endpoint'], ['webhook-stats']];
export const DELIVERY_QUERY_CACHE_KEYS = [
  ...['webhook-deliveries', 'webhook-deliveries-newest', 'webhook-delivery', 'webhook-dead-letters'].map((kind) => [
    kind,
  ]),
  ...[['webhook-stats'], ['webhook-replays']],
];

/** Query of all webhook endpoints. An environment has at most 50 endpoints. */
export const endpointsQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['webhook-endpoints', environment],
    queryFn: ({ signal }) => getApiClient(environment).webhookEndpoints.list({ limit: 200 }, { signal }).toArray(),
    refetchInterval: STATS_POLL_INTERVAL_MS,
  });

/**
 * Returns a function that returns the name of an endpoint by id. The function returns undefined if the endpoint was
 * deleted or is not loaded yet.
 */
export function useEndpointNames(isEnabled = true): (id: string) => string | undefined {
  const endpoints = useQuery({ ...endpointsQuery(useEnvironment()), enabled: isEnabled });
  return (id) => {
    const endpoint = endpoints.data?.find((each) => each.id === id);
    return endpoint?.description ?? endpoint?.url;
  };
}

export const endpointQuery = (environment: Environment, id: string) =>
  queryOptions({
    queryKey: ['webhook-endpoint', environment, id],
    queryFn: ({ signal }) => getApiClient(environment).webhookEndpoints.get(id, { signal }),
    refetchInterval: POLL_INTERVAL_MS,
  });

export const endpointStatsQuery = (environment: Environment, id: string, window: StatsWindow) =>
  queryOptions({
    queryKey: ['webhook-stats', environment, id, window],
    queryFn: ({ signal }) =>
      getApiClient(environment).webhookEndpoints.stats(id, { since: getStatsStart(window, Date.now()) }, { signal }),
    refetchInterval: window === 'day' ? POLL_INTERVAL_MS * 2 : STATS_POLL_INTERVAL_MS,
  });

const toDeliveryFilter = ({ status, ...search }: DeliveryListUrlParameters): QueryOf<'listWebhookDeliveries'> => ({
  ...search,
  limit: PAGE_SIZE,
  ...(status !== undefined && { status: parseDeliveryStatuses(status) }),
});

/**
 * Query of deliveries, page by page, in their state at the first read. {@link createNewestDeliveriesQueryOptions} provides later
 * changes.
 */
export function deliveriesQuery(environment: Environment, search: DeliveryListUrlParameters) {
  return infiniteQueryOptions({
    queryKey: ['webhook-deliveries', environment, search],
    queryFn: ({ pageParam, signal }) =>
      getApiClient(environment).webhookDeliveries.list(toDeliveryFilter(search), { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    // The query is never refetched automatically, because new rows would move the rows under the pointer.
    staleTime: Infinity,
    gcTime: 0,
  });
}

export const createNewestDeliveriesQueryOptions = (environment: Environment, search: DeliveryListUrlParameters) =>
  queryOptions({
    queryKey: ['webhook-deliveries-newest', environment, search],
    queryFn: async ({ signal }) =>
      (await getApiClient(environment).webhookDeliveries.list(toDeliveryFilter(search), { signal }).page()).data,
    refetchInterval: POLL_INTERVAL_MS,
  });

export const createDeliveryQueryOptions = (environment: Environment, id: string) =>
  queryOptions({
    queryKey: ['webhook-delivery', environment, id],
    queryFn: ({ signal }) => getApiClient(environment).webhookDeliveries.get(id, { signal }),
    refetchInterval: ({ state: { data } }) => (data?.completed_at == null ? POLL_INTERVAL_MS / 2 : POLL_INTERVAL_MS),
  });

export const deadLetterSummaryQuery = (environment: Environment, search: QueryOf<'summarizeWebhookDeadLetters'>) =>
  queryOptions({
    queryKey: ['webhook-dead-letters', environment, search],
    queryFn: ({ signal }) => getApiClient(environment).webhookDeadLetters.summary(search, { signal }),
    refetchInterval: POLL_INTERVAL_MS,
  });

/** Query of the newest 50 replays of one endpoint, or of all endpoints. */
export const replaysQuery = (environment: Environment, endpointId: string | undefined) =>
  queryOptions({
    queryKey: ['webhook-replays', environment, endpointId ?? 'all'],
    queryFn: async ({ signal }) => {
      const query = { limit: PAGE_SIZE, ...(endpointId !== undefined && { endpoint_id: endpointId }) };
      return (await getApiClient(environment).webhookReplays.list(query, { signal }).page()).data;
    },
    refetchInterval: ({ state: { data } }) =>
      data?.some(({ status }) => status === 'running') ? POLL_INTERVAL_MS / 5 : POLL_INTERVAL_MS * 2,
  });

interface DeliveriesWithNewerCount {
  readonly rows: readonly WebhookDelivery[];
  /** Number of new deliveries that the list does not contain yet. */
  readonly newer: number;
}

/** Updates the deliveries in the list with the newest state. It adds no rows, so no row moves under the pointer. */
export function updateListedDeliveries(
  read: readonly WebhookDelivery[],
  newest: readonly WebhookDelivery[],
): DeliveriesWithNewerCount {
  const now = new Map(newest.map((delivery) => [delivery.id, delivery]));
  const known = new Set(read.map(({ id }) => id));
  const rows = read.map((delivery) => {
    const changed = now.get(delivery.id);
    return changed !== undefined && changed.version > delivery.version ? changed : delivery;
  });
  return { rows, newer: newest.filter(({ id }) => !known.has(id)).length };
}

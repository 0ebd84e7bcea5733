import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { QueryOf, WebhookDelivery } from '@tracking/client';
import { type Environment, api } from '../../session/api.ts';
import { statsSince } from './endpoints/stats-series.ts';
import { type DeliverySearch, statusesOf, type StatsWindow } from './webhook-search.ts';

/** Nothing tells of deliveries and endpoints as they change: they are read again so often, while the tab is seen. */
export const POLL_MS = 5_000;
const STATS_POLL_MS = 30_000;
const PAGE = 50;

/** What a write to an endpoint makes old. */
export const TOUCHED_BY_ENDPOINTS = [['webhook-endpoints'], ['webhook-endpoint'], ['webhook-stats']];
export const TOUCHED_BY_DELIVERIES = [
  ...['webhook-deliveries', 'webhook-deliveries-newest', 'webhook-delivery', 'webhook-dead-letters'].map((kind) => [
    kind,
  ]),
  ...[['webhook-stats'], ['webhook-replays']],
];

/** At most 50 of an environment. */
export const endpointsQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['webhook-endpoints', environment],
    queryFn: ({ signal }) => api(environment).webhookEndpoints.list({ limit: 200 }, { signal }).toArray(),
    refetchInterval: STATS_POLL_MS,
  });

export const endpointQuery = (environment: Environment, id: string) =>
  queryOptions({
    queryKey: ['webhook-endpoint', environment, id],
    queryFn: ({ signal }) => api(environment).webhookEndpoints.get(id, { signal }),
    refetchInterval: POLL_MS,
  });

export const statsQuery = (environment: Environment, id: string, window: StatsWindow) =>
  queryOptions({
    queryKey: ['webhook-stats', environment, id, window],
    queryFn: ({ signal }) =>
      api(environment).webhookEndpoints.stats(id, { since: statsSince(window, Date.now()) }, { signal }),
    refetchInterval: window === 'day' ? POLL_MS * 2 : STATS_POLL_MS,
  });

const deliveryFilter = ({ status, ...search }: DeliverySearch): QueryOf<'listWebhookDeliveries'> => ({
  ...search,
  limit: PAGE,
  ...(status !== undefined && { status: statusesOf(status) }),
});

/** As they were when they were read, page by page; {@link newestDeliveriesQuery} has what changes. */
export function deliveriesQuery(environment: Environment, search: DeliverySearch) {
  return infiniteQueryOptions({
    queryKey: ['webhook-deliveries', environment, search],
    queryFn: ({ pageParam, signal }) =>
      api(environment).webhookDeliveries.list(deliveryFilter(search), { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    // Rows that were read come in under no pointer by themselves.
    staleTime: Infinity,
    gcTime: 0,
  });
}

export const newestDeliveriesQuery = (environment: Environment, search: DeliverySearch) =>
  queryOptions({
    queryKey: ['webhook-deliveries-newest', environment, search],
    queryFn: async ({ signal }) =>
      (await api(environment).webhookDeliveries.list(deliveryFilter(search), { signal }).page()).data,
    refetchInterval: POLL_MS,
  });

export const deliveryQuery = (environment: Environment, id: string) =>
  queryOptions({
    queryKey: ['webhook-delivery', environment, id],
    queryFn: ({ signal }) => api(environment).webhookDeliveries.get(id, { signal }),
    refetchInterval: ({ state: { data } }) => (data?.completed_at == null ? POLL_MS / 2 : POLL_MS),
  });

export const deadLettersQuery = (environment: Environment, search: QueryOf<'summarizeWebhookDeadLetters'>) =>
  queryOptions({
    queryKey: ['webhook-dead-letters', environment, search],
    queryFn: ({ signal }) => api(environment).webhookDeadLetters.summary(search, { signal }),
    refetchInterval: POLL_MS,
  });

/** Of an endpoint, or all; the newest fifty. */
export const replaysQuery = (environment: Environment, endpointId: string | undefined) =>
  queryOptions({
    queryKey: ['webhook-replays', environment, endpointId ?? 'all'],
    queryFn: async ({ signal }) => {
      const query = { limit: PAGE, ...(endpointId !== undefined && { endpoint_id: endpointId }) };
      return (await api(environment).webhookReplays.list(query, { signal }).page()).data;
    },
    refetchInterval: ({ state: { data } }) =>
      data?.some(({ status }) => status === 'running') ? POLL_MS / 5 : POLL_MS * 2,
  });

interface Shown {
  readonly rows: readonly WebhookDelivery[];
  /** Those that are not among the rows yet. */
  readonly newer: number;
}

/** What was read page by page, with what changed of it since, each where it stands: rows never move under the pointer. */
export function withNewest(read: readonly WebhookDelivery[], newest: readonly WebhookDelivery[]): Shown {
  const now = new Map(newest.map((delivery) => [delivery.id, delivery]));
  const known = new Set(read.map(({ id }) => id));
  const rows = read.map((delivery) => {
    const changed = now.get(delivery.id);
    return changed !== undefined && changed.version > delivery.version ? changed : delivery;
  });
  return { rows, newer: newest.filter(({ id }) => !known.has(id)).length };
}

import { queryOptions } from '@tanstack/react-query';
import { type Environment, api } from '../session/api.ts';

/** While something is awaited that the stream of events does not tell. */
const LOOK_AGAIN_MS = 3_000;

export const firstKeyQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['api-keys', environment, 'first'],
    queryFn: async ({ signal }) => {
      const keys = await api(environment).keys.list({ limit: 200 }, { signal }).toArray();
      return keys.find((key) => key.environment === environment && key.revoked_at === null) ?? null;
    },
    refetchInterval: ({ state }) => (state.data ? false : LOOK_AGAIN_MS),
  });

export const firstShipmentQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['first-shipment', environment],
    queryFn: async ({ signal }) =>
      (await api(environment).shipments.list({ limit: 1, sort: 'created_at' }, { signal }).page()).data[0] ?? null,
  });

/** The latest that was taken, or else the latest endpoint; neither where there is none. */
export const firstWebhookQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['first-webhook', environment],
    queryFn: async ({ signal }) => {
      const { webhookEndpoints, webhookDeliveries } = api(environment);
      const [endpoints, deliveries] = await Promise.all([
        webhookEndpoints.list({ limit: 1 }, { signal }).page(),
        webhookDeliveries.list({ limit: 1, status: ['succeeded'] }, { signal }).page(),
      ]);
      return { endpoint: endpoints.data[0] ?? null, delivery: deliveries.data[0] ?? null };
    },
    refetchInterval: ({ state }) => (state.data?.delivery ? false : LOOK_AGAIN_MS),
  });

import { type QueryClient, queryOptions } from '@tanstack/react-query';
import type { Shipment } from '@tracking/client';
import { type Environment, api } from '../session/api.ts';

export function shipmentQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['shipment', environment, id],
    queryFn: ({ signal }) => api(environment).shipments.get(id, { signal }),
  });
}

/** Reads several at once, 100 at most, and also keeps each as if it had been read alone. */
export function shipmentsQuery(queries: QueryClient, environment: Environment, ids: readonly string[]) {
  return queryOptions({
    queryKey: ['shipments-by-id', environment, ids],
    queryFn: async ({ signal }) => {
      const { data } = await api(environment)
        .shipments.list({ id: [...ids], limit: ids.length }, { signal })
        .page();
      for (const shipment of data) {
        queries.setQueryData<Shipment>(shipmentQuery(environment, shipment.id).queryKey, (known) =>
          known !== undefined && known.version > shipment.version ? known : shipment,
        );
      }
      return data;
    },
  });
}

/** All that was ever said: planned and estimated, replaced and taken back too. */
export function milestonesQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['milestones', environment, id],
    queryFn: ({ signal }) => {
      const all = { classifier: ['all' as const], include_superseded: true, include_retracted: true, limit: 200 };
      return api(environment).milestones.list(id, all, { signal }).toArray();
    },
  });
}

export function explanationQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['explanation', environment, id],
    queryFn: ({ signal }) => api(environment).shipments.explain(id, { signal }),
  });
}

/** Every change of the ETA, the newest first. */
export function etaHistoryQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['eta-history', environment, id],
    queryFn: ({ signal }) => api(environment).shipments.etaHistory(id, { limit: 200 }, { signal }).toArray(),
  });
}

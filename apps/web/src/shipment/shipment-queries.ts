import { type QueryClient, queryOptions } from '@tanstack/react-query';
import type { ItemOf, Shipment } from '@tracking/client';
import { createContext, useContext } from 'react';
import { type Environment, api } from '../session/api.ts';

export function shipmentQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['shipment', environment, id],
    queryFn: ({ signal }) => api(environment).shipments.get(id, { signal }),
  });
}

/** Reads up to 100 shipments and caches each as if it had been read alone. */
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

/** All milestones: planned and estimated, replaced and retracted too. */
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

/** The changes of the ETA, the newest first. */
export function etaHistoryQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['eta-history', environment, id],
    queryFn: ({ signal }) => api(environment).shipments.etaHistory(id, { limit: 200 }, { signal }).toArray(),
  });
}

export const ShipmentContext = createContext<Shipment | undefined>(undefined);

/** The shipment of the page, kept up to date by events. */
export function useShipment(): Shipment {
  const shipment = useContext(ShipmentContext);
  if (shipment === undefined) throw new Error('useShipment must be called within a shipment page');
  return shipment;
}

/** The title of a shipment on its pages and in the exceptions queue. The list uses `nameOf`, which never shows a container. */
export function titleOf({ external_id, house_bill, container_numbers, id }: Shipment): string {
  return external_id ?? house_bill ?? container_numbers[0] ?? id;
}

/** The version in an ETag; 0, which no resource has, without one. */
export function versionIn(etag: string | undefined): number {
  return Number(/^"(\d+)"$/.exec(etag ?? '')?.[1] ?? 0);
}

/** The state of the timeline as the address holds it. */
export interface TimelineSearch {
  /** Shows this container only. */
  readonly container?: string | undefined;
  /** Includes retracted and replaced milestones. */
  readonly past?: true | undefined;
  /** The id of the opened milestone. */
  readonly milestone?: string | undefined;
}

/** Reads an address; invalid parts are ignored. */
export function readTimelineSearch(raw: Record<string, unknown>): TimelineSearch {
  const text = (name: string) => (typeof raw[name] === 'string' && raw[name] !== '' ? raw[name] : undefined);
  const values = {
    container: text('container'),
    past: raw['past'] === true || undefined,
    milestone: text('milestone'),
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** The state of the documents as the address holds it: the opened document. */
interface DocumentSearch {
  readonly document?: string;
}

export function readDocumentSearch({ document }: Record<string, unknown>): DocumentSearch {
  return typeof document === 'string' && /^doc_\w+$/.test(document) ? { document } : {};
}

export type EtaChange = ItemOf<'listEtaHistory'>;

/** The estimate from a moment on; both in milliseconds. */
interface EtaPoint {
  readonly reported: number;
  readonly eta: number | null;
}

/**
 * The points of the chart in order, up to now: the last estimate still applies.
 * @param changes the newest first, as the API lists them
 */
export function etaPoints(changes: readonly EtaChange[], now: number): EtaPoint[] {
  const time = (eta: string | null) => (eta === null ? null : Date.parse(eta));
  const points = changes
    .map(({ reported_at, eta }) => ({ reported: Date.parse(reported_at), eta: time(eta) }))
    .reverse();
  const last = points.at(-1);
  return last === undefined || last.reported >= now ? points : [...points, { ...last, reported: now }];
}

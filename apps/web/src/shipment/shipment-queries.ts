import { type QueryClient, queryOptions } from '@tanstack/react-query';
import type { ItemOf, Shipment } from '@tracking/client';
import { createContext, useContext } from 'react';
import { type Environment, getApiClient } from '../session/api.ts';

export function shipmentQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['shipment', environment, id],
    queryFn: ({ signal }) => getApiClient(environment).shipments.get(id, { signal }),
  });
}

/** Query of up to 100 shipments by id. It also writes each shipment to the cache of single shipments. */
export function shipmentsByIdQuery(queries: QueryClient, environment: Environment, ids: readonly string[]) {
  return queryOptions({
    queryKey: ['shipments-by-id', environment, ids],
    queryFn: async ({ signal }) => {
      const { data } = await getApiClient(environment)
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

/** Query of all milestones of a shipment, including planned, estimated, replaced and retracted ones. */
export function milestonesQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['milestones', environment, id],
    queryFn: ({ signal }) => {
      const all = { classifier: ['all' as const], include_superseded: true, include_retracted: true, limit: 200 };
      return getApiClient(environment).milestones.list(id, all, { signal }).toArray();
    },
  });
}

export function explanationQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['explanation', environment, id],
    queryFn: ({ signal }) => getApiClient(environment).shipments.explain(id, { signal }),
  });
}

/** Query of the changes of a shipment's ETA, newest first. */
export function etaHistoryQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['eta-history', environment, id],
    queryFn: ({ signal }) => getApiClient(environment).shipments.etaHistory(id, { limit: 200 }, { signal }).toArray(),
  });
}

export const ShipmentContext = createContext<Shipment | undefined>(undefined);

/** Returns the shipment that the page shows. Events keep the shipment up to date. */
export function useShipmentOfPage(): Shipment {
  const shipment = useContext(ShipmentContext);
  if (shipment === undefined) throw new Error('useShipmentOfPage must be called within a shipment page');
  return shipment;
}

/**
 * Returns the title of a shipment for its pages and the exceptions queue. The shipment list uses `getShipmentName`,
 * which never shows a container.
 */
export function getShipmentTitle({ external_id, house_bill, container_numbers, id }: Shipment): string {
  return external_id ?? house_bill ?? container_numbers[0] ?? id;
}

/** Parses the version of a shipment from an ETag. Without an ETag it returns 0, which is never a version. */
export function parseVersionFromETag(etag: string | undefined): number {
  return Number(/^"(\d+)"$/.exec(etag ?? '')?.[1] ?? 0);
}

/** State of the timeline that the page URL contains: filters and opened milestone. */
export interface TimelineUrlParameters {
  /** Number of the container to show. If left out, all containers are shown. */
  readonly container?: string | undefined;
  /** True if retracted and replaced milestones are shown. */
  readonly past?: true | undefined;
  /** Id of the opened milestone. */
  readonly milestone?: string | undefined;
}

/** Parses the state of the timeline from the page URL. Invalid parameters are ignored. */
export function readTimelineUrlParameters(raw: Record<string, unknown>): TimelineUrlParameters {
  const text = (name: string) => (typeof raw[name] === 'string' && raw[name] !== '' ? raw[name] : undefined);
  const values = {
    container: text('container'),
    past: raw['past'] === true || undefined,
    milestone: text('milestone'),
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** State of the documents section that the page URL contains. */
interface DocumentUrlParameters {
  readonly document?: string;
}

export function readDocumentUrlParameters({ document }: Record<string, unknown>): DocumentUrlParameters {
  return typeof document === 'string' && /^doc_\w+$/.test(document) ? { document } : {};
}

export type EtaChange = ItemOf<'listEtaHistory'>;

/** Point of the ETA chart: an ETA and the time at which it was reported, both in epoch milliseconds. */
interface EtaPoint {
  readonly reported: number;
  readonly eta: number | null;
}

/**
 * Builds the points of the ETA chart, oldest first. The last point repeats the latest ETA at the current time.
 * @param changes ETA changes from the API, newest first
 */
export function buildEtaPoints(changes: readonly EtaChange[], now: number): EtaPoint[] {
  const time = (eta: string | null) => (eta === null ? null : Date.parse(eta));
  const points = changes
    .map(({ reported_at, eta }) => ({ reported: Date.parse(reported_at), eta: time(eta) }))
    .reverse();
  const last = points.at(-1);
  return last === undefined || last.reported >= now ? points : [...points, { ...last, reported: now }];
}

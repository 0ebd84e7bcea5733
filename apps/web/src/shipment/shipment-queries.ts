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

/** Query of up to 100 shipments by id. Each shipment is also cached as a single resource. */
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

/** Query of all milestones, including planned, estimated, replaced and retracted ones. */
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

/** Query of the ETA changes, newest first. */
export function etaHistoryQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['eta-history', environment, id],
    queryFn: ({ signal }) => getApiClient(environment).shipments.etaHistory(id, { limit: 200 }, { signal }).toArray(),
  });
}

export const ShipmentContext = createContext<Shipment | undefined>(undefined);

/** Returns the shipment of the page, which events keep up to date. */
export function useShipment(): Shipment {
  const shipment = useContext(ShipmentContext);
  if (shipment === undefined) throw new Error('useShipment must be called within a shipment page');
  return shipment;
}

/**
 * Returns the title of a shipment for its pages and the exceptions queue. The shipment list uses `getShipmentName`, which never
 * shows a container.
 */
export function getShipmentTitle({ external_id, house_bill, container_numbers, id }: Shipment): string {
  return external_id ?? house_bill ?? container_numbers[0] ?? id;
}

/** Parses the version from an ETag. Returns 0, which is never a version, if there is none. */
export function parseVersionFromETag(etag: string | undefined): number {
  return Number(/^"(\d+)"$/.exec(etag ?? '')?.[1] ?? 0);
}

/** State of the timeline in the page URL. */
export interface TimelineSearch {
  /** Number of the only container to show. */
  readonly container?: string | undefined;
  /** True to include retracted and replaced milestones. */
  readonly past?: true | undefined;
  /** Id of the opened milestone. */
  readonly milestone?: string | undefined;
}

/** Parses the state of the timeline from the page URL. Ignores invalid parameters. */
export function readTimelineSearch(raw: Record<string, unknown>): TimelineSearch {
  const text = (name: string) => (typeof raw[name] === 'string' && raw[name] !== '' ? raw[name] : undefined);
  const values = {
    container: text('container'),
    past: raw['past'] === true || undefined,
    milestone: text('milestone'),
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** State of the documents section in the page URL. */
interface DocumentSearch {
  readonly document?: string;
}

export function readDocumentSearch({ document }: Record<string, unknown>): DocumentSearch {
  return typeof document === 'string' && /^doc_\w+$/.test(document) ? { document } : {};
}

export type EtaChange = ItemOf<'listEtaHistory'>;

/** ETA from a point in time on. Both times are in milliseconds. */
interface EtaPoint {
  readonly reported: number;
  readonly eta: number | null;
}

/**
 * Builds the points of the ETA chart in order. The last estimate extends to the current time.
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

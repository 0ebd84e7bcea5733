import { type QueryClient, queryOptions } from '@tanstack/react-query';
import type { Shipment, ItemOf } from '@tracking/client';
import { createContext, useContext } from 'react';
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

export const ShipmentContext = createContext<Shipment | undefined>(undefined);

/** The shipment that the page is about, as it is now: changes that arrive are in it. */
export function useShipment(): Shipment {
  const shipment = useContext(ShipmentContext);
  if (shipment === undefined) throw new Error('this is no part of the page of a shipment');
  return shipment;
}

/** What people call it by. */
export function nameOf({ external_id, house_bill, container_numbers, id }: Shipment): string {
  return external_id ?? house_bill ?? container_numbers[0] ?? id;
}

/** The version that an ETag names; 0, which nothing has, where it names none. */
export function versionIn(etag: string | undefined): number {
  return Number(/^"(\d+)"$/.exec(etag ?? '')?.[1] ?? 0);
}

/** What of a timeline stands in the address. */
export interface TimelineSearch {
  /** Of this container alone. */
  readonly container?: string | undefined;
  /** Also what was taken back or replaced. */
  readonly past?: true | undefined;
  /** The milestone that is looked at. */
  readonly milestone?: string | undefined;
}

/** What an address says; what it says wrongly counts as not said. */
export function readTimelineSearch(raw: Record<string, unknown>): TimelineSearch {
  const text = (name: string) => (typeof raw[name] === 'string' && raw[name] !== '' ? raw[name] : undefined);
  const said = { container: text('container'), past: raw['past'] === true || undefined, milestone: text('milestone') };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}

/** What of the documents stands in the address: the one that is looked at. */
interface DocumentSearch {
  readonly document?: string;
}

export function readDocumentSearch({ document }: Record<string, unknown>): DocumentSearch {
  return typeof document === 'string' && /^doc_\w+$/.test(document) ? { document } : {};
}

export type EtaChange = ItemOf<'listEtaHistory'>;

/** What was expected from a moment on; both in milliseconds. */
interface EtaPoint {
  readonly reported: number;
  readonly eta: number | null;
}

/**
 * What a line of the ETA goes through, in order, up to now: the last estimate still holds then.
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

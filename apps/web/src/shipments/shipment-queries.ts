import { type InfiniteData, infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query';
import type { Shipment } from '@tracking/client';
import { type Environment, api } from '../session/api.ts';
import type { ListQuery } from './search/list-query.ts';

const PAGE = 100;

export interface ShipmentsPage {
  readonly data: Shipment[];
  readonly next_cursor: string | null;
  /** When it was read. */
  readonly readAt: number;
}

/** A list of shipments, page by page. Never read anew by itself: its rows would move under the pointer. */
export function shipmentsQuery(environment: Environment, query: ListQuery) {
  return infiniteQueryOptions({
    queryKey: ['shipments', environment, query],
    queryFn: async ({ pageParam, signal }): Promise<ShipmentsPage> => {
      const readAt = Date.now();
      const list = api(environment).shipments.list({ ...query, limit: PAGE }, { signal });
      return { ...(await list.page(pageParam)), readAt };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    // While another search is under way, what the last one found stays in view.
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}

/** When its beginning was read, as milliseconds; `Infinity` before that. */
export function readAtOf(list: InfiniteData<ShipmentsPage> | undefined): number {
  return list?.pages[0]?.readAt ?? Infinity;
}

/** Its rows, each once: one that changed meanwhile may be on two pages. */
export function rowsOf(list: InfiniteData<ShipmentsPage> | undefined): readonly Shipment[] {
  const rows = new Map<string, Shipment>();
  for (const { data } of list?.pages ?? []) {
    for (const shipment of data) if (!rows.has(shipment.id)) rows.set(shipment.id, shipment);
  }
  return [...rows.values()];
}

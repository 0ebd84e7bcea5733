import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { Shipment } from '@tracking/client';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { reloadShipmentLists, shipmentUpdatesQuery } from '../../live/live-updates.ts';
import { type Environment, getApiClient } from '../../session/api.ts';
import { useEnvironment } from '../../session/session.ts';
import type { ListQuery } from '../search/shipment-search.ts';
import { findShipmentListUpdates } from './list-updates.ts';

/** Returns the loaded shipments of the list, and the changes that a refresh of the list would show. */
export function useShipmentList(query: ListQuery) {
  const [environment, queries] = [useEnvironment(), useQueryClient()];
  const list = useInfiniteQuery(shipmentListQuery(environment, query));
  const { data: changes } = useQuery(shipmentUpdatesQuery(environment));
  const { hasNextPage: more, isFetching, isFetchNextPageError, fetchNextPage, isPlaceholderData: isOld } = list;
  const rows = useMemo(() => mergeShipmentPages(list.data), [list.data]);
  const readAt = getReadTimeOfFirstPage(list.data);
  const news = useMemo(
    () => findShipmentListUpdates({ rows, more, readAt, query }, changes),
    [rows, more, readAt, query, changes],
  );
  // Time at which the list had last been read when the page was opened.
  const [found] = useState(readAt);

  const next = useCallback(() => {
    if (!isFetching && !isFetchNextPageError) void fetchNextPage();
  }, [isFetching, isFetchNextPageError, fetchNextPage]);
  const reread = useCallback(() => void reloadShipmentLists(queries, environment), [queries, environment]);
  const isRead = list.isSuccess && !isOld && rows.length === 0;
  const isEmpty = isRead && !more;
  // An empty list is refreshed automatically, because a refresh moves no row.
  // In an empty workspace, the first steps stay visible until the user leaves the page.
  const [isSearch, isBack] = [Object.keys(query).length > 0, readAt === found];
  useCallWhenTrue(isEmpty && (isSearch || isBack) && news.fresh > 0, reread);
  // If a page is empty but more pages follow, the next page is loaded immediately.
  const isGap = isRead && more;
  useCallWhenTrue(isGap, next);
  return {
    rows,
    more,
    /** True while the list still shows the rows of the previous search. */
    isOld,
    news,
    readAt,
    /** True if the user returned to the list and its rows were still loaded. */
    isBack,
    error: list.error,
    isPending: list.isPending || isGap,
    isReading: list.isRefetching,
    isEmpty,
    /** Loads the next page of the list. Does nothing while a page is loading. */
    next,
    /** Loads the next page of the list again after an error. */
    nextAgain: isFetchNextPageError ? () => void fetchNextPage() : undefined,
    again: () => void list.refetch(),
    readAnew: reread,
  };
}

/** Calls `act` when the condition becomes true. While the condition is true, it calls each new `act`, too. */
function useCallWhenTrue(isSo: boolean, act: () => void): void {
  useEffect(() => {
    if (isSo) act();
  }, [isSo, act]);
}

export type ShipmentList = ReturnType<typeof useShipmentList>;

const PAGE_SIZE = 100;

interface ShipmentListPageData {
  readonly data: Shipment[];
  readonly next_cursor: string | null;
  /** Time at which the page was read, in epoch milliseconds. */
  readonly readAt: number;
}

/**
 * Query of a shipment list, page by page. It is never refetched automatically, because rows would move under the
 * pointer.
 */
function shipmentListQuery(environment: Environment, query: ListQuery) {
  return infiniteQueryOptions({
    queryKey: ['shipments', environment, query],
    queryFn: async ({ pageParam, signal }): Promise<ShipmentListPageData> => {
      const readAt = Date.now();
      const list = getApiClient(environment).shipments.list({ ...query, limit: PAGE_SIZE }, { signal });
      return { ...(await list.page(pageParam)), readAt };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    // The rows of the previous search stay visible while the results of the next search load.
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}

/** Returns the time at which the first page was read, in epoch milliseconds. Returns `Infinity` if no page was read. */
function getReadTimeOfFirstPage(list: InfiniteData<ShipmentListPageData> | undefined): number {
  return list?.pages[0]?.readAt ?? Infinity;
}

/**
 * Merges all loaded pages into one list without duplicates. A shipment appears on two pages if it changed between the
 * two reads.
 */
function mergeShipmentPages(list: InfiniteData<ShipmentListPageData> | undefined): readonly Shipment[] {
  const rows = new Map<string, Shipment>();
  for (const { data } of list?.pages ?? []) {
    for (const shipment of data) if (!rows.has(shipment.id)) rows.set(shipment.id, shipment);
  }
  return [...rows.values()];
}

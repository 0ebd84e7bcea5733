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
import { reloadLists, shipmentUpdatesQuery } from '../../live/live-updates.ts';
import { type Environment, api } from '../../session/api.ts';
import { useEnvironment } from '../../session/session.ts';
import type { ListQuery } from '../search/shipment-search.ts';
import { listNews } from './list-news.ts';

/** The list as far as it was read, with the changes that a reread would show. */
export function useShipmentList(query: ListQuery) {
  const [environment, queries] = [useEnvironment(), useQueryClient()];
  const list = useInfiniteQuery(shipmentsQuery(environment, query));
  const { data: changes } = useQuery(shipmentUpdatesQuery(environment));
  const { hasNextPage: more, isFetching, isFetchNextPageError, fetchNextPage, isPlaceholderData: isOld } = list;
  const rows = useMemo(() => rowsOf(list.data), [list.data]);
  const readAt = readAtOf(list.data);
  const news = useMemo(() => listNews({ rows, more, readAt, query }, changes), [rows, more, readAt, query, changes]);
  // The list was read before the page was opened.
  const [found] = useState(readAt);

  const next = useCallback(() => {
    if (!isFetching && !isFetchNextPageError) void fetchNextPage();
  }, [isFetching, isFetchNextPageError, fetchNextPage]);
  const reread = useCallback(() => void reloadLists(queries, environment), [queries, environment]);
  const isRead = list.isSuccess && !isOld && rows.length === 0;
  const isEmpty = isRead && !more;
  // An empty list may be read again by itself, since no row moves. The first steps of an empty workspace stay until the user
  // leaves.
  const [isSearch, isBack] = [Object.keys(query).length > 0, readAt === found];
  useWhile(isEmpty && (isSearch || isBack) && news.fresh > 0, reread);
  // A page may be empty although others follow.
  const isGap = isRead && more;
  useWhile(isGap, next);
  return {
    rows,
    more,
    /** Rows of the previous search, until this one is answered. */
    isOld,
    news,
    readAt,
    /** The user returns to rows that were read before. */
    isBack,
    error: list.error,
    isPending: list.isPending || isGap,
    isReading: list.isRefetching,
    isEmpty,
    /** Reads the next page, once at a time. */
    next,
    /** Retries the next page after a failure. */
    nextAgain: isFetchNextPageError ? () => void fetchNextPage() : undefined,
    again: () => void list.refetch(),
    readAnew: reread,
  };
}

/** Calls `act` when the condition becomes true, and again when `act` changes. */
function useWhile(isSo: boolean, act: () => void): void {
  useEffect(() => {
    if (isSo) act();
  }, [isSo, act]);
}

export type ShipmentList = ReturnType<typeof useShipmentList>;

const PAGE = 100;

interface ShipmentsPage {
  readonly data: Shipment[];
  readonly next_cursor: string | null;
  /** When the page was read. */
  readonly readAt: number;
}

/** A list of shipments in pages. Never read again by itself, since rows would move under the pointer. */
function shipmentsQuery(environment: Environment, query: ListQuery) {
  return infiniteQueryOptions({
    queryKey: ['shipments', environment, query],
    queryFn: async ({ pageParam, signal }): Promise<ShipmentsPage> => {
      const readAt = Date.now();
      const list = api(environment).shipments.list({ ...query, limit: PAGE }, { signal });
      return { ...(await list.page(pageParam)), readAt };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    // The rows of the previous search stay in view while the next one loads.
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}

/** When the first page was read, in milliseconds; `Infinity` before that. */
function readAtOf(list: InfiniteData<ShipmentsPage> | undefined): number {
  return list?.pages[0]?.readAt ?? Infinity;
}

/** The rows without duplicates: a shipment that changed meanwhile may be on two pages. */
function rowsOf(list: InfiniteData<ShipmentsPage> | undefined): readonly Shipment[] {
  const rows = new Map<string, Shipment>();
  for (const { data } of list?.pages ?? []) {
    for (const shipment of data) if (!rows.has(shipment.id)) rows.set(shipment.id, shipment);
  }
  return [...rows.values()];
}

import {
  type InfiniteData,
  type QueryClient,
  infiniteQueryOptions,
  queryOptions,
  useQueryClient,
} from '@tanstack/react-query';
import type { ShipmentException } from '@tracking/client';
import { useEffect, useState } from 'react';
import { useApiWrite } from '../../app/write.ts';
import { useLiveStreamStatus, useLiveEventListener } from '../../live/live-events.tsx';
import { type Environment, getApiClient } from '../../session/api.ts';
import { useApi, useEnvironment } from '../../session/session.ts';
import type { MANUAL_RESOLUTIONS } from '../exception-labels.ts';
import {
  type ExceptionQueueUrlParameters,
  UNRESOLVED_EXCEPTION_STATUSES,
  matchesExceptionQueueFilters,
  compareByDueDate,
  buildExceptionFilter,
  isListPossiblyIncomplete,
  calculateOpeningTimeRange,
} from './queue-search.ts';

const PAGE_SIZE = 100;
/** Maximum number of exceptions that the browser sorts by due date. The API cannot sort by due date. */
export const MAX_EXCEPTIONS_SORTED_BY_DUE_DATE = 1_000;
/** Maximum number of exceptions counted for the badge of a view. */
const MAX_COUNTED_EXCEPTIONS = 100;

type OpenedRange = ReturnType<typeof calculateOpeningTimeRange>;
interface QueuePageCursor {
  readonly cursor: string | undefined;
  /** Range of opening times that the first page used. The cursors of later pages are valid only for the same range. */
  readonly opened: OpenedRange | undefined;
}
interface ExceptionQueuePageData {
  readonly data: readonly ShipmentException[];
  readonly next: QueuePageCursor | undefined;
}

/**
 * Query options that disable automatic refetches, because a refetch would move rows. Events update the exceptions in
 * place. The list is read again when the page is opened.
 */
const NO_REFETCH_OPTIONS = {
  staleTime: Infinity,
  gcTime: 0,
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
} as const;

/** Query of the exceptions queue, page by page. */
export function exceptionQueueQuery(
  environment: Environment,
  { at: _at, ...search }: ExceptionQueueUrlParameters,
  me: string,
) {
  return infiniteQueryOptions({
    ...NO_REFETCH_OPTIONS,
    queryKey: ['exception-queue', environment, search, me],
    queryFn: async ({ pageParam, signal }): Promise<ExceptionQueuePageData> => {
      const opened = pageParam.opened ?? calculateOpeningTimeRange(search.age, Date.now());
      const query = buildExceptionListQuery(search, me, opened);
      if (search.sort === 'due') return readExceptionsByDueDate(environment, query, signal);
      const { data, next_cursor } = await getApiClient(environment)
        .exceptions.list(query, { signal })
        .page(pageParam.cursor);
      return { data, next: next_cursor === null ? undefined : { cursor: next_cursor, opened } };
    },
    initialPageParam: { cursor: undefined, opened: undefined } as QueuePageCursor,
    getNextPageParam: ({ next }) => next,
  });
}

/**
 * Merges all loaded pages into one list without duplicates. An exception appears on two pages if its severity changed
 * between the two reads.
 */
export function listExceptionsOfLoadedPages(
  list: InfiniteData<ExceptionQueuePageData> | undefined,
): readonly ShipmentException[] {
  const all = list?.pages.flatMap(({ data }) => data) ?? [];
  return [...new Map(all.map((exception) => [exception.id, exception])).values()];
}

function buildExceptionListQuery(search: ExceptionQueueUrlParameters, me: string, opened: OpenedRange) {
  const { status, type, severity, ...filter } = buildExceptionFilter(search, me);
  const { sort = '-severity' } = search;
  return {
    ...filter,
    ...opened,
    status: [...status],
    ...(type !== undefined && { type: [...type] }),
    ...(severity !== undefined && { severity: [...severity] }),
    sort: sort === 'due' ? ('-severity' as const) : sort,
    limit: sort === 'due' ? 200 : PAGE_SIZE,
  };
}

async function readExceptionsByDueDate(
  environment: Environment,
  query: ReturnType<typeof buildExceptionListQuery>,
  signal: AbortSignal,
): Promise<ExceptionQueuePageData> {
  const found = new Map<string, ShipmentException>();
  for await (const { data } of getApiClient(environment).exceptions.list(query, { signal }).pages()) {
    for (const exception of data) found.set(exception.id, exception);
    if (found.size >= MAX_EXCEPTIONS_SORTED_BY_DUE_DATE) break;
  }
  return { data: [...found.values()].sort(compareByDueDate), next: undefined };
}

/**
 * Query of the number of open exceptions in a view. The API has no count, so one page of up to `MAX_COUNTED_EXCEPTIONS`
 * is read.
 */
export function exceptionCountQuery(environment: Environment, view: 'all' | 'mine' | 'unassigned', me: string) {
  return queryOptions({
    queryKey: ['exception-count', environment, view, me],
    queryFn: async ({ signal }) => {
      const filter = buildExceptionFilter(view === 'all' ? {} : { view }, me);
      const query = {
        ...filter,
        status: [...UNRESOLVED_EXCEPTION_STATUSES],
        type: undefined,
        severity: undefined,
        limit: MAX_COUNTED_EXCEPTIONS,
      };
      const { data, has_more } = await getApiClient(environment).exceptions.list(query, { signal }).page();
      return has_more ? `${data.length}+` : String(data.length);
    },
    staleTime: 30_000,
  });
}

export function exceptionQuery(environment: Environment, id: string) {
  return queryOptions({
    queryKey: ['exception', environment, id],
    queryFn: ({ signal }) => getApiClient(environment).exceptions.get(id, { signal }),
  });
}

/** Updates exceptions in all cached queries. It never adds, removes or moves an exception. */
function updateCachedExceptions(
  queries: QueryClient,
  environment: Environment,
  latest: readonly ShipmentException[],
): void {
  const byId = new Map(latest.map((exception) => [exception.id, exception]));
  // An exception never reopens. If the cached exception is resolved, an update with status open is outdated.
  const now = (known: ShipmentException) => (known.status === 'resolved' ? known : (byId.get(known.id) ?? known));
  for (const { id } of latest)
    queries.setQueryData(exceptionQuery(environment, id).queryKey, (known) => known && now(known));
  queries.setQueriesData<InfiniteData<ExceptionQueuePageData>>(
    { queryKey: ['exception-queue', environment] },
    (list) => {
      if (!list?.pages.some(({ data }) => data.some(({ id }) => byId.has(id)))) return list;
      const pages = list.pages.map((page) => ({ ...page, data: page.data.map(now) }));
      return { ...list, pages };
    },
  );
}

/** Milliseconds between updates of the exceptions list while events arrive. */
const EVENT_DISPLAY_INTERVAL_MS = 200;
const EXCEPTION_RECOUNT_INTERVAL_MS = 5_000;

interface PendingExceptionListChanges {
  /** Number of new exceptions that match the filters of the list. */
  readonly arrived: number;
  /** True if the list may lack exceptions, because events were lost. */
  readonly missed: boolean;
  readonly forget: () => void;
}

interface LoadedExceptionIds {
  /** Ids of the exceptions that the list contains. */
  readonly shown: ReadonlySet<string>;
  readonly pages: number;
}

/** Follows the event stream. Updates listed exceptions in place, and counts new exceptions that match the filters. */
export function useLiveExceptionQueueWithNewCount(
  search: ExceptionQueueUrlParameters,
  me: string,
  { shown, pages }: LoadedExceptionIds,
): PendingExceptionListChanges {
  const [environment, queries, { isConnected, gaps }] = [useEnvironment(), useQueryClient(), useLiveStreamStatus()];
  const [arrived, setArrived] = useState<ReadonlySet<string>>(new Set());
  const [knownGaps, setKnownGaps] = useState(gaps);

  const [gathered] = useState<{ exceptions: ShipmentException[]; show?: Timer; count?: Timer }>({ exceptions: [] });
  const show = () => {
    const latest = gathered.exceptions.splice(0);
    updateCachedExceptions(queries, environment, latest);
    const added = latest.filter(
      (one) => !shown.has(one.id) && matchesExceptionQueueFilters(one, search, me, Date.now()),
    );
    if (added.length > 0) setArrived((known) => new Set([...known, ...added.map(({ id }) => id)]));
  };
  useLiveEventListener(({ data }) => {
    if (!('exception' in data)) return;
    gathered.exceptions.push(data.exception);
    gathered.show ??= setTimeout(() => {
      delete gathered.show;
      show();
    }, EVENT_DISPLAY_INTERVAL_MS);
    gathered.count ??= setTimeout(() => {
      delete gathered.count;
      void queries.invalidateQueries({ queryKey: ['exception-count', environment] });
    }, EXCEPTION_RECOUNT_INTERVAL_MS);
  });
  useEffect(
    () => () => {
      clearTimeout(gathered.show);
      clearTimeout(gathered.count);
    },
    [gathered],
  );
  return {
    arrived: [...arrived].filter((id) => !shown.has(id)).length,
    missed: isListPossiblyIncomplete({ isConnected, gaps }, knownGaps, pages),
    forget: () => {
      setArrived(new Set());
      setKnownGaps(gaps);
    },
  };
}

type Timer = ReturnType<typeof setTimeout>;

export interface ExceptionAcknowledgementInput {
  readonly id: string;
  /** New assignee of the exception. If left out, the assignee is unchanged. Null removes the assignee. */
  readonly assignee?: string | null;
  readonly note?: string;
}
export interface ManualExceptionResolution {
  readonly id: string;
  readonly code: (typeof MANUAL_RESOLUTIONS)[number];
  readonly note?: string;
}

/** Returns the mutations that acknowledge and resolve exceptions. Each one updates the exception in place. */
export function useExceptionActions() {
  const [client, environment, queries] = [useApi(), useEnvironment(), useQueryClient()];
  const shown = <Written extends ShipmentException>(written: Written) => {
    updateCachedExceptions(queries, environment, [written]);
    return written;
  };
  const write = {
    acknowledge: async ({ id, ...words }: ExceptionAcknowledgementInput) =>
      shown(await client.exceptions.acknowledge(id, words)),
    resolve: async ({ id, ...words }: ManualExceptionResolution) => shown(await client.exceptions.resolve(id, words)),
  };
  const touches = [['exception-count', environment]];
  const acknowledge = useApiWrite({
    write: write.acknowledge,
    done: ({ assignee }) =>
      assignee === null ? 'Exception acknowledged.' : `Exception acknowledged and assigned to ${assignee}.`,
    invalidates: touches,
  });
  return {
    write,
    acknowledge,
    recount: () => queries.invalidateQueries({ queryKey: ['exception-count', environment] }),
  };
}

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
import { useStreamStatus, useLiveEventListener } from '../../live/live-events.tsx';
import { type Environment, getApiClient } from '../../session/api.ts';
import { useApi, useEnvironment } from '../../session/session.ts';
import type { MANUAL_RESOLUTIONS } from '../exception-labels.ts';
import {
  type QueueSearch,
  UNRESOLVED_STATUSES,
  matchesQueueSearch,
  compareByDueDate,
  buildExceptionFilter,
  isListPossiblyIncomplete,
  calculateOpenedRange,
} from './queue-search.ts';

const PAGE_SIZE = 100;
/** Maximum number of exceptions that are sorted by due date in the browser, since the API cannot sort by it. */
export const MAX_EXCEPTIONS_SORTED_BY_DUE_DATE = 1_000;
/** Maximum number of exceptions that are counted per view. */
const MAX_COUNTED_EXCEPTIONS = 100;

type OpenedRange = ReturnType<typeof calculateOpenedRange>;
interface QueuePageParam {
  readonly cursor: string | undefined;
  /** Opening period of the first page, which the cursor depends on. */
  readonly opened: OpenedRange | undefined;
}
interface ExceptionQueuePage {
  readonly data: readonly ShipmentException[];
  readonly next: QueuePageParam | undefined;
}

/**
 * Disables automatic refetches, since rows would move. Events update exceptions in place, and opening the page reads
 * the list again.
 */
const NO_REFETCH_OPTIONS = {
  staleTime: Infinity,
  gcTime: 0,
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
} as const;

/** Query of the exceptions queue in pages. */
export function exceptionQueueQuery(environment: Environment, { at: _at, ...search }: QueueSearch, me: string) {
  return infiniteQueryOptions({
    ...NO_REFETCH_OPTIONS,
    queryKey: ['exception-queue', environment, search, me],
    queryFn: async ({ pageParam, signal }): Promise<ExceptionQueuePage> => {
      const opened = pageParam.opened ?? calculateOpenedRange(search.age, Date.now());
      const query = buildListQuery(search, me, opened);
      if (search.sort === 'due') return readExceptionsByDueDate(environment, query, signal);
      const { data, next_cursor } = await getApiClient(environment)
        .exceptions.list(query, { signal })
        .page(pageParam.cursor);
      return { data, next: next_cursor === null ? undefined : { cursor: next_cursor, opened } };
    },
    initialPageParam: { cursor: undefined, opened: undefined } as QueuePageParam,
    getNextPageParam: ({ next }) => next,
  });
}

/** Merges all pages without duplicates. An exception whose severity changed can be on two pages. */
export function mergeExceptionPages(list: InfiniteData<ExceptionQueuePage> | undefined): readonly ShipmentException[] {
  const all = list?.pages.flatMap(({ data }) => data) ?? [];
  return [...new Map(all.map((exception) => [exception.id, exception])).values()];
}

function buildListQuery(search: QueueSearch, me: string, opened: OpenedRange) {
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
  query: ReturnType<typeof buildListQuery>,
  signal: AbortSignal,
): Promise<ExceptionQueuePage> {
  const found = new Map<string, ShipmentException>();
  for await (const { data } of getApiClient(environment).exceptions.list(query, { signal }).pages()) {
    for (const exception of data) found.set(exception.id, exception);
    if (found.size >= MAX_EXCEPTIONS_SORTED_BY_DUE_DATE) break;
  }
  return { data: [...found.values()].sort(compareByDueDate), next: undefined };
}

/** Query of the number of open exceptions in a view, up to `MAX_COUNTED_EXCEPTIONS`. The API has no count. */
export function exceptionCountQuery(environment: Environment, view: 'all' | 'mine' | 'unassigned', me: string) {
  return queryOptions({
    queryKey: ['exception-count', environment, view, me],
    queryFn: async ({ signal }) => {
      const filter = buildExceptionFilter(view === 'all' ? {} : { view }, me);
      const query = {
        ...filter,
        status: [...UNRESOLVED_STATUSES],
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

/** Updates cached exceptions in place. No exception is added, removed or moved. */
function updateCachedExceptions(
  queries: QueryClient,
  environment: Environment,
  latest: readonly ShipmentException[],
): void {
  const byId = new Map(latest.map((exception) => [exception.id, exception]));
  // Exceptions never reopen, so an open state is older than a resolved one.
  const now = (known: ShipmentException) => (known.status === 'resolved' ? known : (byId.get(known.id) ?? known));
  for (const { id } of latest)
    queries.setQueryData(exceptionQuery(environment, id).queryKey, (known) => known && now(known));
  queries.setQueriesData<InfiniteData<ExceptionQueuePage>>({ queryKey: ['exception-queue', environment] }, (list) => {
    if (!list?.pages.some(({ data }) => data.some(({ id }) => byId.has(id)))) return list;
    const pages = list.pages.map((page) => ({ ...page, data: page.data.map(now) }));
    return { ...list, pages };
  });
}

/** Milliseconds between updates of the list by events. */
const EVENT_DISPLAY_INTERVAL_MS = 200;
const RECOUNT_INTERVAL_MS = 5_000;

interface QueueUpdates {
  /** Number of new exceptions that match the list. */
  readonly arrived: number;
  /** True if the list may lack exceptions that no event reported. */
  readonly missed: boolean;
  readonly forget: () => void;
}

interface ListedExceptions {
  /** Ids of the exceptions in the list. */
  readonly shown: ReadonlySet<string>;
  readonly pages: number;
}

/** Updates listed exceptions in place, and counts new exceptions that match the list. */
export function useQueueUpdates(search: QueueSearch, me: string, { shown, pages }: ListedExceptions): QueueUpdates {
  const [environment, queries, { isConnected, gaps }] = [useEnvironment(), useQueryClient(), useStreamStatus()];
  const [arrived, setArrived] = useState<ReadonlySet<string>>(new Set());
  const [knownGaps, setKnownGaps] = useState(gaps);

  const [gathered] = useState<{ exceptions: ShipmentException[]; show?: Timer; count?: Timer }>({ exceptions: [] });
  const show = () => {
    const latest = gathered.exceptions.splice(0);
    updateCachedExceptions(queries, environment, latest);
    const added = latest.filter((one) => !shown.has(one.id) && matchesQueueSearch(one, search, me, Date.now()));
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
    }, RECOUNT_INTERVAL_MS);
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

export interface Acknowledgement {
  readonly id: string;
  /** New assignee. Unchanged if left out, removed if null. */
  readonly assignee?: string | null;
  readonly note?: string;
}
export interface Resolution {
  readonly id: string;
  readonly code: (typeof MANUAL_RESOLUTIONS)[number];
  readonly note?: string;
}

/** Actions on exceptions. Each updates the exception in place. */
export function useExceptionActions() {
  const [client, environment, queries] = [useApi(), useEnvironment(), useQueryClient()];
  const shown = <Written extends ShipmentException>(written: Written) => {
    updateCachedExceptions(queries, environment, [written]);
    return written;
  };
  const write = {
    acknowledge: async ({ id, ...words }: Acknowledgement) => shown(await client.exceptions.acknowledge(id, words)),
    resolve: async ({ id, ...words }: Resolution) => shown(await client.exceptions.resolve(id, words)),
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

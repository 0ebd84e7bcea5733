import { infiniteQueryOptions } from '@tanstack/react-query';
import { type Environment, api } from '../../session/api.ts';
import { typesOf } from './event-log.ts';
import type { EventSearch } from './event-search.ts';

/** What happened, the newest first, page by page. */
export function eventsQuery(environment: Environment, search: EventSearch) {
  return infiniteQueryOptions({
    queryKey: ['event-log', environment, search],
    queryFn: ({ pageParam, signal }) => {
      const types = typesOf(search.type);
      const query = {
        limit: 50,
        sort: '-published' as const,
        ...(types.length > 0 && { type: types }),
        ...(search.shipment_id !== undefined && { shipment_id: search.shipment_id }),
      };
      return api(environment).events.list(query, { signal }).page(pageParam);
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
}

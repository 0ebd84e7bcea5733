import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { type Environment, api } from '../../session/api.ts';
import { useEnvironment, useSession } from '../../session/session.ts';
import type { HistoryEntry } from './history-sentences.ts';

const PAGE = 50;

/** What happened to a shipment, the newest first. */
export function historyQuery(environment: Environment, id: string) {
  return infiniteQueryOptions({
    queryKey: ['history', environment, id],
    queryFn: ({ pageParam, signal }) =>
      api(environment).shipments.history(id, { limit: PAGE }, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
}

/** What happened since a version, the newest first. */
export async function historySince(environment: Environment, id: string, version: number): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  for await (const entry of api(environment).shipments.history(id, { limit: PAGE })) {
    if (entry.version <= version) break;
    entries.push(entry);
  }
  return entries;
}

/** What actors are called, as far as the history that was read tells; oneself is "you". */
export function useActorName(shipmentId: string): (actor: Pick<HistoryEntry['actor'], 'type' | 'id'>) => string {
  const { user } = useSession();
  const { data } = useInfiniteQuery(historyQuery(useEnvironment(), shipmentId));
  const entries = data?.pages.flatMap((page) => page.data) ?? [];
  const names = new Map(entries.map(({ actor }) => [actor.id, actor.name]));
  return ({ type, id }) => {
    if (id === user?.id) return 'you';
    if (type === 'system') return 'the service';
    return names.get(id) ?? (type === 'user' ? 'a person' : 'a service account');
  };
}

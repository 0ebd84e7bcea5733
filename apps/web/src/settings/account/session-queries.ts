import { queryOptions } from '@tanstack/react-query';
import { type Environment, api } from '../../session/api.ts';

/** One's own, which are of both environments. */
export const sessionsQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['sessions', environment],
    queryFn: ({ signal }) => api(environment).session.list({ limit: 200 }, { signal }).toArray(),
  });

export type OwnSession = Awaited<ReturnType<ReturnType<ReturnType<typeof api>['session']['list']>['toArray']>>[number];

import { queryOptions } from '@tanstack/react-query';
import { type Environment, api } from '../../session/api.ts';

/** Of the workspace, whichever environment one looks at. */
export const usersQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['users', environment],
    queryFn: ({ signal }) => api(environment).users.list({ limit: 200 }, { signal }).toArray(),
  });

export type Member = Awaited<ReturnType<ReturnType<typeof api>['users']['get']>>;

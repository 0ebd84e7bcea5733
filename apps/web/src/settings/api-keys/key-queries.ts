import { queryOptions } from '@tanstack/react-query';
import { type Environment, api } from '../../session/api.ts';

/** Of the workspace, whichever environment one looks at. */
export const keysQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['api-keys', environment],
    queryFn: ({ signal }) => api(environment).keys.list({ limit: 200 }, { signal }).toArray(),
  });

export const serviceAccountsQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['service-accounts', environment],
    queryFn: ({ signal }) => api(environment).serviceAccounts.list({ limit: 200 }, { signal }).toArray(),
  });

export type ServiceAccount = Awaited<ReturnType<ReturnType<typeof api>['serviceAccounts']['get']>>;

export type ApiKey = Awaited<ReturnType<ReturnType<typeof api>['keys']['get']>>;

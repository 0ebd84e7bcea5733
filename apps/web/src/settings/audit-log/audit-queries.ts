import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { type Environment, api } from '../../session/api.ts';
import { type AuditSearch, auditQueryOf } from './audit-search.ts';

const PAGE = 50;

/** Of the workspace, page by page, the newest first. */
export const auditLogQuery = (environment: Environment, search: AuditSearch) =>
  infiniteQueryOptions({
    queryKey: ['audit-log', environment, search],
    queryFn: ({ pageParam, signal }) =>
      api(environment)
        .auditLog.list({ ...auditQueryOf(search), limit: PAGE }, { signal })
        .page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });

/** Endpoints of both environments, which the one log names. */
export const endpointNamesQuery = queryOptions({
  queryKey: ['endpoint-names'],
  queryFn: async ({ signal }) => {
    const ofBoth = await Promise.all(
      (['live', 'test'] as const).map((each) => api(each).webhookEndpoints.list({ limit: 200 }, { signal }).toArray()),
    );
    return new Map(ofBoth.flat().map(({ id, url }) => [id, url]));
  },
});

export type AuditEntry = Awaited<ReturnType<ReturnType<ReturnType<typeof api>['auditLog']['list']>['toArray']>>[number];

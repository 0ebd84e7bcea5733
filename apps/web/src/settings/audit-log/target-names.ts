import { useQuery } from '@tanstack/react-query';
import { useEnvironment } from '../../session/session.ts';
import { keysQuery, serviceAccountsQuery } from '../api-keys/key-queries.ts';
import { usersQuery } from '../team/team-queries.ts';
import { calledOf } from '../team/members.ts';
import { endpointNamesQuery } from './audit-queries.ts';
import type { NameOf } from './audit-sentence.ts';

/** What everything that the log is about is called now. Without it entries are readable too, by ids. */
export function useTargetNames(): NameOf {
  const environment = useEnvironment();
  const users = useQuery(usersQuery(environment));
  const accounts = useQuery(serviceAccountsQuery(environment));
  const keys = useQuery(keysQuery(environment));
  const endpoints = useQuery(endpointNamesQuery);
  const names = new Map([
    ...(users.data ?? []).map((user) => [user.id, calledOf(user)] as const),
    ...[...(accounts.data ?? []), ...(keys.data ?? [])].map(({ id, name }) => [id, name] as const),
    ...(endpoints.data ?? []),
  ]);
  return (id) => names.get(id);
}

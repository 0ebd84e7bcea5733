import { useQuery } from '@tanstack/react-query';
import { useEnvironment, useMay, useSession } from '../../session/session.ts';
import { usersQuery } from '../team/team-queries.ts';
import { calledOf } from '../team/members.ts';
import { type ApiKey, serviceAccountsQuery } from './key-queries.ts';

/** What owners of keys are called, as far as whoever looks may know it. */
export function useOwnerNames(): (owner: ApiKey['owner']) => string {
  const [environment, { user }] = [useEnvironment(), useSession()];
  const accounts = useQuery({ ...serviceAccountsQuery(environment), enabled: useMay('keys:manage') });
  const users = useQuery({ ...usersQuery(environment), enabled: useMay('workspace:admin') });
  return ({ type, id }) => {
    if (id === user?.id) return 'Myself';
    if (type === 'service_account') return accounts.data?.find((each) => each.id === id)?.name ?? 'A service account';
    const found = users.data?.find((each) => each.id === id);
    return found === undefined ? 'A person' : calledOf(found);
  };
}

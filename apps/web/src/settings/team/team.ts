import { queryOptions } from '@tanstack/react-query';
import { type Environment, getApiClient } from '../../session/api.ts';

/** Query of the users of the workspace. Both environments have the same users. */
export const usersQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['users', environment],
    queryFn: ({ signal }) => getApiClient(environment).users.list({ limit: 200 }, { signal }).toArray(),
  });

export type Member = Awaited<ReturnType<ReturnType<typeof getApiClient>['users']['get']>>;

export interface TeamUrlParameters {
  /** Search text: part of a name or of an e-mail address. */
  readonly q?: string | undefined;
  /** True if the list includes removed members. */
  readonly removed?: boolean | undefined;
}

export function readTeamUrlParameters({ q, removed }: Record<string, unknown>): TeamUrlParameters {
  const text = typeof q === 'number' ? String(q) : q;
  return {
    ...(typeof text === 'string' && text !== '' && { q: text }),
    ...(removed === true && { removed }),
  };
}

export const MEMBER_STATUS_LABELS: Readonly<Record<Member['status'], string>> = {
  active: 'Active',
  invited: 'Invited',
  deactivated: 'Removed',
};

/** Returns the members that match the search text, sorted by name. */
export function findTeamMembers(
  members: readonly Member[],
  { q = '', removed = false }: TeamUrlParameters,
): readonly Member[] {
  const part = q.trim().toLowerCase();
  return members
    .filter(({ status }) => removed || status !== 'deactivated')
    .filter(({ name, email }) => `${name ?? ''} ${email}`.toLowerCase().includes(part))
    .toSorted((one, other) => getTeamMemberName(one).localeCompare(getTeamMemberName(other)));
}

/** Returns the name of a member. A member who has not joined has no name, so the e-mail address is returned. */
export function getTeamMemberName({ name, email }: Pick<Member, 'name' | 'email'>): string {
  return name ?? email;
}

import { queryOptions } from '@tanstack/react-query';
import { type Environment, api } from '../../session/api.ts';

/** Of the workspace, whichever environment one looks at. */
export const usersQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['users', environment],
    queryFn: ({ signal }) => api(environment).users.list({ limit: 200 }, { signal }).toArray(),
  });

export type Member = Awaited<ReturnType<ReturnType<typeof api>['users']['get']>>;

export interface TeamSearch {
  /** Part of a name or e-mail. */
  readonly q?: string | undefined;
  /** Those who were removed too. */
  readonly removed?: boolean | undefined;
}

export function readTeamSearch({ q, removed }: Record<string, unknown>): TeamSearch {
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

/** Those that a search is about, by their names. */
export function membersFound(members: readonly Member[], { q = '', removed = false }: TeamSearch): readonly Member[] {
  const part = q.trim().toLowerCase();
  return members
    .filter(({ status }) => removed || status !== 'deactivated')
    .filter(({ name, email }) => `${name ?? ''} ${email}`.toLowerCase().includes(part))
    .toSorted((one, other) => calledOf(one).localeCompare(calledOf(other)));
}

/** Who has not come yet has no name. */
export function calledOf({ name, email }: Pick<Member, 'name' | 'email'>): string {
  return name ?? email;
}

import type { Member } from './team-queries.ts';
import type { TeamSearch } from './team-search.ts';

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

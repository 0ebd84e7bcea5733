import { useQuery } from '@tanstack/react-query';
import type { WorkspaceSettings } from '@tracking/client';
import { useEnvironment, useSession } from '../../session/session.ts';
import { calledOf } from '../team/members.ts';
import { usersQuery } from '../team/team-queries.ts';

/** Who changed the settings last. */
export function useChangedBy({ updated_by }: Pick<WorkspaceSettings, 'updated_by'>): string {
  const { user } = useSession();
  const users = useQuery(usersQuery(useEnvironment()));
  if (updated_by?.id === user?.id) return 'you';
  const found = users.data?.find(({ id }) => id === updated_by?.id);
  if (found !== undefined) return calledOf(found);
  return updated_by?.type === 'user' ? 'somebody' : 'a system';
}

import { queryOptions } from '@tanstack/react-query';
import type { WorkspaceSettings } from '@tracking/client';
import { type Environment, api } from '../../session/api.ts';

const FOLLOW_MS = 2_000;

/** Of live and test alike. While shipments are checked by what changed, it is asked again how far that is. */
export const settingsQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['settings', environment],
    queryFn: ({ signal }) => api(environment).settings.get({ signal }),
    refetchInterval: ({ state }) => (isChecking(state.data?.recheck) ? FOLLOW_MS : false),
  });

export function isChecking(recheck: WorkspaceSettings['recheck'] | undefined): boolean {
  return recheck != null && recheck.state !== 'done';
}

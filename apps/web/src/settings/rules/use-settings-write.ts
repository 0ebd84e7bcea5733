import { useQueryClient } from '@tanstack/react-query';
import type { WorkspaceSettings } from '@tracking/client';
import { useState } from 'react';
import { isOutdated } from '../../app/failures.ts';
import { useWrite } from '../../app/write.ts';
import { useApi, useEnvironment } from '../../session/session.ts';
import { settingsQuery } from './settings-queries.ts';

export type SettingsPatch = Parameters<ReturnType<typeof useApi>['settings']['patch']>[0];

/**
 * Changes settings as they were when the form was opened: where somebody changed them since, nothing is written, and `meanwhile`
 * is what holds now.
 */
export function useSettingsWrite(
  known: WorkspaceSettings,
  done: string,
  onDone: (settings: WorkspaceSettings) => void,
) {
  const [client, queries, query] = [useApi(), useQueryClient(), settingsQuery(useEnvironment())];
  const [meanwhile, setMeanwhile] = useState<WorkspaceSettings>();
  const write = useWrite({
    write: async ({ patch, version }: { readonly patch: SettingsPatch; readonly version: number }) => {
      try {
        return await client.settings.patch(patch, { ifMatch: `"${version}"` });
      } catch (refused) {
        if (isOutdated(refused)) setMeanwhile(await queries.fetchQuery({ ...query, staleTime: 0 }));
        throw refused;
      }
    },
    done,
    touches: [['settings'], ['required-documents']],
    onDone: (settings) => onDone(settings),
    shows: () => true,
  });
  return {
    meanwhile,
    /** Why nothing was written, where it is not that somebody else was faster. */
    error: isOutdated(write.error) ? null : write.error,
    isPending: write.isPending,
    forgetError: write.reset,
    /** @param over what is written: what the form knew, or what holds now */
    save: (patch: SettingsPatch, over = known) => write.mutate({ patch, version: over.version }),
  };
}

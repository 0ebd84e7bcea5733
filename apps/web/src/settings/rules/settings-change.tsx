import { Alert, Button, Group, Loader, Stack, Table, Text } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import type { WorkspaceSettings } from '@tracking/client';
import { useState } from 'react';
import { describeFailure, isOutdatedVersionError } from '../../app/failures.ts';
import { useApiWrite } from '../../app/write.ts';
import { type Environment, getApiClient } from '../../session/api.ts';
import { useApi, useEnvironment, useSession } from '../../session/session.ts';
import { UserLocalTimeText } from '../../values/time.tsx';
import { getTeamMemberName, usersQuery } from '../team/team.ts';

const RECHECK_POLL_INTERVAL_MS = 2_000;

/**
 * Query of the workspace settings, which both environments share. After a change of the settings, the query polls while
 * the service checks open shipments.
 */
export const settingsQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['settings', environment],
    queryFn: ({ signal }) => getApiClient(environment).settings.get({ signal }),
    refetchInterval: ({ state }) =>
      isShipmentRecheckUnfinished(state.data?.recheck) ? RECHECK_POLL_INTERVAL_MS : false,
  });

function isShipmentRecheckUnfinished(recheck: WorkspaceSettings['recheck'] | undefined): boolean {
  return recheck != null && recheck.state !== 'done';
}

type SettingsPatch = Parameters<ReturnType<typeof useApi>['settings']['patch']>[0];

/**
 * Returns a function that saves the workspace settings. If another user has changed the settings since the form was
 * opened, nothing is saved, and `concurrentSettings` holds the current settings.
 */
export function useSettingsWrite(
  known: WorkspaceSettings,
  done: string,
  onDone: (settings: WorkspaceSettings) => void,
) {
  const [client, queries, query] = [useApi(), useQueryClient(), settingsQuery(useEnvironment())];
  const [concurrentSettings, setConcurrentSettings] = useState<WorkspaceSettings>();
  const write = useApiWrite({
    write: async ({ patch, version }: { readonly patch: SettingsPatch; readonly version: number }) => {
      try {
        return await client.settings.patch(patch, { ifMatch: `"${version}"` });
      } catch (refused) {
        if (isOutdatedVersionError(refused))
          setConcurrentSettings(await queries.fetchQuery({ ...query, staleTime: 0 }));
        throw refused;
      }
    },
    done,
    invalidates: [['settings'], ['required-documents']],
    onDone: (settings) => onDone(settings),
    showsError: () => true,
  });
  return {
    concurrentSettings,
    /** Error of the last save. A conflict with another user is not an error. */
    error: isOutdatedVersionError(write.error) ? null : write.error,
    isPending: write.isPending,
    forgetError: write.reset,
    /**
     * Saves the settings. @param over settings whose version is replaced: those that the form is based on, or the
     * current ones
     */
    save: (patch: SettingsPatch, over = known) => write.mutate({ patch, version: over.version }),
  };
}

interface ConflictingSettingValues {
  readonly name: string;
  readonly theirs: string;
  readonly mine: string;
}
interface SettingsConflictPanelProps {
  readonly concurrentSettings: WorkspaceSettings;
  /** Header of the first column, such as "Mode". */
  readonly of: string;
  readonly differences: readonly ConflictingSettingValues[];
  /** Text for the case that other users changed none of the settings in the form. */
  readonly unrelatedNote: string;
  readonly isPending: boolean;
  /** Error of saving the values that the user chose. */
  readonly error: Error | null;
  readonly onKeepMine: () => void;
  readonly onKeepTheirs: () => void;
}

/**
 * Shows the settings that another user changed while the form was open. The user decides which values to keep. Until
 * then, nothing is saved.
 */
export function SettingsConflictPanel({
  concurrentSettings,
  of,
  differences,
  unrelatedNote,
  isPending,
  error,
  onKeepMine,
  onKeepTheirs,
}: SettingsConflictPanelProps) {
  const by = useLastEditorName(concurrentSettings);
  return (
    <Stack>
      <Alert color="orange" role="alert" title="The settings have changed">
        <Text size="sm">
          {`${by} changed the settings while you were editing. Your changes are not saved yet. Time of the change: `}
          <UserLocalTimeText value={concurrentSettings.updated_at} />
        </Text>
      </Alert>
      {differences.length === 0 ? (
        <Text size="sm">{unrelatedNote}</Text>
      ) : (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{of}</Table.Th>
              <Table.Th>Current value</Table.Th>
              <Table.Th>Your value</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {differences.map(({ name, theirs, mine }) => (
              <Table.Tr key={name}>
                <Table.Td>{name}</Table.Td>
                <Table.Td>{theirs}</Table.Td>
                <Table.Td>{mine}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <SaveErrorAlert error={error} />
      <Group justify="end">
        <Button variant="default" onClick={onKeepTheirs}>
          Keep current values
        </Button>
        <Button onClick={onKeepMine} loading={isPending}>
          Save my values
        </Button>
      </Group>
    </Stack>
  );
}

/** Shows why the settings were not saved. Renders nothing if there is no error. */
export function SaveErrorAlert({ error }: { readonly error: Error | null }) {
  if (error === null) return null;
  return (
    <Alert color="red" role="alert" title="Not saved">
      {describeFailure(error).message}
    </Alert>
  );
}

/**
 * Shows who changed the settings last and when. While the service checks open shipments against the settings, it also
 * shows the progress.
 */
export function LastSettingsChangeNote({ settings }: { readonly settings: WorkspaceSettings }) {
  const by = useLastEditorName(settings);
  const { updated_at, recheck } = settings;
  if (updated_at === null)
    return (
      <Text size="sm" c="dimmed">
        The default settings are in use.
      </Text>
    );
  return (
    <Group gap="xs" role="status">
      <Text size="sm" c="dimmed" component="span">
        {`Last changed by ${by}: `}
        <UserLocalTimeText value={updated_at} />
      </Text>
      {recheck !== null && recheck.state !== 'done' && (
        <>
          <Loader size="xs" aria-hidden role="presentation" />
          <Text size="sm">
            {recheck.state === 'pending'
              ? 'Open shipments will be checked against the new settings shortly.'
              : `Checking open shipments against the new settings: ${recheck.checked.toLocaleString()} so far.`}
          </Text>
        </>
      )}
      {recheck?.state === 'done' && (
        <Text size="sm" c="dimmed">
          {`${recheck.checked.toLocaleString()} open shipments were checked against the new settings.`}
        </Text>
      )}
    </Group>
  );
}

/** Returns the name of the user who last changed the settings. */
function useLastEditorName({ updated_by }: Pick<WorkspaceSettings, 'updated_by'>): string {
  const { user } = useSession();
  const users = useQuery(usersQuery(useEnvironment()));
  if (updated_by?.id === user?.id) return 'you';
  const found = users.data?.find(({ id }) => id === updated_by?.id);
  if (found !== undefined) return getTeamMemberName(found);
  return updated_by?.type === 'user' ? 'another user' : 'a system';
}

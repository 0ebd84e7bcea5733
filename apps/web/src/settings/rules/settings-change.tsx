import { Alert, Button, Group, Loader, Stack, Table, Text } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import type { WorkspaceSettings } from '@tracking/client';
import { useState } from 'react';
import { describeFailure, isOutdatedVersionError } from '../../app/failures.ts';
import { useApiWrite } from '../../app/write.ts';
import { type Environment, getApiClient } from '../../session/api.ts';
import { useApi, useEnvironment, useSession } from '../../session/session.ts';
import { LocalTime } from '../../values/time.tsx';
import { getMemberName, usersQuery } from '../team/team.ts';

const RECHECK_POLL_MS = 2_000;

/**
 * Query of the workspace settings, which both environments share. Polls while open shipments are checked against a
 * change.
 */
export const settingsQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['settings', environment],
    queryFn: ({ signal }) => getApiClient(environment).settings.get({ signal }),
    refetchInterval: ({ state }) => (isRecheckRunning(state.data?.recheck) ? RECHECK_POLL_MS : false),
  });

function isRecheckRunning(recheck: WorkspaceSettings['recheck'] | undefined): boolean {
  return recheck != null && recheck.state !== 'done';
}

type SettingsPatch = Parameters<ReturnType<typeof useApi>['settings']['patch']>[0];

/**
 * Writes settings unless another user changed them since the form was opened. Then nothing is written, and `concurrentSettings` holds the
 * current settings.
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
    /** The failure, unless it is a conflict. */
    error: isOutdatedVersionError(write.error) ? null : write.error,
    isPending: write.isPending,
    forgetError: write.reset,
    /** @param over the version to replace: the one in the form or the current one */
    save: (patch: SettingsPatch, over = known) => write.mutate({ patch, version: over.version }),
  };
}

interface SettingDifference {
  readonly name: string;
  readonly theirs: string;
  readonly mine: string;
}
interface SettingsConflictProps {
  readonly concurrentSettings: WorkspaceSettings;
  /** Header of the first column, such as "Mode". */
  readonly of: string;
  readonly differences: readonly SettingDifference[];
  /** Text shown if other users changed only other settings. */
  readonly unrelatedNote: string;
  readonly isPending: boolean;
  /** The failure to write the user's choice. */
  readonly error: Error | null;
  readonly onKeepMine: () => void;
  readonly onKeepTheirs: () => void;
}

/** Lets the user resolve a conflict: another user changed the settings while the form was open. Nothing is written yet. */
export function SettingsConflict({
  concurrentSettings,
  of,
  differences,
  unrelatedNote,
  isPending,
  error,
  onKeepMine,
  onKeepTheirs,
}: SettingsConflictProps) {
  const by = useLastEditor(concurrentSettings);
  return (
    <Stack>
      <Alert color="orange" role="alert" title="The settings have changed">
        <Text size="sm">
          Changed by {by}, <LocalTime value={concurrentSettings.updated_at} />. Your changes are not saved yet.
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

/** Shows why the settings were not saved. Renders nothing without an error. */
export function SaveErrorAlert({ error }: { readonly error: Error | null }) {
  if (error === null) return null;
  return (
    <Alert color="red" role="alert" title="Not saved">
      {describeFailure(error).message}
    </Alert>
  );
}

/** Shows the time and author of the last change, and the progress of checking open shipments. */
export function LastSettingsChange({ settings }: { readonly settings: WorkspaceSettings }) {
  const by = useLastEditor(settings);
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
        Changed <LocalTime value={updated_at} /> by {by}.
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
          {recheck.checked.toLocaleString()} open shipments were checked against the new settings.
        </Text>
      )}
    </Group>
  );
}

/** Returns the name of the user who changed the settings last. */
function useLastEditor({ updated_by }: Pick<WorkspaceSettings, 'updated_by'>): string {
  const { user } = useSession();
  const users = useQuery(usersQuery(useEnvironment()));
  if (updated_by?.id === user?.id) return 'you';
  const found = users.data?.find(({ id }) => id === updated_by?.id);
  if (found !== undefined) return getMemberName(found);
  return updated_by?.type === 'user' ? 'another user' : 'a system';
}

import { Alert, Button, Group, Stack, Table, Text, Loader } from '@mantine/core';
import { queryOptions, useQueryClient, useQuery } from '@tanstack/react-query';
import type { WorkspaceSettings } from '@tracking/client';
import { useState } from 'react';
import { isOutdated, failureOf } from '../../app/failures.ts';
import { useWrite } from '../../app/write.ts';
import { type Environment, api } from '../../session/api.ts';
import { useApi, useEnvironment, useSession } from '../../session/session.ts';
import { Time } from '../../values/time.tsx';
import { calledOf, usersQuery } from '../team/team.ts';

const FOLLOW_MS = 2_000;

/** Of live and test alike. While shipments are checked by what changed, it is asked again how far that is. */
export const settingsQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['settings', environment],
    queryFn: ({ signal }) => api(environment).settings.get({ signal }),
    refetchInterval: ({ state }) => (isChecking(state.data?.recheck) ? FOLLOW_MS : false),
  });

function isChecking(recheck: WorkspaceSettings['recheck'] | undefined): boolean {
  return recheck != null && recheck.state !== 'done';
}

type SettingsPatch = Parameters<ReturnType<typeof useApi>['settings']['patch']>[0];

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

interface Differing {
  readonly name: string;
  readonly theirs: string;
  readonly mine: string;
}
interface Props {
  readonly meanwhile: WorkspaceSettings;
  /** What the rows are of: "Mode". */
  readonly of: string;
  readonly differing: readonly Differing[];
  /** Said where what the form is about was not changed. */
  readonly elsewhere: string;
  readonly isPending: boolean;
  /** Why neither was written yet. */
  readonly error: Error | null;
  readonly onMine: () => void;
  readonly onTheirs: () => void;
}

/** Somebody changed the settings while the form was open: nothing was written. */
export function SettingsConflict({ meanwhile, of, differing, elsewhere, isPending, error, onMine, onTheirs }: Props) {
  const by = useChangedBy(meanwhile);
  return (
    <Stack>
      <Alert color="orange" role="alert" title="The settings were changed meanwhile">
        <Text size="sm">
          By {by}, <Time value={meanwhile.updated_at} />. Nothing of yours is written yet.
        </Text>
      </Alert>
      {differing.length === 0 ? (
        <Text size="sm">{elsewhere}</Text>
      ) : (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{of}</Table.Th>
              <Table.Th>Theirs</Table.Th>
              <Table.Th>Yours</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {differing.map(({ name, theirs, mine }) => (
              <Table.Tr key={name}>
                <Table.Td>{name}</Table.Td>
                <Table.Td>{theirs}</Table.Td>
                <Table.Td>{mine}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <NotChanged error={error} />
      <Group justify="end">
        <Button variant="default" onClick={onTheirs}>
          Keep theirs
        </Button>
        <Button onClick={onMine} loading={isPending}>
          Keep mine
        </Button>
      </Group>
    </Stack>
  );
}

/** Why settings stay as they were; nothing where there is no error. */
export function NotChanged({ error }: { readonly error: Error | null }) {
  if (error === null) return null;
  return (
    <Alert color="red" role="alert" title="Not changed">
      {failureOf(error).message}
    </Alert>
  );
}

/** When settings changed, by whom, and how far the open shipments are checked by them. */
export function LastChange({ settings }: { readonly settings: WorkspaceSettings }) {
  const by = useChangedBy(settings);
  const { updated_at, recheck } = settings;
  if (updated_at === null)
    return (
      <Text size="sm" c="dimmed">
        Nothing was changed yet: the defaults hold.
      </Text>
    );
  return (
    <Group gap="xs" role="status">
      <Text size="sm" c="dimmed" component="span">
        Changed <Time value={updated_at} /> by {by}.
      </Text>
      {recheck !== null && recheck.state !== 'done' && (
        <>
          <Loader size="xs" aria-hidden role="presentation" />
          <Text size="sm">
            {recheck.state === 'pending'
              ? 'Open shipments are checked by it in a moment.'
              : `Open shipments are being checked by it: ${recheck.checked.toLocaleString()} so far.`}
          </Text>
        </>
      )}
      {recheck?.state === 'done' && (
        <Text size="sm" c="dimmed">
          {recheck.checked.toLocaleString()} open shipments were checked by it.
        </Text>
      )}
    </Group>
  );
}

/** Who changed the settings last. */
function useChangedBy({ updated_by }: Pick<WorkspaceSettings, 'updated_by'>): string {
  const { user } = useSession();
  const users = useQuery(usersQuery(useEnvironment()));
  if (updated_by?.id === user?.id) return 'you';
  const found = users.data?.find(({ id }) => id === updated_by?.id);
  if (found !== undefined) return calledOf(found);
  return updated_by?.type === 'user' ? 'somebody' : 'a system';
}

import { Alert, Button, Group, Stack, Table, Text } from '@mantine/core';
import type { WorkspaceSettings } from '@tracking/client';
import { Time } from '../../values/time.tsx';
import { useChangedBy } from './changed-by.ts';
import { NotChanged } from './not-changed.tsx';

export interface Differing {
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

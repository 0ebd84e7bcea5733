import { Alert, Button, Group, Stack, Table } from '@mantine/core';
import type { ReactNode } from 'react';

export interface ChangedField {
  readonly label: string;
  readonly before: ReactNode;
  readonly now: ReactNode;
  /** Undefined where one says nothing of it. */
  readonly yours: ReactNode;
}

interface Props {
  /** "The container" */
  readonly what: string;
  /** Undefined where that is not known. */
  readonly who: string | null | undefined;
  readonly fields: readonly ChangedField[];
  readonly isPending: boolean;
  readonly onKeepMine: () => void;
  readonly onTakeTheirs: () => void;
}

/** Somebody else changed what one is changing: what, who, and whose word is to hold. Nothing is written yet. */
export function ChangedFields({ what, who, fields, isPending, onKeepMine, onTakeTheirs }: Props) {
  return (
    <Stack>
      <Alert color="yellow" role="alert" title={`${what} was changed meanwhile`}>
        {who ?? 'Somebody else'} changed it while you did. Nothing of yours is written yet.
      </Alert>
      <Table.ScrollContainer minWidth={460}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Field</Table.Th>
              <Table.Th>Before</Table.Th>
              <Table.Th>Now</Table.Th>
              <Table.Th>Yours</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {fields.map(({ label, before, now, yours }) => (
              <Table.Tr key={label}>
                <Table.Th scope="row">{label}</Table.Th>
                <Table.Td>{before}</Table.Td>
                <Table.Td>{now}</Table.Td>
                <Table.Td>{yours ?? 'as it is now'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Group justify="end">
        <Button variant="default" onClick={onTakeTheirs}>
          Take theirs
        </Button>
        <Button onClick={onKeepMine} loading={isPending}>
          Keep mine
        </Button>
      </Group>
    </Stack>
  );
}

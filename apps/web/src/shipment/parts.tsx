import { Alert, Button, Group, Paper, Stack, Table, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { PageHeader } from '../app/page.tsx';
import { useEnvironment } from '../session/session.ts';
import classes from './parts.module.css';

interface TitledCardProps {
  readonly title: string;
  readonly children: ReactNode;
}

/** A card with a title, for one part of a page. */
export function TitledCard({ title, children }: TitledCardProps) {
  return (
    <Paper withBorder p="sm" component="section" aria-label={title}>
      <Title order={2} size="xs" c="dimmed" fw={600} mb={6}>
        {title}
      </Title>
      {children}
    </Paper>
  );
}

interface FactListProps {
  readonly facts: readonly (readonly [name: string, value: ReactNode])[];
}

/** A list of labels with their values. An empty value is hidden with its label. */
export function PropertyList({ facts }: FactListProps) {
  return (
    <dl className={classes['facts']}>
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value], index) => (
          // The key contains the index, because two entries may have the same label.
          <div key={`${name} ${index}`}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function ShipmentNotFoundPage() {
  const other = useEnvironment() === 'live' ? 'test' : 'live';
  return (
    <>
      <PageHeader title="Shipment" />
      <Alert color="yellow" title="Shipment not found">
        {`The shipment may belong to another workspace or to the ${other} environment. Switch the environment at the top of the page.`}
      </Alert>
    </>
  );
}

interface FieldConflict {
  readonly label: string;
  readonly before: ReactNode;
  readonly now: ReactNode;
  /** Value of the field in the user's form. Undefined if the user has not changed the field. */
  readonly yours: ReactNode;
}

interface FieldConflictsProps {
  /** Changed resource, as the notice names it: "the container". */
  readonly what: string;
  /** Name of the other user. Undefined if the name is unknown. */
  readonly who: string | null | undefined;
  readonly fields: readonly FieldConflict[];
  readonly isPending: boolean;
  readonly onKeepMine: () => void;
  readonly onTakeTheirs: () => void;
}

/**
 * Shows the fields that another user has changed since the form was opened. Nothing is saved yet. The user then saves
 * or discards their own changes.
 */
export function FieldConflictPanel({ what, who, fields, isPending, onKeepMine, onTakeTheirs }: FieldConflictsProps) {
  return (
    <Stack>
      <Alert color="yellow" role="alert" title={`Another user changed ${what}`}>
        {`Changed by ${who ?? 'another user'} while you were editing. Your changes are not saved yet.`}
      </Alert>
      <Table.ScrollContainer minWidth={460}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Field</Table.Th>
              <Table.Th>Before</Table.Th>
              <Table.Th>Current value</Table.Th>
              <Table.Th>Your value</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {fields.map(({ label, before, now, yours }) => (
              <Table.Tr key={label}>
                <Table.Th scope="row">{label}</Table.Th>
                <Table.Td>{before}</Table.Td>
                <Table.Td>{now}</Table.Td>
                <Table.Td>{yours ?? 'unchanged'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Group justify="end">
        <Button variant="default" onClick={onTakeTheirs}>
          Discard my changes
        </Button>
        <Button onClick={onKeepMine} loading={isPending}>
          Save my changes
        </Button>
      </Group>
    </Stack>
  );
}

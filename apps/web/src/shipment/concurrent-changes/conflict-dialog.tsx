import { Button, Group, List, Modal, Stack, Table, Text } from '@mantine/core';
import { usePlaces } from '../../values/place.tsx';
import { UserLocalTimeText } from '../../values/time.tsx';
import {
  createPortZoneFinder,
  getRoutePortsOfShipment,
  listPortsOfHistoryEntries,
  listResourceDifferences,
  listRoutePorts,
} from '../history/history-ports.ts';
import { describeHistoryEntry, formatActor } from '../history/history-sentences.ts';
import { formatFieldPathAsLabel, formatStoredValue } from '../history/value-labels.ts';
import type { ConflictingResourceVersions } from './guarded-write.ts';

interface ConflictDialogProps<Thing extends object> {
  readonly conflict: ConflictingResourceVersions<Thing> | undefined;
  /** Changed resource, as the dialog names it: "the document". */
  readonly what: string;
  /** Fields of the resource that the user's decision depends on. */
  readonly fields: readonly (keyof Thing & string)[];
}

/**
 * Dialog that shows the change of another user. The user either keeps this change or applies their own change again.
 */
export function ConflictDialog<Thing extends object>({ conflict, what, fields }: ConflictDialogProps<Thing>) {
  return (
    <Modal
      opened={conflict !== undefined}
      onClose={() => conflict?.keepTheirs()}
      title={`Another user changed ${what}`}
      // A click outside the dialog is ignored, because it must not discard the user's change.
      closeOnClickOutside={false}
      size="lg"
    >
      {conflict !== undefined && (
        <Stack>
          <Text size="sm">Your change was not saved.</Text>
          <ChangesByOtherUsersList conflict={conflict} />
          <ChangedFieldsTable conflict={conflict} fields={fields} />
          {conflict.keepMine === undefined && <Text size="sm">Your action is no longer possible.</Text>}
          <Group justify="end">
            <Button variant={conflict.keepMine ? 'default' : 'filled'} onClick={conflict.keepTheirs} data-autofocus>
              Keep their change
            </Button>
            {conflict.keepMine !== undefined && <Button onClick={conflict.keepMine}>Apply my change</Button>}
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

function ChangesByOtherUsersList({
  conflict: { since, now },
}: {
  readonly conflict: ConflictingResourceVersions<object>;
}) {
  const route = getRoutePortsOfShipment(now.thing);
  const ports = route === undefined ? [] : listPortsOfHistoryEntries(since, route);
  const places = usePlaces(listRoutePorts(ports.flatMap(({ from, to }) => [from, to])));
  if (since.length === 0) return null;
  return (
    <List size="sm">
      {since.map((entry, index) => (
        <List.Item key={entry.id}>
          <strong>{formatActor(entry.actor)}</strong>{' '}
          {describeHistoryEntry(entry, createPortZoneFinder(ports[index], places)).did},{' '}
          <UserLocalTimeText value={entry.at} />
        </List.Item>
      ))}
    </List>
  );
}

function ChangedFieldsTable<Thing extends object>({
  conflict,
  fields,
}: {
  readonly conflict: ConflictingResourceVersions<Thing>;
  readonly fields: ConflictDialogProps<Thing>['fields'];
}) {
  const { seen, now } = conflict;
  const states = [seen.thing, now.thing] as const;
  const places = usePlaces(listRoutePorts(states.flatMap((state) => getRoutePortsOfShipment(state) ?? [])));
  const changed = listResourceDifferences(states, fields, places);
  if (changed.length === 0) return null;
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Field</Table.Th>
            <Table.Th>Previous value</Table.Th>
            <Table.Th>Current value</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changed.map(({ path, from, to, zone, fromZone }) => (
            <Table.Tr key={path.join(' ')}>
              <Table.Td>{formatFieldPathAsLabel(path)}</Table.Td>
              <Table.Td>{formatStoredValue(from, path.at(-1), fromZone)}</Table.Td>
              <Table.Td>{formatStoredValue(to, path.at(-1), zone)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

import { Button, Group, List, Modal, Stack, Table, Text } from '@mantine/core';
import { Time } from '../../values/time.tsx';
import { describeEntry, actorLabel } from '../history/history-sentences.ts';
import { differences, formatFieldPath, formatValue } from '../history/value-words.ts';
import type { Conflict } from './guarded-write.ts';

interface Props<Thing> {
  readonly conflict: Conflict<Thing> | undefined;
  /** "the document" */
  readonly what: string;
  /** The fields on which the decision depends. */
  readonly fields: readonly (keyof Thing & string)[];
}

/** Shows another user's change and lets the user choose between both. */
export function ConflictDialog<Thing>({ conflict, what, fields }: Props<Thing>) {
  return (
    <Modal
      opened={conflict !== undefined}
      onClose={() => conflict?.keepTheirs()}
      title={`Somebody else changed ${what} meanwhile`}
      // A click beside the dialog is no decision.
      closeOnClickOutside={false}
      size="lg"
    >
      {conflict !== undefined && (
        <Stack>
          <Text size="sm">Nothing of yours was written.</Text>
          <Since entries={conflict.since} />
          <Changes conflict={conflict} fields={fields} />
          {conflict.keepMine === undefined && (
            <Text size="sm">What you were about to do cannot be done to it any more.</Text>
          )}
          <Group justify="end">
            <Button variant={conflict.keepMine ? 'default' : 'filled'} onClick={conflict.keepTheirs} data-autofocus>
              Take theirs
            </Button>
            {conflict.keepMine !== undefined && <Button onClick={conflict.keepMine}>Keep mine</Button>}
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

function Since({ entries }: { readonly entries: Conflict<unknown>['since'] }) {
  if (entries.length === 0) return null;
  return (
    <List size="sm">
      {entries.map((entry) => (
        <List.Item key={entry.id}>
          <strong>{actorLabel(entry.actor)}</strong> {describeEntry(entry).did}, <Time value={entry.at} />
        </List.Item>
      ))}
    </List>
  );
}

function Changes<Thing>({
  conflict,
  fields,
}: {
  readonly conflict: Conflict<Thing>;
  readonly fields: Props<Thing>['fields'];
}) {
  const { seen, now } = conflict;
  const changed = fields.flatMap((field) => differences(seen.thing[field], now.thing[field], [field]));
  if (changed.length === 0) return null;
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>What</Table.Th>
            <Table.Th>As you saw it</Table.Th>
            <Table.Th>Now</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changed.map(({ path, from, to }) => (
            <Table.Tr key={path.join(' ')}>
              <Table.Td>{formatFieldPath(path)}</Table.Td>
              <Table.Td>{formatValue(from, path.at(-1))}</Table.Td>
              <Table.Td>{formatValue(to, path.at(-1))}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

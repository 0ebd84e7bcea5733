import { Badge, Button, Code, Group, Stack, Table, Text, Tooltip, VisuallyHidden } from '@mantine/core';
import { Fragment, useState } from 'react';
import { Time } from '../../values/time.tsx';
import type { AuditEntry } from './audit-queries.ts';
import { actorOf, changesIn, deedOf } from './audit-sentence.ts';
import { useTargetNames } from './target-names.ts';

export function Entries({ entries }: { readonly entries: readonly AuditEntry[] }) {
  const nameOf = useTargetNames();
  const [openId, setOpenId] = useState<string>();
  return (
    <Table.ScrollContainer minWidth={620}>
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={190}>When</Table.Th>
            <Table.Th>What</Table.Th>
            <Table.Th w={140}>From</Table.Th>
            <Table.Th w={100}>
              <VisuallyHidden>Details</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map((entry) => {
            const isOpen = entry.id === openId;
            const deed = deedOf(entry, nameOf);
            return (
              <Fragment key={entry.id}>
                <Table.Tr>
                  <Table.Td className="oneLine">
                    <Time value={entry.at} />
                  </Table.Td>
                  <Table.Td>
                    <Text span fw={600} inherit>
                      {actorOf(entry, nameOf)}
                    </Text>{' '}
                    {deed} {entry.outcome === 'unknown' && <Unknown />}
                    <Summary entry={entry} />
                  </Table.Td>
                  <Table.Td>{entry.address ?? '—'}</Table.Td>
                  <Table.Td ta="end" className="rowActions">
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-expanded={isOpen}
                      aria-label={`Details: ${deed}`}
                      onClick={() => setOpenId(isOpen ? undefined : entry.id)}
                    >
                      {isOpen ? 'Close' : 'Details'}
                    </Button>
                  </Table.Td>
                </Table.Tr>
                {isOpen && (
                  <Table.Tr>
                    <Table.Td colSpan={4}>
                      <Details entry={entry} />
                    </Table.Td>
                  </Table.Tr>
                )}
              </Fragment>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Of something that was there before: what became of its fields, in a line. */
function Summary({ entry }: { readonly entry: AuditEntry }) {
  const changed = changesIn(entry).filter(({ from, to }) => from !== undefined && to !== undefined);
  if (changed.length === 0) return null;
  return (
    <Text size="xs" c="dimmed" lineClamp={1}>
      {changed.map(({ field, from, to }) => `${field}: ${from} → ${to}`).join('; ')}
    </Text>
  );
}

function Unknown() {
  return (
    <Tooltip label="The process ended before it knew whether the change was made." multiline maw={280}>
      <Badge color="yellow" variant="light" tt="none" tabIndex={0}>
        Outcome unknown
      </Badge>
    </Tooltip>
  );
}

function Details({ entry }: { readonly entry: AuditEntry }) {
  const changes = changesIn(entry);
  return (
    <Stack gap="sm" py="xs">
      {changes.length > 0 && (
        <Table withTableBorder verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Field</Table.Th>
              <Table.Th>Before</Table.Th>
              <Table.Th>After</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {changes.map(({ field, from, to }) => (
              <Table.Tr key={field}>
                <Table.Td>{field}</Table.Td>
                <Table.Td>{from ?? '—'}</Table.Td>
                <Table.Td>{to ?? '—'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <Group gap="lg">
        <Text size="xs" c="dimmed">
          Request <Code>{entry.request_id}</Code>
        </Text>
      </Group>
      <Code block tabIndex={0} aria-label="The entry as the API answers it">
        {JSON.stringify(entry, null, 2)}
      </Code>
    </Stack>
  );
}

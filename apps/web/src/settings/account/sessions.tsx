import { Badge, Button, Stack, Table, Text, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { NotFoundError } from '@tracking/client';
import { askFirst } from '../../app/overlays.tsx';
import { forEachOf, useWrite } from '../../app/write.ts';
import { Waiting } from '../../app/page.tsx';
import { useApi, useEnvironment } from '../../session/session.ts';
import { Time } from '../../values/time.tsx';
import { type OwnSession, sessionsQuery } from './session-queries.ts';

/** Where one is signed in. */
export function Sessions() {
  const [client, sessions] = [useApi(), useQuery(sessionsQuery(useEnvironment()))];
  const end = useWrite({
    write: async (ended: readonly OwnSession[]) => {
      const endOne = async ({ id }: OwnSession) => {
        try {
          await client.session.end(id);
        } catch (error) {
          // It has ended already, as wanted.
          if (!(error instanceof NotFoundError)) throw error;
        }
      };
      const never = new AbortController().signal;
      const { failed } = await forEachOf(ended, { write: endOne, onProgress: () => undefined, signal: never });
      if (failed[0] !== undefined) throw failed[0].error;
    },
    done: 'Signed out there.',
    touches: [['sessions']],
  });
  const endOthers = (others: readonly OwnSession[]) =>
    askFirst({
      title: 'Sign out everywhere else?',
      children: <Text size="sm">{others.length} other sessions of yours end within five seconds.</Text>,
      labels: { confirm: 'Sign out there', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => end.mutate(others),
    });
  return (
    <Waiting query={sessions} what="your sessions">
      {(all) => {
        const others = all.filter(({ current }) => !current);
        return (
          <Stack align="start" gap="sm">
            <Table.ScrollContainer minWidth={560} w="100%" scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
              <Table verticalSpacing="xs">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Device</Table.Th>
                    <Table.Th>Address</Table.Th>
                    <Table.Th>Last used</Table.Th>
                    <Table.Th>Since</Table.Th>
                    <Table.Th>
                      <VisuallyHidden>Actions</VisuallyHidden>
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {all.map((session) => (
                    <Table.Tr key={session.id}>
                      <Table.Td>
                        {session.device}{' '}
                        {session.current && (
                          <Badge color="green" variant="light" tt="none" miw="max-content">
                            This one
                          </Badge>
                        )}
                      </Table.Td>
                      <Table.Td>{session.address}</Table.Td>
                      <Table.Td>
                        <Time value={session.last_seen_at} />
                      </Table.Td>
                      <Table.Td>
                        <Time value={session.created_at} day />
                      </Table.Td>
                      <Table.Td ta="end" className="rowActions">
                        {!session.current && (
                          <Button
                            size="compact-sm"
                            variant="default"
                            onClick={() => end.mutate([session])}
                            aria-label={`Sign out ${session.device}, ${session.address}`}
                          >
                            Sign out
                          </Button>
                        )}
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
            {others.length > 1 && (
              <Button variant="default" onClick={() => endOthers(others)}>
                Sign out everywhere else…
              </Button>
            )}
          </Stack>
        );
      }}
    </Waiting>
  );
}

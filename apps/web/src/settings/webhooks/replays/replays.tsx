import { Alert, Button, Group, Modal, Stack, Table, Text, Tooltip } from '@mantine/core';
import { SCROLLED_BY_KEY } from '../scrolled-by-key.ts';
import { LinkAnchor } from '../../../app/links.tsx';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { WebhookEndpoint, WebhookReplay } from '@tracking/client';
import { Waiting } from '../../../app/page.tsx';
import { useEnvironment } from '../../../session/session.ts';
import { Time } from '../../../values/time.tsx';
import { endpointsQuery, replaysQuery } from '../webhook-queries.ts';
import { CreateReplay } from './create-replay.tsx';
import { ReplayProgress } from './replay-progress.tsx';
import { replayAbout } from './replay-filter.ts';

/** Those of an endpoint, with a way to begin one, or all. */
export function Replays({ endpoint }: { readonly endpoint?: WebhookEndpoint }) {
  const [isMaking, { open, close }] = useDisclosure(false);
  const replays = useQuery(replaysQuery(useEnvironment(), endpoint?.id));
  const isEnabled = endpoint?.status === 'enabled';
  return (
    <Stack>
      {endpoint !== undefined && (
        <Group justify="space-between">
          <Text size="sm" c="dimmed">
            What failed or was missed is sent again, the oldest first, as fast as the endpoint answers.
          </Text>
          <Tooltip label="The endpoint is to be enabled." disabled={isEnabled}>
            <span>
              <Button size="xs" disabled={!isEnabled} onClick={open}>
                Replay events…
              </Button>
            </span>
          </Tooltip>
        </Group>
      )}
      <Waiting query={replays} what="the replays">
        {(all) =>
          all.length === 0 ? (
            <Alert title="None yet">
              {endpoint === undefined
                ? 'A replay is begun on the page of an endpoint, or from its dead letters.'
                : 'After an outage of yours, have it sent what it missed.'}
            </Alert>
          ) : (
            <ReplayTable replays={all} showsEndpoint={endpoint === undefined} />
          )
        }
      </Waiting>
      {endpoint !== undefined && (
        <Modal opened={isMaking} onClose={close} title="Replay events">
          <CreateReplay endpoint={endpoint} onClose={close} onBegun={close} />
        </Modal>
      )}
    </Stack>
  );
}

interface TableProps {
  readonly replays: readonly WebhookReplay[];
  readonly showsEndpoint: boolean;
}

export function ReplayTable({ replays, showsEndpoint }: TableProps) {
  const endpoints = useQuery({ ...endpointsQuery(useEnvironment()), enabled: showsEndpoint });
  return (
    <Table.ScrollContainer minWidth={760} scrollAreaProps={SCROLLED_BY_KEY}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>What</Table.Th>
            {showsEndpoint && <Table.Th>Endpoint</Table.Th>}
            <Table.Th>Asked for</Table.Th>
            <Table.Th>Progress</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {replays.map((replay) => {
            const endpoint = endpoints.data?.find(({ id }) => id === replay.endpoint_id);
            return (
              <Table.Tr key={replay.id}>
                <Table.Td>
                  {replay.action === 'discard' ? 'Discard' : 'Replay'}
                  <Text size="xs" c="dimmed">
                    {replayAbout(replay)}
                  </Text>
                </Table.Td>
                {showsEndpoint && (
                  <Table.Td>
                    {endpoint === undefined ? (
                      replay.endpoint_id
                    ) : (
                      <LinkAnchor
                        to="/settings/webhooks/$endpointId"
                        params={{ endpointId: endpoint.id }}
                        search={{ tab: 'replays' }}
                        size="sm"
                      >
                        {endpoint.description ?? endpoint.url}
                      </LinkAnchor>
                    )}
                  </Table.Td>
                )}
                <Table.Td>
                  <Time value={replay.created_at} />
                </Table.Td>
                <Table.Td w={320}>
                  <ReplayProgress replay={replay} />
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

import { Alert, Button, Group, List, Modal, Progress, Stack, Table, Text, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { AnswerOf, WebhookEndpoint, WebhookReplay } from '@tracking/client';
import { LinkAnchor, PageHeader, QueryResultPanel } from '../../../app/page.tsx';
import { useApiWrite } from '../../../app/write.ts';
import { useApi, useEnvironment } from '../../../session/session.ts';
import { UserLocalTimeText } from '../../../values/time.tsx';
import { KEYBOARD_SCROLLABLE_PROPS, StatusBadge } from '../webhook-parts.tsx';
import { DELIVERY_QUERY_CACHE_KEYS, replaysQuery, useEndpointNames } from '../webhook-queries.ts';
import { REPLAY_STATUS_LABELS, calculateReplayProgressPercentages, describeReplay } from '../webhook-labels.ts';
import { WebhookTabs } from '../webhooks-section.tsx';
import { CreateReplayForm } from './create-replay.tsx';

export function ReplaysPage() {
  return (
    <Stack>
      <PageHeader title="Replays" about="Bulk replays and discards of deliveries." />
      <WebhookTabs at="/settings/webhooks/replays" />
      <ReplayList />
    </Stack>
  );
}

/** List of the replays of one endpoint, or of all endpoints. */
export function ReplayList({ endpoint }: { readonly endpoint?: WebhookEndpoint }) {
  const [isCreating, { open, close }] = useDisclosure(false);
  const replays = useQuery(replaysQuery(useEnvironment(), endpoint?.id));
  const isEnabled = endpoint?.status === 'enabled';
  return (
    <Stack>
      {endpoint !== undefined && (
        <Group justify="space-between">
          <Text size="sm" c="dimmed">
            Failed and missed events are sent again, oldest first, as fast as the endpoint responds.
          </Text>
          <Tooltip label="Enable the endpoint first." disabled={isEnabled}>
            <span>
              <Button size="xs" disabled={!isEnabled} onClick={open}>
                Replay events…
              </Button>
            </span>
          </Tooltip>
        </Group>
      )}
      <QueryResultPanel query={replays} what="the replays">
        {(all) =>
          all.length === 0 ? (
            <Alert title="No replays yet">
              {endpoint === undefined
                ? 'Start a replay on the page of an endpoint or in the list of dead letters.'
                : 'After an outage, replay the events that the endpoint missed.'}
            </Alert>
          ) : (
            <ReplayTable replays={all} showsEndpoint={endpoint === undefined} />
          )
        }
      </QueryResultPanel>
      {endpoint !== undefined && (
        <Modal opened={isCreating} onClose={close} title="Replay events">
          <CreateReplayForm endpoint={endpoint} onClose={close} onStarted={close} />
        </Modal>
      )}
    </Stack>
  );
}

interface ReplayTableProps {
  readonly replays: readonly WebhookReplay[];
  readonly showsEndpoint: boolean;
}

function ReplayTable({ replays, showsEndpoint }: ReplayTableProps) {
  const endpointName = useEndpointNames(showsEndpoint);
  return (
    <Table.ScrollContainer minWidth={760} scrollAreaProps={KEYBOARD_SCROLLABLE_PROPS}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Action</Table.Th>
            {showsEndpoint && <Table.Th>Endpoint</Table.Th>}
            <Table.Th>Created</Table.Th>
            <Table.Th>Progress</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {replays.map((replay) => {
            const name = endpointName(replay.endpoint_id);
            return (
              <Table.Tr key={replay.id}>
                <Table.Td>
                  {replay.action === 'discard' ? 'Discard of deliveries' : 'Replay of deliveries'}
                  <Text size="xs" c="dimmed">
                    {describeReplay(replay)}
                  </Text>
                </Table.Td>
                {showsEndpoint && (
                  <Table.Td>
                    {name === undefined ? (
                      replay.endpoint_id
                    ) : (
                      <LinkAnchor
                        to="/settings/webhooks/$endpointId"
                        params={{ endpointId: replay.endpoint_id }}
                        search={{ tab: 'replays' }}
                        size="sm"
                      >
                        {name}
                      </LinkAnchor>
                    )}
                  </Table.Td>
                )}
                <Table.Td>
                  <UserLocalTimeText value={replay.created_at} />
                </Table.Td>
                <Table.Td w={320}>
                  <ReplayProgressPanel replay={replay} />
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Shows the progress of a replay, with a button that cancels or resumes the replay. */
function ReplayProgressPanel({ replay }: { readonly replay: WebhookReplay }) {
  const client = useApi();
  const { id, status, matched, done, failed, action } = replay;
  const cancel = useApiWrite({
    write: () => client.webhookReplays.cancel(id),
    done: 'Replay canceled. Deliveries that already started continue.',
    invalidates: DELIVERY_QUERY_CACHE_KEYS,
  });
  const resume = useApiWrite({
    write: () => client.webhookReplays.resume(id),
    done: 'Replay resumed.',
    invalidates: DELIVERY_QUERY_CACHE_KEYS,
  });
  const share = calculateReplayProgressPercentages(replay);
  const doneLabel = action === 'discard' ? 'discarded' : 'delivered';
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs">
        <StatusBadge words={REPLAY_STATUS_LABELS[status]} />
        {status === 'running' && (
          <Button size="compact-xs" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel
          </Button>
        )}
        {status === 'canceled' && (
          <Button size="compact-xs" variant="default" loading={resume.isPending} onClick={() => resume.mutate()}>
            Resume replay
          </Button>
        )}
      </Group>
      <Progress.Root>
        <Progress.Section
          value={share.done}
          color="green.7"
          aria-label={`${done} of ${matched} ${doneLabel}`}
          animated={status === 'running'}
        />
        <Progress.Section value={share.failed} color="red.7" aria-label={`${failed} of ${matched} failed`} />
      </Progress.Root>
      <Text size="xs" c="dimmed">
        {`${matched} matched${status === 'running' ? ' so far' : ''} · ${done} ${doneLabel}`}
        {failed > 0 && ` · ${failed} failed and will be retried`}
      </Text>
    </Stack>
  );
}

/**
 * Shows the progress of newly started replays. Endpoints for which no replay could be started are listed with the
 * reason.
 */
export function StartedReplayList({ started }: { readonly started: AnswerOf<'replayWebhookDeadLetters'> }) {
  const endpointName = useEndpointNames();
  const { data: latest = [] } = useQuery(replaysQuery(useEnvironment(), undefined));
  const replays = started.data.map((replay) => latest.find(({ id }) => id === replay.id) ?? replay);
  return (
    <Stack gap="xs" role="status">
      {replays.length > 0 && <ReplayTable replays={replays} showsEndpoint />}
      {started.refused.length > 0 && (
        <Alert color="yellow" title="No replay was started for these endpoints">
          <List size="sm">
            {started.refused.map(({ endpoint_id, message }) => (
              <List.Item key={endpoint_id}>
                {endpointName(endpoint_id) ?? endpoint_id}: {message}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  );
}

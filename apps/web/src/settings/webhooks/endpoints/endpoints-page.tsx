import { Alert, Group, Skeleton, Stack, Table, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { WebhookEndpoint } from '@tracking/client';
import { LinkAnchor, LinkButton, PageHeader, QueryResultPanel } from '../../../app/page.tsx';
import { useEnvironment } from '../../../session/session.ts';
import { UserLocalTimeText } from '../../../values/time.tsx';
import { EndpointStatusBadge, StatusBadge } from '../webhook-parts.tsx';
import { endpointsQuery, endpointStatsQuery } from '../webhook-queries.ts';
import { WebhookTabs } from '../webhooks-section.tsx';
import { describeSubscribedEventTypes } from './endpoint-fields.ts';
import { HEALTH_BADGES, assessEndpointHealth, formatPercent, sumHourlyStats } from './stats-series.ts';

export function EndpointsPage() {
  const endpoints = useQuery(endpointsQuery(useEnvironment()));
  return (
    <Stack>
      <PageHeader
        title="Webhooks"
        about="URLs of your servers that receive events as they happen."
        actions={
          <LinkButton to="/settings/webhooks/new" leftSection={<IconPlus size={16} aria-hidden />}>
            Add endpoint
          </LinkButton>
        }
      />
      <WebhookTabs at="/settings/webhooks" />
      <QueryResultPanel query={endpoints} what="the endpoints">
        {(all) => (all.length === 0 ? <EmptyEndpointList /> : <EndpointTable endpoints={all} />)}
      </QueryResultPanel>
    </Stack>
  );
}

function EmptyEndpointList() {
  return (
    <Alert title="No endpoints yet">
      <Text size="sm">
        Add a URL of your server. After you verify and enable it, it receives signed events within seconds. Failed
        deliveries are retried for three days.
      </Text>
    </Alert>
  );
}

function EndpointTable({ endpoints }: { readonly endpoints: readonly WebhookEndpoint[] }) {
  return (
    <Table.ScrollContainer minWidth={820}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Endpoint</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Events</Table.Th>
            <Table.Th>Health</Table.Th>
            <Table.Th>Last 24 hours</Table.Th>
            <Table.Th>Pending deliveries</Table.Th>
            <Table.Th>Last success</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {endpoints.map((endpoint) => (
            <EndpointRow key={endpoint.id} endpoint={endpoint} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function EndpointRow({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { id, url, description, status, event_types } = endpoint;
  return (
    <Table.Tr>
      <Table.Td>
        <LinkAnchor to="/settings/webhooks/$endpointId" params={{ endpointId: id }} size="sm" fw={600}>
          {description ?? url}
        </LinkAnchor>
        {description !== null && (
          <Text size="xs" c="dimmed" lineClamp={1}>
            {url}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <EndpointStatusBadge status={status} />
      </Table.Td>
      <Table.Td>{describeSubscribedEventTypes(event_types)}</Table.Td>
      <EndpointHealthCells endpoint={endpoint} />
    </Table.Tr>
  );
}

function EndpointHealthCells({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { data: stats, isError } = useQuery(endpointStatsQuery(useEnvironment(), endpoint.id, 'day'));
  if (stats === undefined) {
    return (
      <Table.Td colSpan={4}>
        {isError ? (
          'Health is currently unavailable'
        ) : (
          <Skeleton height={12} role="status" aria-label="Loading endpoint health" />
        )}
      </Table.Td>
    );
  }
  const { attempts, success } = sumHourlyStats(stats);
  const { count, is_at_least } = stats.waiting;
  return (
    <>
      <Table.Td>
        <StatusBadge words={HEALTH_BADGES[assessEndpointHealth(endpoint, stats)]} />
      </Table.Td>
      <Table.Td>
        {success === undefined ? (
          <Text span inherit c="dimmed">
            —
          </Text>
        ) : (
          <Group gap={4}>
            {formatPercent(success)}
            <Text span size="xs" c="dimmed">
              {`of ${attempts}`}
            </Text>
          </Group>
        )}
      </Table.Td>
      <Table.Td>{is_at_least ? `${count} or more` : count}</Table.Td>
      <Table.Td>
        <UserLocalTimeText value={stats.last_success_at} />
      </Table.Td>
    </>
  );
}

import {
  Alert,
  Button,
  Collapse,
  Group,
  Paper,
  SegmentedControl,
  Skeleton,
  Stack,
  Table,
  Text,
  Title,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { WebhookEndpoint } from '@tracking/client';
import { Suspense } from 'react';
import { createLazyComponentWithImportRetry } from '../../../app/lazy.tsx';
import { LinkAnchor, QueryResultPanel } from '../../../app/page.tsx';
import { useEnvironment } from '../../../session/session.ts';
import { UserLocalTimeText } from '../../../values/time.tsx';
import { LabeledValueBlock, LabeledValueGrid, KEYBOARD_SCROLLABLE_PROPS, StatusBadge } from '../webhook-parts.tsx';
import { endpointStatsQuery } from '../webhook-queries.ts';
import { STATS_WINDOW_OPTIONS, type StatsWindow } from '../webhook-search.ts';
import { DISABLED_REASON_LABELS, getFailureReasonLabel } from '../webhook-labels.ts';
import {
  type AttemptCountsOfChartColumn,
  type EndpointStats,
  HEALTH_BADGES,
  buildStatsChartColumns,
  assessEndpointHealth,
  formatPercent,
  sumHourlyStats,
} from './stats-series.ts';

/** The code of the setup steps is loaded on demand, because each endpoint needs them only once. */
const LazyEndpointSetup = createLazyComponentWithImportRetry(async () => ({
  default: (await import('./endpoint-setup.tsx')).EndpointSetupPanel,
}));

interface EndpointOverviewProps {
  readonly endpoint: WebhookEndpoint;
  readonly window: StatsWindow;
  readonly onWindow: (window: StatsWindow) => void;
}

export function EndpointOverviewPanel({ endpoint, window, onWindow }: EndpointOverviewProps) {
  const { status, disabled_reason } = endpoint;
  return (
    <Stack>
      {status === 'disabled' && (
        <Alert color="yellow" title="The endpoint receives no events">
          {disabled_reason !== null && DISABLED_REASON_LABELS[disabled_reason]} Pending deliveries are held until the
          endpoint is enabled.
        </Alert>
      )}
      {(status === 'pending_verification' || status === 'verified') && <LazyEndpointSetup endpoint={endpoint} />}
      <EndpointStatsPanel endpoint={endpoint} window={window} onWindow={onWindow} />
    </Stack>
  );
}

/** The code of the chart is loaded on demand, because the chart library recharts is large. */
const LazyStatsChart = createLazyComponentWithImportRetry(() => import('./stats-chart.tsx'));

interface EndpointStatsProps {
  readonly endpoint: WebhookEndpoint;
  readonly window: StatsWindow;
  readonly onWindow: (window: StatsWindow) => void;
}

function EndpointStatsPanel({ endpoint, window, onWindow }: EndpointStatsProps) {
  const stats = useQuery(endpointStatsQuery(useEnvironment(), endpoint.id, window));
  return (
    <Paper withBorder p="md" component="section" aria-label="Statistics">
      <Stack>
        <Group justify="space-between">
          <Group gap="sm">
            <Title order={2} size="h5">
              Attempts
            </Title>
            {stats.data !== undefined && (
              <StatusBadge words={HEALTH_BADGES[assessEndpointHealth(endpoint, stats.data)]} />
            )}
          </Group>
          <SegmentedControl
            size="xs"
            aria-label="Time range"
            data={STATS_WINDOW_OPTIONS}
            value={window}
            onChange={onWindow}
          />
        </Group>
        <QueryResultPanel query={stats} what="the statistics">
          {(read) => <EndpointStatsSummaryPanel stats={read} window={window} />}
        </QueryResultPanel>
      </Stack>
    </Paper>
  );
}

function EndpointStatsSummaryPanel({ stats, window }: { readonly stats: EndpointStats; readonly window: StatsWindow }) {
  const columns = buildStatsChartColumns(stats, window, Date.parse(stats.until));
  const totals = sumHourlyStats(stats);
  const { waiting, last_error: failed } = stats;
  return (
    <>
      <LabeledValueGrid>
        <LabeledValueBlock label="Attempts">{totals.attempts}</LabeledValueBlock>
        <LabeledValueBlock label="Success rate">
          {totals.success === undefined ? '—' : formatPercent(totals.success)}
        </LabeledValueBlock>
        <LabeledValueBlock label="Dead letters">{totals.deadLettered}</LabeledValueBlock>
        <LabeledValueBlock label="p95 latency">{totals.p95 === null ? '—' : `${totals.p95} ms`}</LabeledValueBlock>
        <LabeledValueBlock label="Pending deliveries">
          {waiting.is_at_least ? `${waiting.count} or more` : waiting.count}
        </LabeledValueBlock>
        <LabeledValueBlock label="Last success">
          <UserLocalTimeText value={stats.last_success_at} />
        </LabeledValueBlock>
        <LabeledValueBlock label="Last failure">
          <UserLocalTimeText value={failed?.at ?? null} />
          {failed !== null && (
            <Text size="xs" c="dimmed">
              {getFailureReasonLabel(failed.code)}
              {failed.status_code !== null && ` (${failed.status_code})`}
            </Text>
          )}
        </LabeledValueBlock>
      </LabeledValueGrid>
      {totals.attempts === 0 ? (
        <Text size="sm" c="dimmed">
          No attempts in this period.
        </Text>
      ) : (
        <Suspense fallback={<Skeleton height={220} role="status" aria-label="Loading the chart" />}>
          <LazyStatsChart columns={columns} window={window} />
        </Suspense>
      )}
      {!totals.isExact && (
        <Text size="xs" c="dimmed">
          Some counts are being recomputed.
        </Text>
      )}
      <AttemptCountsTable columns={columns} />
      <Text size="sm">
        <LinkAnchor to="/settings/webhooks/dead-letters" search={{ endpoint_id: stats.endpoint_id }} inherit>
          View dead letters
        </LinkAnchor>
      </Text>
    </>
  );
}

/** A table with the same data as the chart. */
function AttemptCountsTable({ columns }: { readonly columns: readonly AttemptCountsOfChartColumn[] }) {
  const [isOpen, { toggle }] = useDisclosure(false);
  const busy = columns.filter(({ succeeded, failed, deadLettered }) => succeeded + failed + deadLettered > 0);
  if (busy.length === 0) return null;
  return (
    <div>
      <Button size="compact-xs" variant="subtle" onClick={toggle} aria-expanded={isOpen}>
        {isOpen ? 'Hide the table' : 'Show the data as a table'}
      </Button>
      <Collapse expanded={isOpen}>
        <Table.ScrollContainer minWidth={520} scrollAreaProps={KEYBOARD_SCROLLABLE_PROPS}>
          <Table captionSide="top">
            <Table.Caption>Periods without attempts are omitted.</Table.Caption>
            <Table.Thead>
              <Table.Tr>
                {[
                  'Start of the period',
                  'Succeeded attempts',
                  'Failed attempts',
                  'Dead letters',
                  'p50 latency',
                  'p95 latency',
                ].map((head) => (
                  <Table.Th key={head}>{head}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {busy.map(({ at, succeeded, failed, deadLettered, p50, p95 }) => (
                <Table.Tr key={at}>
                  <Table.Td>
                    <UserLocalTimeText value={at} />
                  </Table.Td>
                  <Table.Td>{succeeded}</Table.Td>
                  <Table.Td>{failed}</Table.Td>
                  <Table.Td>{deadLettered}</Table.Td>
                  <Table.Td>{p50 === null ? '—' : `${p50} ms`}</Table.Td>
                  <Table.Td>{p95 === null ? '—' : `${p95} ms`}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Collapse>
    </div>
  );
}

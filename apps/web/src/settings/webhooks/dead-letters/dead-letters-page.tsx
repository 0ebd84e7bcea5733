import { Alert, Button, Group, Paper, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { WebhookDeadLetterSummary } from '@tracking/client';
import { useState } from 'react';
import { createOnDemandComponent } from '../../../app/lazy.tsx';
import { confirmAction } from '../../../app/overlays.tsx';
import { PageHeader, QueryResultPanel } from '../../../app/page.tsx';
import { type WriteOptions, useApiWrite } from '../../../app/write.ts';
import { useApi, useEnvironment } from '../../../session/session.ts';
import { getEventLabel } from '../../../values/event-types.ts';
import { DeliveryTable, type DeliverySelection, useDeliveries } from '../deliveries/deliveries-page.tsx';
import { DeliveryFilters } from '../deliveries/delivery-filters.tsx';
import { LastUpdatedIndicator } from '../webhook-parts.tsx';
import {
  POLL_INTERVAL_MS,
  DELIVERY_QUERY_CACHE_KEYS,
  deadLetterSummaryQuery,
  useEndpointNames,
} from '../webhook-queries.ts';
import { type DeadLetterUrlParameters, toDeadLetterSummaryQuery, toDeadLetterSelection } from '../webhook-search.ts';
import { getFailureReasonLabel } from '../webhook-labels.ts';
import { WebhookTabs } from '../webhooks-section.tsx';
import classes from './dead-letters-page.module.css';

const EMPTY_ID_SELECTION: ReadonlySet<string> = new Set();

export function DeadLettersPage() {
  const { environment: _everywhere, ...search } = useSearch({ from: '/signed-in/settings/webhooks/dead-letters' });
  const navigate = useNavigate({ from: '/settings/webhooks/dead-letters' });
  const summary = useQuery(deadLetterSummaryQuery(useEnvironment(), toDeadLetterSummaryQuery(search)));
  const [chosen, setChosen] = useState(EMPTY_ID_SELECTION);
  const applySearch = (to: DeadLetterUrlParameters) => {
    setChosen(EMPTY_ID_SELECTION);
    void navigate({ search: to, replace: true });
  };
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Stack>
      <PageHeader
        title="Dead letters"
        about="Deliveries that failed permanently. Replay them when their endpoint responds again."
      />
      <WebhookTabs at="/settings/webhooks/dead-letters" />
      <DeliveryFilters search={search} onChange={applySearch} hiddenFilters={['status', 'event']} />
      <QueryResultPanel query={summary} what="the dead letters">
        {(counted) => (
          <>
            <DeadLetterActionButtons
              search={search}
              chosen={chosen}
              summary={counted}
              onDone={() => setChosen(EMPTY_ID_SELECTION)}
            />
            {hasCertainlyNoDeadLetters(counted) ? (
              <Alert color="green" title={isFiltered ? 'No matching dead letters' : 'No dead letters'}>
                {isFiltered ? 'Change or clear the filters.' : 'Every delivery succeeded or is still being retried.'}
              </Alert>
            ) : (
              <>
                <DeadLetterSummaryPanels summary={counted} search={search} onChange={applySearch} />
                <DeadLetterList search={search} selection={{ ids: chosen, onChange: setChosen }} />
              </>
            )}
          </>
        )}
      </QueryResultPanel>
    </Stack>
  );
}

interface DeadLetterSummaryProps {
  readonly summary: WebhookDeadLetterSummary;
  readonly search: DeadLetterUrlParameters;
  readonly onChange: (search: DeadLetterUrlParameters) => void;
}

interface DeadLetterCount {
  readonly label: string;
  readonly count: number;
  readonly isExact: boolean;
  /** Filters that select the dead letters of this row. Undefined if no filter can select them. */
  readonly narrowed?: DeadLetterUrlParameters;
}

/** Shows the number of dead letters by reason, by endpoint and by event type. A click on a number filters the list. */
function DeadLetterSummaryPanels({ summary, search, onChange }: DeadLetterSummaryProps) {
  const endpointName = useEndpointNames();
  const parts: readonly (readonly [string, readonly DeadLetterCount[]])[] = [
    [
      'Dead letters by reason',
      summary.by_reason.map(({ reason, count, is_exact }) => ({
        ...{ label: getFailureReasonLabel(reason), count, isExact: is_exact },
        ...(reason !== 'unknown' && { narrowed: { reason } }),
      })),
    ],
    [
      'Dead letters by endpoint',
      summary.by_endpoint.map(({ endpoint_id, count, is_exact }) => ({
        ...{ label: endpointName(endpoint_id) ?? `${endpoint_id} (deleted)` },
        ...{ count, isExact: is_exact, narrowed: { endpoint_id } },
      })),
    ],
    [
      'Dead letters by event type',
      summary.by_event_type.map(({ event_type, count, is_exact }) => ({
        ...{ label: getEventLabel(event_type), count, isExact: is_exact, narrowed: { event_type } },
      })),
    ],
  ];
  return (
    <div className={classes['parts']}>
      {parts.map(([title, kinds]) => (
        <Paper key={title} withBorder p="sm" component="section" aria-label={title}>
          <Stack gap={4}>
            <Title order={2} size="h6">
              {title}
            </Title>
            {kinds.map(({ label, count, isExact, narrowed }) => (
              <UnstyledButton
                key={label}
                className={classes['kind']}
                disabled={narrowed === undefined}
                onClick={() => onChange({ ...search, ...narrowed })}
              >
                <Group justify="space-between" wrap="nowrap" gap="sm">
                  <Text span size="sm" truncate>
                    {label}
                  </Text>
                  <Text span size="sm" fw={600}>
                    {formatMinimumCount(count, isExact)}
                  </Text>
                </Group>
              </UnstyledButton>
            ))}
          </Stack>
        </Paper>
      ))}
    </div>
  );
}

/** Checks that no dead letters exist. A count that is not exact may be too low, so an inexact 0 does not suffice. */
function hasCertainlyNoDeadLetters({ count, is_exact }: Pick<WebhookDeadLetterSummary, 'count' | 'is_exact'>): boolean {
  return count === 0 && is_exact;
}

function formatMinimumCount(count: number, isExact: boolean): string {
  return isExact ? String(count) : `${count} or more`;
}

const LazyStartedReplaysPanel = createOnDemandComponent(
  async () => (await import('../replays/replays-page.tsx')).StartedReplayList,
);

/** Maximum number of selected deliveries, which is the maximum of one API request. */
const MAX_SELECTED_DELIVERIES = 200;

interface DeadLetterActionsProps {
  readonly search: DeadLetterUrlParameters;
  readonly chosen: ReadonlySet<string>;
  readonly summary: WebhookDeadLetterSummary;
  readonly onDone: () => void;
}

/**
 * Buttons that replay or discard dead letters: the selected ones, otherwise all that match the filters. The operations
 * continue in the background, and the page shows their progress.
 */
function DeadLetterActionButtons({ search, chosen, summary, onDone }: DeadLetterActionsProps) {
  const client = useApi();
  const parts = { invalidates: DELIVERY_QUERY_CACHE_KEYS, onDone } satisfies Partial<WriteOptions<void, unknown>>;
  const replay = useApiWrite({
    write: () => client.webhookDeadLetters.replay(toDeadLetterSelection(search, chosen)),
    ...parts,
  });
  const discard = useApiWrite({
    write: () => client.webhookDeadLetters.discard(toDeadLetterSelection(search, chosen)),
    ...parts,
  });
  const isTooMany = chosen.size > MAX_SELECTED_DELIVERIES;
  const isFiltered = Object.keys(search).length > 0;
  const counted = formatMinimumCount(summary.count, summary.is_exact);
  const matchingLabel = isFiltered ? `${counted} matching` : `all ${counted}`;
  const selectionLabel = chosen.size > 0 ? `${chosen.size} selected` : matchingLabel;
  const ask = (verb: 'Replay' | 'Discard', about: string, onConfirm: () => void) =>
    confirmAction({
      title: `${verb} ${selectionLabel}?`,
      children: <Text size="sm">{about}</Text>,
      labels: { confirm: `${verb} deliveries`, cancel: 'Cancel' },
      confirmProps: verb === 'Discard' ? { color: 'red' } : {},
      onConfirm,
    });
  return (
    <Stack>
      {!hasCertainlyNoDeadLetters(summary) && (
        <Group>
          <Button
            disabled={isTooMany}
            loading={replay.isPending}
            onClick={() =>
              ask(
                'Replay',
                'The deliveries are sent again, oldest first. Each delivery keeps its event id and gets a new retry schedule.',
                () => {
                  discard.reset();
                  replay.mutate();
                },
              )
            }
          >
            Replay {selectionLabel}…
          </Button>
          <Button
            variant="default"
            disabled={isTooMany}
            loading={discard.isPending}
            onClick={() =>
              ask(
                'Discard',
                'The deliveries are not sent to their endpoints. They stay in the log, where you can replay them.',
                () => {
                  replay.reset();
                  discard.mutate();
                },
              )
            }
          >
            Discard {selectionLabel}…
          </Button>
          {isTooMany && (
            <Text size="sm">
              {`You can select at most ${MAX_SELECTED_DELIVERIES} deliveries. To include more, filter the list instead.`}
            </Text>
          )}
        </Group>
      )}
      {replay.data !== undefined && <LazyStartedReplaysPanel started={replay.data} />}
      {discard.data !== undefined && <LazyStartedReplaysPanel started={discard.data} />}
    </Stack>
  );
}

interface DeadLetterListProps {
  readonly search: DeadLetterUrlParameters;
  readonly selection: DeliverySelection;
}

function DeadLetterList({ search, selection }: DeadLetterListProps) {
  const { list, newest, rows, newer, readAgain } = useDeliveries({ ...search, status: 'dead_lettered' });
  return (
    <>
      <Group justify="space-between" mih={30}>
        {newer > 0 ? (
          <Button size="compact-xs" variant="light" onClick={() => void readAgain()}>
            {`Show ${newer} new ${newer === 1 ? 'dead letter' : 'dead letters'}`}
          </Button>
        ) : (
          <span />
        )}
        <LastUpdatedIndicator
          at={newest.dataUpdatedAt}
          isFetching={newest.isFetching}
          everyMs={POLL_INTERVAL_MS}
          refetch={readAgain}
        />
      </Group>
      <QueryResultPanel query={list} what="the list of dead letters">
        {() => (rows.length === 0 ? null : <DeliveryTable rows={rows} showsEndpoint selection={selection} />)}
      </QueryResultPanel>
      {list.hasNextPage && (
        <Group>
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Show older dead letters
          </Button>
        </Group>
      )}
    </>
  );
}

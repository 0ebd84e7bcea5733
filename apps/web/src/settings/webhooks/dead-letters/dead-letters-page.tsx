import { Alert, Button, Group, Paper, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { WebhookDeadLetterSummary } from '@tracking/client';
import { useState } from 'react';
import { onDemand } from '../../../app/lazy.tsx';
import { confirmAction } from '../../../app/overlays.tsx';
import { PageHeader, QueryView } from '../../../app/page.tsx';
import { useWrite } from '../../../app/write.ts';
import { useApi, useEnvironment } from '../../../session/session.ts';
import { eventLabel } from '../../../values/event-types.ts';
import { DeliveryRows, type Selection, useDeliveries } from '../deliveries/deliveries-page.tsx';
import { DeliveryFilters } from '../deliveries/delivery-filters.tsx';
import { Polled } from '../webhook-parts.tsx';
import { POLL_MS, TOUCHED_BY_DELIVERIES, deadLettersQuery, useEndpointNames } from '../webhook-queries.ts';
import { type DeadLetterSearch, summaryQuery, whichOf } from '../webhook-search.ts';
import { reasonLabel } from '../webhook-labels.ts';
import { WebhookTabs } from '../webhooks-section.tsx';
import classes from './dead-letters-page.module.css';

const NONE: ReadonlySet<string> = new Set();

export function DeadLettersPage() {
  const { environment: _everywhere, ...search } = useSearch({ from: '/signed-in/settings/webhooks/dead-letters' });
  const navigate = useNavigate({ from: '/settings/webhooks/dead-letters' });
  const summary = useQuery(deadLettersQuery(useEnvironment(), summaryQuery(search)));
  const [chosen, setChosen] = useState(NONE);
  const go = (to: DeadLetterSearch) => {
    setChosen(NONE);
    void navigate({ search: to, replace: true });
  };
  const isNarrowed = Object.keys(search).length > 0;
  return (
    <Stack>
      <PageHeader
        title="Dead letters"
        about="Deliveries that failed for good: replay them once their endpoint answers again."
      />
      <WebhookTabs at="/settings/webhooks/dead-letters" />
      <DeliveryFilters search={search} onChange={go} without={['status', 'event']} />
      <QueryView query={summary} what="the dead letters">
        {(counted) => (
          <>
            <SettleDeadLetters search={search} chosen={chosen} summary={counted} onDone={() => setChosen(NONE)} />
            {isNone(counted) ? (
              <Alert color="green" title={isNarrowed ? 'None fits' : 'There are none'}>
                {isNarrowed ? 'No dead letter is like that.' : 'Every delivery arrived, or is still being tried.'}
              </Alert>
            ) : (
              <>
                <DeadLetterSummary summary={counted} search={search} onChange={go} />
                <DeadLetterList search={search} selection={{ ids: chosen, onChange: setChosen }} />
              </>
            )}
          </>
        )}
      </QueryView>
    </Stack>
  );
}

interface Props {
  readonly summary: WebhookDeadLetterSummary;
  readonly search: DeadLetterSearch;
  readonly onChange: (search: DeadLetterSearch) => void;
}

interface Kind {
  readonly label: string;
  readonly count: number;
  readonly isExact: boolean;
  /** The search for this kind alone; undefined if there is none. */
  readonly narrowed?: DeadLetterSearch;
}

/** The number of each kind, with a link to show that kind alone. */
function DeadLetterSummary({ summary, search, onChange }: Props) {
  const endpointName = useEndpointNames();
  const parts: readonly (readonly [string, readonly Kind[]])[] = [
    [
      'By reason',
      summary.by_reason.map(({ reason, count, is_exact }) => ({
        ...{ label: reasonLabel(reason), count, isExact: is_exact },
        ...(reason !== 'unknown' && { narrowed: { reason } }),
      })),
    ],
    [
      'By endpoint',
      summary.by_endpoint.map(({ endpoint_id, count, is_exact }) => ({
        ...{ label: endpointName(endpoint_id) ?? `${endpoint_id} (deleted)` },
        ...{ count, isExact: is_exact, narrowed: { endpoint_id } },
      })),
    ],
    [
      'By event type',
      summary.by_event_type.map(({ event_type, count, is_exact }) => ({
        ...{ label: eventLabel(event_type), count, isExact: is_exact, narrowed: { event_type } },
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
                    {countLabel(count, isExact)}
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

/** Checks that there are none for certain: an incomplete count may miss some. */
function isNone({ count, is_exact }: Pick<WebhookDeadLetterSummary, 'count' | 'is_exact'>): boolean {
  return count === 0 && is_exact;
}

function countLabel(count: number, isExact: boolean): string {
  return isExact ? String(count) : `${count} or more`;
}

const BegunReplays = onDemand(async () => (await import('../replays/replays-page.tsx')).BegunReplays);

/** Deliveries that one request may name. */
const MAX_CHOSEN = 200;

interface SettleDeadLettersProps {
  readonly search: DeadLetterSearch;
  readonly chosen: ReadonlySet<string>;
  readonly summary: WebhookDeadLetterSummary;
  readonly onDone: () => void;
}

/** Replays or discards the selected dead letters, or all that match. Both continue in the background and are followed here. */
function SettleDeadLetters({ search, chosen, summary, onDone }: SettleDeadLettersProps) {
  const client = useApi();
  const parts = { touches: TOUCHED_BY_DELIVERIES, onDone };
  const replay = useWrite({ write: () => client.webhookDeadLetters.replay(whichOf(search, chosen)), ...parts });
  const discard = useWrite({ write: () => client.webhookDeadLetters.discard(whichOf(search, chosen)), ...parts });
  const isTooMany = chosen.size > MAX_CHOSEN;
  const isNarrowed = Object.keys(search).length > 0;
  const counted = countLabel(summary.count, summary.is_exact);
  const fitting = isNarrowed ? `${counted} that ${summary.count === 1 ? 'fits' : 'fit'}` : `all ${counted}`;
  const which = chosen.size > 0 ? `${chosen.size} selected` : fitting;
  const ask = (verb: 'Replay' | 'Discard', about: string, onConfirm: () => void) =>
    confirmAction({
      title: `${verb} ${which}?`,
      children: <Text size="sm">{about}</Text>,
      labels: { confirm: verb, cancel: 'Cancel' },
      confirmProps: verb === 'Discard' ? { color: 'red' } : {},
      onConfirm,
    });
  return (
    <Stack>
      {!isNone(summary) && (
        <Group>
          <Button
            disabled={isTooMany}
            loading={replay.isPending}
            onClick={() =>
              ask('Replay', 'Each gets a new schedule, the oldest first, under the same event id.', () => {
                discard.reset();
                replay.mutate();
              })
            }
          >
            Replay {which}…
          </Button>
          <Button
            variant="default"
            disabled={isTooMany}
            loading={discard.isPending}
            onClick={() =>
              ask(
                'Discard',
                'Their endpoints do not get them. They stay in the log, and can be replayed from there.',
                () => {
                  replay.reset();
                  discard.mutate();
                },
              )
            }
          >
            Discard {which}…
          </Button>
          {isTooMany && <Text size="sm">At most {MAX_CHOSEN} can be selected; narrow the list instead.</Text>}
        </Group>
      )}
      {replay.data !== undefined && <BegunReplays begun={replay.data} />}
      {discard.data !== undefined && <BegunReplays begun={discard.data} />}
    </Stack>
  );
}

interface DeadLetterListProps {
  readonly search: DeadLetterSearch;
  readonly selection: Selection;
}

function DeadLetterList({ search, selection }: DeadLetterListProps) {
  const { list, newest, rows, newer, readAgain } = useDeliveries({ ...search, status: 'dead_lettered' });
  return (
    <>
      <Group justify="space-between" mih={30}>
        {newer > 0 ? (
          <Button size="compact-xs" variant="light" onClick={() => void readAgain()}>
            Show {newer} more
          </Button>
        ) : (
          <span />
        )}
        <Polled at={newest.dataUpdatedAt} isFetching={newest.isFetching} everyMs={POLL_MS} refetch={readAgain} />
      </Group>
      <QueryView query={list} what="the list of dead letters">
        {() => (rows.length === 0 ? null : <DeliveryRows rows={rows} showsEndpoint selection={selection} />)}
      </QueryView>
      {list.hasNextPage && (
        <Group>
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Show older ones
          </Button>
        </Group>
      )}
    </>
  );
}

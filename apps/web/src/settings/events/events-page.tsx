import { Accordion, Alert, Badge, Button, Code, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { TrackingEvent } from '@tracking/client';
import { useEffect, useState } from 'react';
import { PageHeader, QueryResultPanel } from '../../app/page.tsx';
import { ConnectionBadge, useLiveEventListener } from '../../live/live-events.tsx';
import { useEnvironment } from '../../session/session.ts';
import { CurlCommand, CodeSnippet } from '../../shipment/calls/snippet.tsx';
import { EVENT_TYPE_OPTIONS, getEventLabel } from '../../values/event-types.ts';
import { SearchMultiSelect } from '../../values/search-select.tsx';
import { UserLocalTimeText } from '../../values/time.tsx';
import {
  type EventLogUrlParameters,
  MAX_LIVE_EVENTS,
  eventsQuery,
  matchesEventSearch,
  mergeLiveAndLoggedEvents,
  formatEventSubject,
  parseEventTypes,
} from './event-log.ts';

/** Page that shows the events of the environment as they are published. */
export function EventsPage() {
  const { environment: _environment, ...search } = useSearch({ from: '/signed-in/settings/events' });
  const environment = useEnvironment();
  return (
    <Stack>
      <PageHeader
        title="Events"
        about="All events of this environment, in the form that clients receive. Events are kept for 30 days."
        beside={<ConnectionBadge />}
      />
      <EventFilters search={search} />
      <EventLogPanel key={JSON.stringify([environment, search])} search={search} />
    </Stack>
  );
}

function EventFilters({ search }: { readonly search: EventLogUrlParameters }) {
  const navigate = useNavigate({ from: '/settings/events' });
  const change = (changes: EventLogUrlParameters) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true });
  return (
    <Group gap="xs" align="end" role="search" aria-label="Events">
      <SearchMultiSelect
        label="Type"
        placeholder={search.type === undefined ? 'Any' : ''}
        // The event log does not contain events about webhook endpoints.
        data={EVENT_TYPE_OPTIONS.filter(({ group }) => group !== 'Webhooks')}
        value={parseEventTypes(search.type)}
        onChange={(types) => change({ type: types.length === 0 ? undefined : types.join(',') })}
        clearable
        miw={220}
        maw={480}
      />
      <TextInput
        key={search.shipment_id}
        label="Shipment"
        placeholder="shp_…"
        defaultValue={search.shipment_id ?? ''}
        onChange={({ currentTarget: { value } }) => {
          const id = value.trim();
          if (id === '') change({ shipment_id: undefined });
          else if (/^shp_\w{20,}$/.test(id)) change({ shipment_id: id });
        }}
        w={280}
        maw="100%"
      />
    </Group>
  );
}

function EventLogPanel({ search }: { readonly search: EventLogUrlParameters }) {
  const [isPaused, setIsPaused] = useState(false);
  const log = useInfiniteQuery(eventsQuery(useEnvironment(), search));
  const live = useLiveEventLog(search, isPaused);
  const query = new URLSearchParams({
    ...(search.type !== undefined && { type: search.type }),
    ...(search.shipment_id !== undefined && { shipment_id: search.shipment_id }),
  }).toString();
  return (
    <QueryResultPanel query={log} what="events">
      {({ pages }) => (
        <Stack gap="sm">
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              leftSection={
                isPaused ? <IconPlayerPlay size={16} aria-hidden /> : <IconPlayerPause size={16} aria-hidden />
              }
              onClick={() => setIsPaused(!isPaused)}
            >
              {isPaused ? 'Resume' : 'Pause'}
            </Button>
            {isPaused && (
              <Badge variant="light" tt="none" role="status">
                {`${live.waiting} new`}
              </Badge>
            )}
          </Group>
          <EventAccordionList
            events={mergeLiveAndLoggedEvents(
              live.shown,
              pages.flatMap(({ data }) => data),
            )}
          />
          {log.hasNextPage && (
            <Button variant="default" onClick={() => void log.fetchNextPage()} loading={log.isFetchingNextPage}>
              Show older events
            </Button>
          )}
          <CurlCommand method="GET" path={`/v1/events/stream${query === '' ? '' : `?${query}`}`} />
        </Stack>
      )}
    </QueryResultPanel>
  );
}

/** A list of events, newest first. The user can expand one event to see its payload. */
function EventAccordionList({ events }: { readonly events: readonly TrackingEvent[] }) {
  const [opened, setOpened] = useState<string | null>(null);
  if (events.length === 0)
    return (
      <Alert title="No events yet">Events appear here as soon as a shipment, milestone or document changes.</Alert>
    );
  return (
    <Accordion value={opened} onChange={setOpened} variant="contained" order={2}>
      {events.map((event) => (
        <Accordion.Item key={event.id} value={event.id}>
          <Accordion.Control>
            <Group gap="xs">
              <Text size="sm" fw={600}>
                {getEventLabel(event.type)}
              </Text>
              <Text size="sm">{event.data.external_id ?? ''}</Text>
              <Text size="sm" c="dimmed" flex={1} miw={0} truncate>
                {formatEventSubject(event)}
              </Text>
              <Text size="xs" c="dimmed" component="span" mr="xs">
                <UserLocalTimeText value={event.created_at} />
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>{opened === event.id && <EventDetailsPanel event={event} />}</Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

function EventDetailsPanel({ event }: { readonly event: TrackingEvent }) {
  const { shipment_id } = event.data;
  return (
    <Stack gap="xs">
      <Group gap="md">
        <Link to="/shipments/$id" params={{ id: shipment_id }} search={{}} className="link">
          Open shipment
        </Link>
        <Code>{event.type}</Code>
        <Code>{event.id}</Code>
      </Group>
      <CodeSnippet text={JSON.stringify(event, null, 2)} what="the event" />
      <CurlCommand method="GET" path={`/v1/events/${event.id}`} />
    </Stack>
  );
}

/** Milliseconds between updates of the event list. */
const EVENT_DISPLAY_INTERVAL_MS = 200;

/**
 * Returns the events that have arrived since the page was opened, oldest first. While the page is paused, new events
 * are counted but not shown.
 */
function useLiveEventLog(search: EventLogUrlParameters, isPaused: boolean) {
  const [state, setState] = useState<{
    readonly shown: readonly TrackingEvent[];
    readonly waiting: readonly TrackingEvent[];
  }>({ shown: [], waiting: [] });
  const [gathered] = useState<{ events: TrackingEvent[]; timer?: ReturnType<typeof setTimeout> }>({ events: [] });
  useLiveEventListener((event) => {
    if (!matchesEventSearch(event, search)) return;
    gathered.events.push(event);
    gathered.timer ??= setTimeout(() => {
      delete gathered.timer;
      const latest = gathered.events.splice(0);
      setState(({ shown, waiting }) => ({ shown, waiting: [...waiting, ...latest].slice(-MAX_LIVE_EVENTS) }));
    }, EVENT_DISPLAY_INTERVAL_MS);
  });
  useEffect(() => () => clearTimeout(gathered.timer), [gathered]);
  if (!isPaused && state.waiting.length > 0)
    setState({ shown: [...state.shown, ...state.waiting].slice(-MAX_LIVE_EVENTS), waiting: [] });
  return { shown: state.shown, waiting: state.waiting.length };
}

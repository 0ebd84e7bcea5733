import { Badge, Button, Group, Stack, TextInput } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { PageHeader, Waiting } from '../../app/page.tsx';
import { LiveMark } from '../../live/live-events.tsx';
import { useEnvironment } from '../../session/session.ts';
import { Curl } from '../../shipment/calls/curl.tsx';
import { EVENT_TYPE_OPTIONS } from '../../values/event-types.ts';
import { SearchMultiSelect } from '../../values/search-select.tsx';
import { EventRows } from './event-rows.tsx';
import { newestFirst, typesOf } from './event-log.ts';
import { eventsQuery } from './event-queries.ts';
import type { EventSearch } from './event-search.ts';
import { useLiveLog } from './use-live-log.ts';

/** What clients are told, as it happens. */
export function EventsPage() {
  const { environment: _environment, ...search } = useSearch({ from: '/signed-in/settings/events' });
  const environment = useEnvironment();
  return (
    <Stack>
      <PageHeader
        title="Events"
        about="What webhooks and the stream tell, as it happens; kept for 30 days."
        beside={<LiveMark />}
      />
      <EventFilters search={search} />
      <EventLog key={JSON.stringify([environment, search])} search={search} />
    </Stack>
  );
}

function EventFilters({ search }: { readonly search: EventSearch }) {
  const navigate = useNavigate({ from: '/settings/events' });
  const change = (changes: EventSearch) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true });
  return (
    <Group gap="xs" align="end" role="search" aria-label="Events">
      <SearchMultiSelect
        label="Type"
        placeholder={search.type === undefined ? 'Any' : ''}
        // What happens to endpoints is not in the log.
        data={EVENT_TYPE_OPTIONS.filter(({ group }) => group !== 'Webhooks')}
        value={typesOf(search.type)}
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

function EventLog({ search }: { readonly search: EventSearch }) {
  const [isPaused, setIsPaused] = useState(false);
  const log = useInfiniteQuery(eventsQuery(useEnvironment(), search));
  const live = useLiveLog(search, isPaused);
  const query = new URLSearchParams({
    ...(search.type !== undefined && { type: search.type }),
    ...(search.shipment_id !== undefined && { shipment_id: search.shipment_id }),
  }).toString();
  return (
    <Waiting query={log} what="events">
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
              {isPaused ? 'Go on' : 'Pause'}
            </Button>
            {isPaused && (
              <Badge variant="light" tt="none" role="status">
                {live.waiting} waiting
              </Badge>
            )}
          </Group>
          <EventRows
            events={newestFirst(
              live.shown,
              pages.flatMap(({ data }) => data),
            )}
          />
          {log.hasNextPage && (
            <Button variant="default" onClick={() => void log.fetchNextPage()} loading={log.isFetchingNextPage}>
              Older events
            </Button>
          )}
          <Curl method="GET" path={`/v1/events/stream${query === '' ? '' : `?${query}`}`} />
        </Stack>
      )}
    </Waiting>
  );
}

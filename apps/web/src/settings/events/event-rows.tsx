import { Accordion, Alert, Code, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { TrackingEvent } from '@tracking/client';
import { useState } from 'react';
import { Curl } from '../../shipment/calls/curl.tsx';
import { Snippet } from '../../shipment/calls/snippet.tsx';
import { eventLabel } from '../../values/event-types.ts';
import { Time } from '../../values/time.tsx';
import { summaryOf } from './event-log.ts';

/** The newest first; one is opened at a time, with all that it says. */
export function EventRows({ events }: { readonly events: readonly TrackingEvent[] }) {
  const [opened, setOpened] = useState<string | null>(null);
  if (events.length === 0)
    return (
      <Alert title="Nothing happened">Events appear here as soon as a shipment, milestone or document changes.</Alert>
    );
  return (
    <Accordion value={opened} onChange={setOpened} variant="contained" order={2}>
      {events.map((event) => (
        <Accordion.Item key={event.id} value={event.id}>
          <Accordion.Control>
            <Group gap="xs">
              <Text size="sm" fw={600}>
                {eventLabel(event.type)}
              </Text>
              <Text size="sm">{event.data.external_id ?? ''}</Text>
              <Text size="sm" c="dimmed" flex={1} miw={0} truncate>
                {summaryOf(event)}
              </Text>
              <Text size="xs" c="dimmed" component="span" mr="xs">
                <Time value={event.created_at} />
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>{opened === event.id && <Opened event={event} />}</Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

function Opened({ event }: { readonly event: TrackingEvent }) {
  const { shipment_id } = event.data;
  return (
    <Stack gap="xs">
      <Group gap="md">
        <Link to="/shipments/$id" params={{ id: shipment_id }} search={{}} className="link">
          To the shipment
        </Link>
        <Code>{event.type}</Code>
        <Code>{event.id}</Code>
      </Group>
      <Snippet text={JSON.stringify(event, null, 2)} what="the event" />
      <Curl method="GET" path={`/v1/events/${event.id}`} />
    </Stack>
  );
}

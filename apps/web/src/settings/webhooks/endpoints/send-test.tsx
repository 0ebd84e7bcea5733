import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { WebhookEndpoint } from '@tracking/client';
import { type FormEvent, useState } from 'react';
import { useApiWrite } from '../../../app/write.ts';
import { useApi, useEnvironment } from '../../../session/session.ts';
import { EVENT_TYPE_OPTIONS, type EventType } from '../../../values/event-types.ts';
import { SearchableSelectField } from '../../../values/search-select.tsx';
import { AttemptList } from '../deliveries/delivery-parts.tsx';
import { DeliveryStatusBadge, DeliveryLink } from '../webhook-parts.tsx';
import { DELIVERY_QUERY_CACHE_KEYS, createDeliveryQueryOptions } from '../webhook-queries.ts';

interface SendTestProps {
  readonly endpoint: WebhookEndpoint;
  readonly onClose?: () => void;
}

/** Sends a sample event of a chosen type and shows the endpoint's response. */
export function SendTestEventForm({ endpoint, onClose }: SendTestProps) {
  const [client, environment] = [useApi(), useEnvironment()];
  const [type, setType] = useState<EventType>('milestone.recorded');
  const send = useApiWrite({
    write: () => client.webhookEndpoints.test(endpoint.id, type),
    invalidates: DELIVERY_QUERY_CACHE_KEYS,
  });
  const id = send.data?.id;
  const delivery = useQuery({ ...createDeliveryQueryOptions(environment, id ?? ''), enabled: id !== undefined });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send.mutate();
  };
  return (
    <Stack component="form" onSubmit={submit}>
      <Text size="sm">
        A sample event is sent once, even if the endpoint does not subscribe to its type. Its field “sandbox” is true.
      </Text>
      <SearchableSelectField
        label="Type"
        data={EVENT_TYPE_OPTIONS}
        value={type}
        onChange={(value) => setType((value as EventType | null) ?? type)}
        allowDeselect={false}
      />
      <Group justify="end">
        {onClose !== undefined && (
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
        )}
        <Button type="submit" loading={send.isPending}>
          Send
        </Button>
      </Group>
      {delivery.data !== undefined && (
        <Alert
          role="status"
          color={delivery.data.status === 'succeeded' ? 'green' : 'gray'}
          title={
            <Group gap="xs">
              <DeliveryLink delivery={delivery.data} />
              <DeliveryStatusBadge status={delivery.data.status} />
            </Group>
          }
        >
          {delivery.data.attempts.length === 0 ? 'Sending…' : <AttemptList attempts={delivery.data.attempts} />}
        </Alert>
      )}
    </Stack>
  );
}

import { Alert, Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import type { WebhookEndpoint } from '@tracking/client';
import { type FormEvent, useState } from 'react';
import { failureText } from '../../../app/failures.ts';
import { useWrite } from '../../../app/write.ts';
import { useApi } from '../../../session/session.ts';
import { EVENT_TYPE_OPTIONS, type EventType } from '../../../values/event-types.ts';
import { SearchMultiSelect } from '../../../values/search-select.tsx';
import { TimeRange } from '../../../values/time-fields.tsx';
import { DELIVERY_QUERY_KEYS } from '../webhook-queries.ts';
import {
  DEFAULT_REPLAY,
  REPLAYED_STATUSES,
  type ReplayValues,
  type ReplayedStatus,
  toOptions,
  replayBody,
} from '../webhook-labels.ts';

interface Props {
  readonly endpoint: WebhookEndpoint;
  readonly onClose: () => void;
  readonly onStarted: () => void;
}

export function CreateReplay({ endpoint, onClose, onStarted }: Props) {
  const client = useApi();
  const [values, setValues] = useState<ReplayValues>(DEFAULT_REPLAY);
  const start = useWrite({
    write: () => client.webhookReplays.create(endpoint.id, replayBody(values)),
    done: 'Replay started.',
    invalidates: DELIVERY_QUERY_KEYS,
    onDone: onStarted,
    showsError: () => true,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start.mutate();
  };
  return (
    <Stack component="form" onSubmit={submit}>
      {start.isError && (
        <Alert color="red" role="alert" title="Replay not started">
          {failureText(start.error, [])}
        </Alert>
      )}
      <Text size="sm">
        Replayed events keep their ids, so a receiver can skip events it has already processed. Live events are sent
        first. Test events are not replayed.
      </Text>
      <TimeRange range={values} onChange={({ since, until }) => setValues({ ...values, since, until })} />
      <Checkbox.Group
        label="Delivery status"
        value={values.statuses}
        onChange={(statuses) => setValues({ ...values, statuses: statuses as ReplayedStatus[] })}
        error={values.statuses.length === 0 ? 'Select at least one status' : undefined}
      >
        <Stack gap="xs" mt={4}>
          {toOptions(REPLAYED_STATUSES).map(({ value, label }) => (
            <Checkbox key={value} value={value} label={label} />
          ))}
        </Stack>
      </Checkbox.Group>
      <SearchMultiSelect
        label="Event types"
        placeholder={values.event_types.length === 0 ? 'All subscribed types' : ''}
        data={EVENT_TYPE_OPTIONS}
        value={values.event_types}
        onChange={(types) => setValues({ ...values, event_types: types as EventType[] })}
        clearable
      />
      <Group justify="end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" disabled={values.statuses.length === 0} loading={start.isPending}>
          Replay
        </Button>
      </Group>
    </Stack>
  );
}

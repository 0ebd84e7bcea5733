import { Alert, Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import type { WebhookEndpoint } from '@tracking/client';
import { type FormEvent, useState } from 'react';
import { formatFormFailure } from '../../../app/failures.ts';
import { useApiWrite } from '../../../app/write.ts';
import { useApi } from '../../../session/session.ts';
import { EVENT_TYPE_OPTIONS, type EventType } from '../../../values/event-types.ts';
import { SearchMultiSelect } from '../../../values/search-select.tsx';
import { TimeRangeFields } from '../../../values/time-fields.tsx';
import { DELIVERY_QUERY_CACHE_KEYS } from '../webhook-queries.ts';
import {
  DEFAULT_REPLAY_VALUES,
  REPLAYED_STATUS_CHOICE_LABELS,
  type ReplayFormValues,
  type ReplayedStatus,
  toSelectOptions,
  buildReplayBody,
} from '../webhook-labels.ts';

interface CreateReplayProps {
  readonly endpoint: WebhookEndpoint;
  readonly onClose: () => void;
  readonly onStarted: () => void;
}

export function CreateReplayForm({ endpoint, onClose, onStarted }: CreateReplayProps) {
  const client = useApi();
  const [values, setValues] = useState<ReplayFormValues>(DEFAULT_REPLAY_VALUES);
  const start = useApiWrite({
    write: () => client.webhookReplays.create(endpoint.id, buildReplayBody(values)),
    done: 'Replay started.',
    invalidates: DELIVERY_QUERY_CACHE_KEYS,
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
          {formatFormFailure(start.error, [])}
        </Alert>
      )}
      <Text size="sm">
        Replayed events keep their ids, so a receiver can skip events it has already processed. Live events are sent
        first. Test events are not replayed.
      </Text>
      <TimeRangeFields range={values} onChange={({ since, until }) => setValues({ ...values, since, until })} />
      <Checkbox.Group
        label="Delivery status"
        value={values.statuses}
        onChange={(statuses) => setValues({ ...values, statuses: statuses as ReplayedStatus[] })}
        error={values.statuses.length === 0 ? 'Select at least one status' : undefined}
      >
        <Stack gap="xs" mt={4}>
          {toSelectOptions(REPLAYED_STATUS_CHOICE_LABELS).map(({ value, label }) => (
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

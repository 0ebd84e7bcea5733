import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { formatFormFailure, getFieldErrors } from '../../app/failures.ts';
import { useApiWrite } from '../../app/write.ts';
import { useApi } from '../../session/session.ts';
import { USER_TIME_ZONE } from '../../values/zones.ts';
import { CurlCommand } from '../calls/snippet.tsx';
import { useQueryKeysOfShipmentPage } from '../concurrent-changes/guarded-write.ts';
import { useShipmentOfPage } from '../shipment-queries.ts';
import { MilestoneFormFields } from './milestone-form.tsx';
import { createEmptyMilestoneValues, toMilestoneRequestBody } from './milestone-values.ts';

/**
 * Form that records an actual, estimated or planned milestone. Two users who record milestones at the same time cause
 * no conflict.
 */
export default function RecordMilestoneForm({ onClose }: { readonly onClose: () => void }) {
  const [shipment, client, touches] = [useShipmentOfPage(), useApi(), useQueryKeysOfShipmentPage()];
  const [zone, setZone] = useState(USER_TIME_ZONE);
  const form = useForm({
    mode: 'controlled',
    initialValues: createEmptyMilestoneValues(new Date().toISOString(), USER_TIME_ZONE),
    validate: {
      code: (code) => (code === '' ? 'Choose a milestone' : null),
      occurred_at: (at) => (at === '' ? 'Enter a time' : null),
    },
  });
  const record = useApiWrite({
    write: (values: typeof form.values) => client.milestones.record(shipment.id, toMilestoneRequestBody(values, zone)),
    invalidates: touches,
    onDone: ({ label, warnings }) => {
      notifications.show({ message: `Milestone “${label}” recorded.`, color: 'green' });
      for (const { message } of warnings) notifications.show({ message, color: 'yellow', autoClose: 10_000 });
      onClose();
    },
    showsError: (error) => {
      form.setErrors(getFieldErrors(error) ?? {});
      return true;
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => record.mutate(values))}>
      <Stack>
        {shipment.status === 'cancelled' && (
          <Alert color="yellow">
            This shipment is cancelled. Milestones you record are stored, but do not change its status.
          </Alert>
        )}
        {record.isError && (
          <Alert color="red" role="alert" title="Milestone not recorded">
            {formatFormFailure(record.error, Object.keys(form.values))}
          </Alert>
        )}
        <MilestoneFormFields form={form} zone={zone} onZone={setZone} />
        <details>
          <Text component="summary" size="sm">
            Show API request
          </Text>
          <CurlCommand
            method="POST"
            path={`/v1/shipments/${shipment.id}/milestones`}
            body={toMilestoneRequestBody(form.values, zone)}
          />
        </details>
        <Group justify="end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={record.isPending}>
            Record milestone
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

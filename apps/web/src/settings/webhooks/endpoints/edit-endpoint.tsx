import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import type { WebhookEndpoint } from '@tracking/client';
import { useState } from 'react';
import { failureOf, isOutdated } from '../../../app/failures.ts';
import { useWrite } from '../../../app/write.ts';
import { useApi } from '../../../session/session.ts';
import { TOUCHED_BY_ENDPOINTS } from '../webhook-queries.ts';
import { type EndpointValues, bodyOf, changesOf, valuesOf } from './endpoint-fields.ts';
import { EndpointFormFields, showRefusal, useEndpointForm } from './endpoint-form.tsx';

const FIELDS = {
  url: 'URL',
  description: 'Description',
  event_types: 'Events',
  headers: 'Headers',
  api_version: 'Payload version',
  max_concurrency: 'Most requests at once',
} as const;

interface Props {
  readonly endpoint: WebhookEndpoint;
  readonly onClose: () => void;
}

export function EditEndpoint({ endpoint, onClose }: Props) {
  const client = useApi();
  // What the form began with: the page goes on reading the endpoint meanwhile.
  const [base, setBase] = useState(endpoint);
  const [theirs, setTheirs] = useState<WebhookEndpoint>();
  const form = useEndpointForm(valuesOf(base));
  const save = useWrite({
    write: async ({ values, over }: { readonly values: EndpointValues; readonly over: WebhookEndpoint }) => {
      try {
        return await client.webhookEndpoints.patch(endpoint.id, changesOf(base, values), {
          ifMatch: `"${over.version}"`,
        });
      } catch (error) {
        if (isOutdated(error)) setTheirs(await client.webhookEndpoints.get(endpoint.id));
        throw error;
      }
    },
    done: 'The endpoint is changed.',
    touches: TOUCHED_BY_ENDPOINTS,
    onDone: onClose,
    shows: (error) => {
      showRefusal(form, error);
      return true;
    },
  });
  const takeTheirs = (now: WebhookEndpoint) => {
    setBase(now);
    setTheirs(undefined);
    save.reset();
    form.setValues(valuesOf(now));
  };
  return (
    <form noValidate onSubmit={form.onSubmit((values) => save.mutate({ values, over: theirs ?? base }))}>
      <Stack>
        {theirs !== undefined && (
          <Conflict
            base={base}
            theirs={theirs}
            onMine={() => save.mutate({ values: form.values, over: theirs })}
            onTheirs={() => takeTheirs(theirs)}
          />
        )}
        {save.isError && !isOutdated(save.error) && (
          <Alert color="red" role="alert" title="Nothing was changed">
            {failureOf(save.error).message}
          </Alert>
        )}
        <EndpointFormFields form={form} />
        <Group justify="end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface ConflictProps {
  readonly base: WebhookEndpoint;
  readonly theirs: WebhookEndpoint;
  readonly onMine: () => void;
  readonly onTheirs: () => void;
}

/** Somebody changed it since it was opened: what, and which of the two is to hold. */
function Conflict({ base, theirs, onMine, onTheirs }: ConflictProps) {
  const changed = Object.keys(changesOf(base, valuesOf(theirs))) as (keyof typeof FIELDS)[];
  const shown = (name: keyof typeof FIELDS) => {
    const value = bodyOf(valuesOf(theirs))[name];
    if (name === 'headers') return Object.keys(theirs.headers).join(', ') || 'none';
    return Array.isArray(value) ? value.join(', ') : String(value ?? '—');
  };
  return (
    <Alert color="yellow" role="alert" title="It was changed meanwhile">
      <Stack gap="xs">
        {changed.length === 0 ? (
          <Text size="sm">None of these fields: its status, or the outcome of a challenge.</Text>
        ) : (
          <List size="sm">
            {changed.map((name) => (
              <List.Item key={name}>
                {FIELDS[name]} is now: {shown(name)}
              </List.Item>
            ))}
          </List>
        )}
        <Group>
          <Button size="xs" onClick={onMine}>
            Save what I changed
          </Button>
          <Button size="xs" variant="default" onClick={onTheirs}>
            Take theirs
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}

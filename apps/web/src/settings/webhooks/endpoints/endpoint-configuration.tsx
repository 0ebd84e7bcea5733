import { Alert, Button, Code, Group, List, Modal, Paper, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { WebhookEndpoint } from '@tracking/client';
import { useState } from 'react';
import { formatFormFailure, isOutdatedVersionError } from '../../../app/failures.ts';
import { SecretDialog, OneTimeSecret } from '../../../app/one-time-secret.tsx';
import { useApiWrite } from '../../../app/write.ts';
import { PermissionGuardedButton } from '../../../session/permissions.tsx';
import { useApi } from '../../../session/session.ts';
import { getEventLabel } from '../../../values/event-types.ts';
import { UserLocalTimeText } from '../../../values/time.tsx';
import { RotateSecretForm } from '../../settings-parts.tsx';
import { VerificationOutcomeAlert, LabeledValueBlock, LabeledValueGrid } from '../webhook-parts.tsx';
import { ENDPOINT_QUERY_KEYS } from '../webhook-queries.ts';
import {
  type EndpointFormValues,
  listHeadersDroppedByUrlChange,
  toEndpointRequestBody,
  toEndpointPatch,
  toEndpointFormValues,
} from './endpoint-fields.ts';
import { EndpointFormFields, showFieldErrors, useEndpointForm } from './endpoint-form.tsx';

export function EndpointConfigurationPanel({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const [isEditing, { open, close }] = useDisclosure(false);
  const { url, description, event_types, headers, api_version, payload, max_concurrency } = endpoint;
  const names = Object.keys(headers);
  return (
    <Stack>
      <Paper withBorder p="md" component="section" aria-label="Configuration">
        <Stack>
          <Group justify="space-between">
            <Title order={2} size="h5">
              Delivery settings
            </Title>
            <Button size="xs" variant="default" onClick={open}>
              Edit
            </Button>
          </Group>
          <LabeledValueBlock label="URL">{url}</LabeledValueBlock>
          <LabeledValueBlock label="Description">{description ?? '—'}</LabeledValueBlock>
          <LabeledValueBlock label="Events">
            <List size="sm">
              {event_types.map((type) => (
                <List.Item key={type}>{type === '*' ? 'All standard types' : getEventLabel(type)}</List.Item>
              ))}
            </List>
          </LabeledValueBlock>
          <LabeledValueBlock label="Headers">
            {names.length === 0
              ? 'No custom headers'
              : names.map((name) => (
                  <Text key={name} size="sm">
                    <Code>{name}</Code> {'(header value is hidden)'}
                  </Text>
                ))}
          </LabeledValueBlock>
          <LabeledValueGrid>
            <LabeledValueBlock label="Payload version">{api_version}</LabeledValueBlock>
            <LabeledValueBlock label="Payload form">
              {payload === 'thin' ? 'Thin: ids and changes only' : 'Full: with the resource'}
            </LabeledValueBlock>
            <LabeledValueBlock label="Max concurrency">{max_concurrency}</LabeledValueBlock>
            <LabeledValueBlock label="Created">
              <UserLocalTimeText value={endpoint.created_at} />
            </LabeledValueBlock>
            <LabeledValueBlock label="Updated">
              <UserLocalTimeText value={endpoint.updated_at} />
            </LabeledValueBlock>
          </LabeledValueGrid>
        </Stack>
      </Paper>
      <EndpointSecretsSection endpoint={endpoint} />
      {endpoint.last_verification !== null && (
        <Paper withBorder p="md" component="section" aria-label="Last verification">
          <Stack>
            <Title order={2} size="h5">
              Last verification
            </Title>
            <VerificationOutcomeAlert verification={endpoint.last_verification} />
          </Stack>
        </Paper>
      )}
      <Modal opened={isEditing} onClose={close} title="Edit endpoint" size="lg" closeOnClickOutside={false}>
        <Stack>
          <Alert color="blue">A new URL must be verified before events are sent to it.</Alert>
          <EditEndpointForm endpoint={endpoint} onClose={close} />
        </Stack>
      </Modal>
    </Stack>
  );
}

const ENDPOINT_FIELD_LABELS = {
  url: 'URL',
  description: 'Description',
  event_types: 'Events',
  headers: 'Headers',
  api_version: 'Payload version',
  payload: 'Payload form',
  max_concurrency: 'Max concurrency',
} as const;

interface EditEndpointFormProps {
  readonly endpoint: WebhookEndpoint;
  readonly onClose: () => void;
}

function EditEndpointForm({ endpoint, onClose }: EditEndpointFormProps) {
  const client = useApi();
  // Endpoint that was read when the form was opened. The form does not follow later changes.
  const [base, setBase] = useState(endpoint);
  const [theirs, setTheirs] = useState<WebhookEndpoint>();
  const form = useEndpointForm(toEndpointFormValues(base));
  const save = useApiWrite({
    write: async ({ values, over }: { readonly values: EndpointFormValues; readonly over: WebhookEndpoint }) => {
      try {
        return await client.webhookEndpoints.patch(endpoint.id, toEndpointPatch(base, values), {
          ifMatch: `"${over.version}"`,
        });
      } catch (error) {
        if (isOutdatedVersionError(error)) setTheirs(await client.webhookEndpoints.get(endpoint.id));
        throw error;
      }
    },
    done: 'Endpoint saved.',
    invalidates: ENDPOINT_QUERY_KEYS,
    onDone: onClose,
    showsError: (error) => {
      showFieldErrors(form, error);
      return true;
    },
  });
  const loadTheirs = (now: WebhookEndpoint) => {
    setBase(now);
    setTheirs(undefined);
    save.reset();
    form.setValues(toEndpointFormValues(now));
  };
  return (
    <form noValidate onSubmit={form.onSubmit((values) => save.mutate({ values, over: theirs ?? base }))}>
      <Stack>
        {theirs !== undefined && (
          <EndpointConflictPanel
            base={base}
            theirs={theirs}
            onKeepMine={() => save.mutate({ values: form.values, over: theirs })}
            onUseTheirs={() => loadTheirs(theirs)}
          />
        )}
        {save.isError && !isOutdatedVersionError(save.error) && (
          <Alert color="red" role="alert" title="Not saved">
            {formatFormFailure(save.error, Object.keys(form.values))}
          </Alert>
        )}
        <EndpointFormFields form={form} dropped={listHeadersDroppedByUrlChange(base, form.values)} />
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

interface EndpointConflictProps {
  readonly base: WebhookEndpoint;
  readonly theirs: WebhookEndpoint;
  readonly onKeepMine: () => void;
  readonly onUseTheirs: () => void;
}

/**
 * Shows the fields of the endpoint that another user has changed since the form was opened. The user chooses which
 * values to keep.
 */
function EndpointConflictPanel({ base, theirs, onKeepMine, onUseTheirs }: EndpointConflictProps) {
  const changed = Object.keys(
    toEndpointPatch(base, toEndpointFormValues(theirs)),
  ) as (keyof typeof ENDPOINT_FIELD_LABELS)[];
  const shown = (name: keyof typeof ENDPOINT_FIELD_LABELS) => {
    const value = toEndpointRequestBody(toEndpointFormValues(theirs))[name];
    if (name === 'headers') return Object.keys(theirs.headers).join(', ') || 'none';
    return Array.isArray(value) ? value.join(', ') : String(value ?? '—');
  };
  return (
    <Alert color="yellow" role="alert" title="The endpoint has changed">
      <Stack gap="xs">
        {changed.length === 0 ? (
          <Text size="sm">Only the status or the verification of the endpoint has changed, and no other field.</Text>
        ) : (
          <List size="sm">
            {changed.map((name) => (
              <List.Item key={name}>{`${ENDPOINT_FIELD_LABELS[name]} is now: ${shown(name)}`}</List.Item>
            ))}
          </List>
        )}
        <Group>
          <Button size="xs" onClick={onKeepMine}>
            Save my changes
          </Button>
          <Button size="xs" variant="default" onClick={onUseTheirs}>
            Use current values
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}

type Dialog = 'rotate' | 'reveal';
const SECRET_DIALOG_TITLES: Readonly<Record<Dialog, string>> = { rotate: 'Rotate secret', reveal: 'Reveal secret' };

/**
 * Section with the buttons to rotate and to reveal the signing secret. The page holds the secret only while a dialog
 * shows it.
 */
function EndpointSecretsSection({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  return (
    <Paper withBorder p="md" component="section" aria-label="Signing secret">
      <Stack>
        <Title order={2} size="h5">
          Signing secret
        </Title>
        <Text size="sm" c="dimmed">
          The secret signs every request so that your endpoint can verify the sender. The audit log records when you
          rotate or reveal it.
        </Text>
        <Group>
          <Button size="xs" variant="default" onClick={() => setDialog('rotate')}>
            Rotate…
          </Button>
          <PermissionGuardedButton permission="workspace:admin">
            <Button size="xs" variant="default" onClick={() => setDialog('reveal')}>
              Reveal…
            </Button>
          </PermissionGuardedButton>
        </Group>
      </Stack>
      <SecretDialog opened={dialog !== undefined} onClose={close} title={dialog && SECRET_DIALOG_TITLES[dialog]}>
        {dialog === 'rotate' && <RotateEndpointSecretForm id={endpoint.id} onClose={close} />}
        {dialog === 'reveal' && <RevealEndpointSecretPanel id={endpoint.id} onClose={close} />}
      </SecretDialog>
    </Paper>
  );
}

interface EndpointSecretDialogContentProps {
  readonly id: string;
  readonly onClose: () => void;
}

function RotateEndpointSecretForm({ id, onClose }: EndpointSecretDialogContentProps) {
  const client = useApi();
  return (
    <RotateSecretForm
      what="secret"
      label="New signing secret"
      rotate={async (seconds) =>
        (await client.webhookEndpoints.rotateSecret(id, { expires_in_seconds: seconds })).secret
      }
      touches={ENDPOINT_QUERY_KEYS}
      onClose={onClose}
    >
      The new secret signs from now on. Until the old secret expires, every request carries both signatures, so no
      delivery is rejected while you switch.
    </RotateSecretForm>
  );
}

function RevealEndpointSecretPanel({ id, onClose }: EndpointSecretDialogContentProps) {
  const client = useApi();
  const reveal = useApiWrite({ write: () => client.webhookEndpoints.revealSecret(id) });
  if (reveal.isSuccess) {
    const { secret, previous_secrets } = reveal.data;
    return (
      <Stack>
        <OneTimeSecret label="Signing secret" secret={secret} />
        {previous_secrets.map((previous) => (
          <Stack key={previous.secret} gap={2}>
            <OneTimeSecret label="Previous secret" secret={previous.secret} />
            <Text size="xs" c="dimmed">
              Valid until <UserLocalTimeText value={previous.expires_at} />.
            </Text>
          </Stack>
        ))}
        <Button onClick={onClose}>Done</Button>
      </Stack>
    );
  }
  return (
    <Stack>
      <Text size="sm">You see the secrets that are currently valid. The audit log records that you viewed them.</Text>
      <Group justify="end">
        <Button variant="default" onClick={onClose} disabled={reveal.isPending}>
          Cancel
        </Button>
        <Button onClick={() => reveal.mutate()} loading={reveal.isPending}>
          Reveal
        </Button>
      </Group>
    </Stack>
  );
}

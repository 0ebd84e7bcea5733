import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { WebhookEndpoint } from '@tracking/client';
import { useState } from 'react';
import { SecretDialog, ShownOnce } from '../../../app/shown-once.tsx';
import { useWrite } from '../../../app/write.ts';
import { May } from '../../../session/permissions.tsx';
import { useApi } from '../../../session/session.ts';
import { Time } from '../../../values/time.tsx';
import { RotateSecret } from '../../rotate-secret.tsx';
import { TOUCHED_BY_ENDPOINTS } from '../webhook-queries.ts';

type Dialog = 'rotate' | 'reveal';
const TITLES: Readonly<Record<Dialog, string>> = { rotate: 'Rotate the secret', reveal: 'Reveal the secret' };

/** What requests to the endpoint are signed with. A secret is in the page as long as its dialog is open. */
export function EndpointSecrets({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  return (
    <Paper withBorder p="md" component="section" aria-label="Signing secret">
      <Stack>
        <Title order={2} size="h5">
          Signing secret
        </Title>
        <Text size="sm" c="dimmed">
          Every request is signed with it, so that the endpoint can tell it from others. Both below stand in the audit
          log.
        </Text>
        <Group>
          <Button size="xs" variant="default" onClick={() => setDialog('rotate')}>
            Rotate…
          </Button>
          <May permission="workspace:admin">
            <Button size="xs" variant="default" onClick={() => setDialog('reveal')}>
              Reveal…
            </Button>
          </May>
        </Group>
      </Stack>
      <SecretDialog opened={dialog !== undefined} onClose={close} title={dialog && TITLES[dialog]}>
        {dialog === 'rotate' && <Rotate id={endpoint.id} onClose={close} />}
        {dialog === 'reveal' && <Reveal id={endpoint.id} onClose={close} />}
      </SecretDialog>
    </Paper>
  );
}

interface Props {
  readonly id: string;
  readonly onClose: () => void;
}

function Rotate({ id, onClose }: Props) {
  const client = useApi();
  return (
    <RotateSecret
      what="secret"
      label="New signing secret"
      rotate={async (seconds) =>
        (await client.webhookEndpoints.rotateSecret(id, { expires_in_seconds: seconds })).secret
      }
      touches={TOUCHED_BY_ENDPOINTS}
      onClose={onClose}
    >
      A new secret signs from now on. Until the old one ends every request carries a signature of each, so that no
      delivery is refused while you change it.
    </RotateSecret>
  );
}

function Reveal({ id, onClose }: Props) {
  const client = useApi();
  const reveal = useWrite({ write: () => client.webhookEndpoints.revealSecret(id) });
  if (reveal.isSuccess) {
    const { secret, previous_secrets } = reveal.data;
    return (
      <Stack>
        <ShownOnce label="Signing secret" secret={secret} />
        {previous_secrets.map((previous) => (
          <Stack key={previous.secret} gap={2}>
            <ShownOnce label="Earlier secret" secret={previous.secret} />
            <Text size="xs" c="dimmed">
              It signs until <Time value={previous.expires_at} />.
            </Text>
          </Stack>
        ))}
        <Button onClick={onClose}>Done</Button>
      </Stack>
    );
  }
  return (
    <Stack>
      <Text size="sm">The secrets that are valid now are shown to you. The audit log says that you saw them.</Text>
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

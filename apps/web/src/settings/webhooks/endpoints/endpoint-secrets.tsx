import { Button, Group, Modal, Paper, Select, Stack, Text, Title } from '@mantine/core';
import type { WebhookEndpoint } from '@tracking/client';
import { useState } from 'react';
import { ShownOnce } from '../../../app/shown-once.tsx';
import { useWrite } from '../../../app/write.ts';
import { May } from '../../../session/may.tsx';
import { useApi } from '../../../session/session.ts';
import { Time } from '../../../values/time.tsx';
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
      <Modal
        opened={dialog !== undefined}
        onClose={close}
        title={dialog && TITLES[dialog]}
        // A secret that is lost by a click beside it cannot be shown again.
        closeOnClickOutside={false}
      >
        {dialog === 'rotate' && <Rotate id={endpoint.id} onClose={close} />}
        {dialog === 'reveal' && <Reveal id={endpoint.id} onClose={close} />}
      </Modal>
    </Paper>
  );
}

const OVERLAPS = [
  { value: '0', label: 'At once' },
  { value: '3600', label: 'In an hour' },
  { value: '86400', label: 'In a day' },
  { value: '604800', label: 'In a week' },
];

interface Props {
  readonly id: string;
  readonly onClose: () => void;
}

function Rotate({ id, onClose }: Props) {
  const client = useApi();
  const [overlap, setOverlap] = useState('86400');
  const rotate = useWrite({
    write: () => client.webhookEndpoints.rotateSecret(id, { expires_in_seconds: Number(overlap) }),
    touches: TOUCHED_BY_ENDPOINTS,
  });
  if (rotate.isSuccess) {
    return (
      <Stack>
        <ShownOnce label="New signing secret" secret={rotate.data.secret} />
        <Button onClick={onClose}>Done</Button>
      </Stack>
    );
  }
  return (
    <Stack>
      <Text size="sm">
        A new secret signs from now on. Until the old one ends every request carries a signature of each, so that no
        delivery is refused while you change it.
      </Text>
      <Select
        label="The old secret ends"
        data={OVERLAPS}
        value={overlap}
        onChange={(value) => setOverlap(value ?? overlap)}
        allowDeselect={false}
      />
      <Group justify="end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button onClick={() => rotate.mutate()} loading={rotate.isPending}>
          Rotate
        </Button>
      </Group>
    </Stack>
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
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button onClick={() => reveal.mutate()} loading={reveal.isPending}>
          Reveal
        </Button>
      </Group>
    </Stack>
  );
}

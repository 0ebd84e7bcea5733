import { ActionIcon, Button, Loader, Menu, Modal, Text } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import type { WebhookEndpoint } from '@tracking/client';
import { Suspense, useState } from 'react';
import { askFirst } from '../../../app/overlays.tsx';
import { useWrite } from '../../../app/write.ts';
import { useApi } from '../../../session/session.ts';
import { TOUCHED_BY_ENDPOINTS } from '../webhook-queries.ts';
import { late } from '../../../app/lazy.tsx';

const SendTest = late(async () => ({ default: (await import('./send-test.tsx')).SendTest }));
const CreateReplay = late(async () => ({ default: (await import('../replays/create-replay.tsx')).CreateReplay }));

type Dialog = 'test' | 'replay';
const TITLES: Readonly<Record<Dialog, string>> = { test: 'Send a test event', replay: 'Replay events' };

/** What can be done with an endpoint at the moment; what cannot says what is missing. */
export function EndpointActions({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { id, status } = endpoint;
  const [client, navigate] = [useApi(), useNavigate()];
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const enable = useWrite({
    write: () => client.webhookEndpoints.enable(id),
    done: 'The endpoint is enabled: it gets what happens from now on.',
    touches: TOUCHED_BY_ENDPOINTS,
  });
  const disable = useWrite({
    write: () => client.webhookEndpoints.disable(id),
    done: 'The endpoint is disabled.',
    touches: TOUCHED_BY_ENDPOINTS,
  });
  const remove = useWrite({
    write: () => client.webhookEndpoints.delete(id),
    done: 'The endpoint is deleted.',
    touches: [['webhook-endpoints']],
    onDone: () => void navigate({ to: '/settings/webhooks' }),
  });
  const askToDisable = () =>
    askFirst({
      title: 'Disable the endpoint?',
      children: (
        <Text size="sm">
          It gets nothing until it is enabled again. What waits for it is held; what happens meanwhile is missed, and
          can be replayed.
        </Text>
      ),
      labels: { confirm: 'Disable', cancel: 'Cancel' },
      onConfirm: () => disable.mutate(),
    });
  const askToDelete = () =>
    askFirst({
      title: 'Delete the endpoint?',
      children: (
        <Text size="sm">What waits for it is discarded. Its deliveries stay in the log. This cannot be undone.</Text>
      ),
      labels: { confirm: 'Delete', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => remove.mutate(),
    });
  return (
    <>
      {status === 'enabled' && (
        <Button variant="default" onClick={() => setDialog('test')}>
          Send a test event
        </Button>
      )}
      {status === 'disabled' && (
        <Button loading={enable.isPending} onClick={() => enable.mutate()}>
          Enable
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon size={36} variant="default" aria-label="More to do with the endpoint">
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item disabled={status === 'pending_verification'} onClick={() => setDialog('test')}>
            Send a test event…
          </Menu.Item>
          <Menu.Item disabled={status !== 'enabled'} onClick={() => setDialog('replay')}>
            Replay events…
          </Menu.Item>
          {status === 'enabled' && <Menu.Item onClick={askToDisable}>Disable…</Menu.Item>}
          <Menu.Divider />
          <Menu.Item color="red" onClick={askToDelete}>
            Delete…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={dialog !== undefined} onClose={close} title={dialog && TITLES[dialog]}>
        <Suspense fallback={<Loader role="status" aria-label="Loading the form" />}>
          {dialog === 'test' && <SendTest endpoint={endpoint} onClose={close} />}
          {dialog === 'replay' && (
            <CreateReplay
              endpoint={endpoint}
              onClose={close}
              onBegun={() => {
                close();
                void navigate({
                  to: '/settings/webhooks/$endpointId',
                  params: { endpointId: id },
                  search: { tab: 'replays' },
                });
              }}
            />
          )}
        </Suspense>
      </Modal>
    </>
  );
}

import {
  ActionIcon,
  Button,
  Center,
  Code,
  Group,
  Loader,
  Menu,
  Modal,
  Stack,
  Tabs,
  Text,
  UnstyledButton,
} from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { WebhookEndpoint } from '@tracking/client';
import { Suspense, useState } from 'react';
import { CopyTextRenderPropWrapper } from '../../../app/copy.tsx';
import { createLazyComponentWithImportRetry } from '../../../app/lazy.tsx';
import { confirmAction } from '../../../app/overlays.tsx';
import { LinkAnchor, PageHeader, QueryResultPanel } from '../../../app/page.tsx';
import { useApiWrite } from '../../../app/write.ts';
import { useApi, useEnvironment } from '../../../session/session.ts';
import { EndpointStatusBadge } from '../webhook-parts.tsx';
import { ENDPOINT_QUERY_KEYS, endpointQuery } from '../webhook-queries.ts';
import type { EndpointPageUrlParameters, EndpointTab } from '../webhook-search.ts';
import { EndpointOverviewPanel } from './endpoint-overview.tsx';

// The code of a tab is loaded when the user opens the tab.
const LazyDeliveryList = createLazyComponentWithImportRetry(async () => ({
  default: (await import('../deliveries/deliveries-page.tsx')).DeliveryList,
}));
const LazyReplayList = createLazyComponentWithImportRetry(async () => ({
  default: (await import('../replays/replays-page.tsx')).ReplayList,
}));
const LazyEndpointConfiguration = createLazyComponentWithImportRetry(async () => ({
  default: (await import('./endpoint-configuration.tsx')).EndpointConfigurationPanel,
}));

const ENDPOINT_ROUTE_ID = '/signed-in/settings/webhooks/$endpointId';
const ENDPOINT_TAB_LABELS: Readonly<Record<EndpointTab, string>> = {
  overview: 'Overview',
  deliveries: 'Deliveries',
  replays: 'Replays',
  configuration: 'Configuration',
};

export function EndpointPage() {
  const { endpointId } = useParams({ from: ENDPOINT_ROUTE_ID });
  const endpoint = useQuery(endpointQuery(useEnvironment(), endpointId));
  return (
    <Stack>
      <LinkAnchor to="/settings/webhooks" size="sm">
        Webhooks
      </LinkAnchor>
      <QueryResultPanel query={endpoint} what="the endpoint">
        {(found) => <EndpointDetails endpoint={found} />}
      </QueryResultPanel>
    </Stack>
  );
}

function EndpointDetails({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { tab = 'overview', window = 'day', ...narrowed } = useSearch({ from: ENDPOINT_ROUTE_ID });
  const navigate = useNavigate({ from: '/settings/webhooks/$endpointId' });
  const applySearch = (search: EndpointPageUrlParameters) => void navigate({ search, replace: true });
  const { id, url, description, status } = endpoint;
  return (
    <>
      <PageHeader
        title={description ?? url}
        beside={<EndpointStatusBadge status={status} />}
        about={
          <Group gap="xs">
            {description !== null && <Text size="sm">{url}</Text>}
            <CopyTextRenderPropWrapper value={id}>
              {({ copied, copy }) => (
                <UnstyledButton onClick={copy} aria-label={copied ? 'Copied' : `Copy id ${id}`}>
                  <Code>{copied ? 'Copied' : id}</Code>
                </UnstyledButton>
              )}
            </CopyTextRenderPropWrapper>
          </Group>
        }
        actions={<EndpointActions endpoint={endpoint} />}
      />
      <Tabs value={tab} onChange={(to) => applySearch({ tab: to as EndpointTab })} keepMounted={false}>
        <Tabs.List aria-label="Endpoint sections">
          {(Object.keys(ENDPOINT_TAB_LABELS) as EndpointTab[]).map((each) => (
            <Tabs.Tab key={each} value={each}>
              {ENDPOINT_TAB_LABELS[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Suspense fallback={<TabLoadingIndicator />}>
          <Tabs.Panel value="overview" pt="md">
            <EndpointOverviewPanel
              endpoint={endpoint}
              window={window}
              onWindow={(to) => applySearch({ tab, window: to })}
            />
          </Tabs.Panel>
          <Tabs.Panel value="deliveries" pt="md">
            <LazyDeliveryList
              search={{ ...narrowed, endpoint_id: id }}
              onChange={({ endpoint_id: _id, ...search }) => applySearch({ ...search, tab: 'deliveries' })}
              isSingleEndpoint
            />
          </Tabs.Panel>
          <Tabs.Panel value="replays" pt="md">
            <LazyReplayList endpoint={endpoint} />
          </Tabs.Panel>
          <Tabs.Panel value="configuration" pt="md">
            <LazyEndpointConfiguration endpoint={endpoint} />
          </Tabs.Panel>
        </Suspense>
      </Tabs>
    </>
  );
}

function TabLoadingIndicator() {
  return (
    <Center p="xl">
      <Loader role="status" aria-label="Loading this section" />
    </Center>
  );
}

const LazySendTestEventForm = createLazyComponentWithImportRetry(async () => ({
  default: (await import('./send-test.tsx')).SendTestEventForm,
}));
const LazyCreateReplayForm = createLazyComponentWithImportRetry(async () => ({
  default: (await import('../replays/create-replay.tsx')).CreateReplayForm,
}));

type Dialog = 'test' | 'replay';
const FORM_DIALOG_TITLES: Readonly<Record<Dialog, string>> = { test: 'Send test event', replay: 'Replay events' };

/** Menu with the actions on an endpoint. */
function EndpointActions({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { id, status } = endpoint;
  const [client, navigate] = [useApi(), useNavigate()];
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const enable = useApiWrite({
    write: () => client.webhookEndpoints.enable(id),
    done: 'Endpoint enabled. It receives new events from now on.',
    invalidates: ENDPOINT_QUERY_KEYS,
  });
  const disable = useApiWrite({
    write: () => client.webhookEndpoints.disable(id),
    done: 'Endpoint disabled.',
    invalidates: ENDPOINT_QUERY_KEYS,
  });
  const remove = useApiWrite({
    write: () => client.webhookEndpoints.delete(id),
    done: 'Endpoint deleted.',
    invalidates: [['webhook-endpoints']],
    onDone: () => void navigate({ to: '/settings/webhooks' }),
  });
  const confirmDisable = () =>
    confirmAction({
      title: 'Disable the endpoint?',
      children: (
        <Text size="sm">
          The endpoint receives nothing until you enable it again. Pending deliveries are held. New events are missed
          and can be replayed later.
        </Text>
      ),
      labels: { confirm: 'Disable', cancel: 'Cancel' },
      onConfirm: () => disable.mutate(),
    });
  const confirmDelete = () =>
    confirmAction({
      title: 'Delete the endpoint?',
      children: (
        <Text size="sm">Pending deliveries are discarded. Past deliveries stay in the log. This cannot be undone.</Text>
      ),
      labels: { confirm: 'Delete', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => remove.mutate(),
    });
  return (
    <>
      {status === 'enabled' && (
        <Button variant="default" onClick={() => setDialog('test')}>
          Send test event
        </Button>
      )}
      {status === 'disabled' && (
        <Button loading={enable.isPending} onClick={() => enable.mutate()}>
          Enable
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon size={36} variant="default" aria-label="More endpoint actions">
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item disabled={status === 'pending_verification'} onClick={() => setDialog('test')}>
            Send test event…
          </Menu.Item>
          <Menu.Item disabled={status !== 'enabled'} onClick={() => setDialog('replay')}>
            Replay events…
          </Menu.Item>
          {status === 'enabled' && <Menu.Item onClick={confirmDisable}>Disable…</Menu.Item>}
          <Menu.Divider />
          <Menu.Item color="red" onClick={confirmDelete}>
            Delete…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={dialog !== undefined} onClose={close} title={dialog && FORM_DIALOG_TITLES[dialog]}>
        <Suspense fallback={<Loader role="status" aria-label="Loading the form" />}>
          {dialog === 'test' && <LazySendTestEventForm endpoint={endpoint} onClose={close} />}
          {dialog === 'replay' && (
            <LazyCreateReplayForm
              endpoint={endpoint}
              onClose={close}
              onStarted={() => {
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

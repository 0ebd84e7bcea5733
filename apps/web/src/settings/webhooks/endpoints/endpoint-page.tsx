import { Center, Code, Group, Loader, Stack, Tabs, Text, UnstyledButton } from '@mantine/core';
import { LinkAnchor } from '../../../app/links.tsx';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { WebhookEndpoint } from '@tracking/client';
import { Suspense } from 'react';
import { Copy } from '../../../app/copy.tsx';
import { PageHeader, Waiting } from '../../../app/page.tsx';
import { useEnvironment } from '../../../session/session.ts';
import { EndpointBadge } from '../badges.tsx';
import { endpointQuery } from '../webhook-queries.ts';
import { EndpointActions } from './endpoint-actions.tsx';
import { EndpointOverview } from './endpoint-overview.tsx';
import type { EndpointSearch, EndpointTab } from './endpoint-search.ts';
import { late } from '../../../app/lazy.tsx';

// Each is loaded when it is looked at.
const Deliveries = late(async () => ({ default: (await import('../deliveries/deliveries.tsx')).Deliveries }));
const Replays = late(async () => ({ default: (await import('../replays/replays.tsx')).Replays }));
const EndpointConfiguration = late(async () => ({
  default: (await import('./endpoint-configuration.tsx')).EndpointConfiguration,
}));

const FROM = '/signed-in/settings/webhooks/$endpointId';
const TABS: Readonly<Record<EndpointTab, string>> = {
  overview: 'Overview',
  deliveries: 'Deliveries',
  replays: 'Replays',
  configuration: 'Configuration',
};

export function EndpointPage() {
  const { endpointId } = useParams({ from: FROM });
  const endpoint = useQuery(endpointQuery(useEnvironment(), endpointId));
  return (
    <Stack>
      <LinkAnchor to="/settings/webhooks" size="sm">
        Webhooks
      </LinkAnchor>
      <Waiting query={endpoint} what="the endpoint">
        {(found) => <Endpoint endpoint={found} />}
      </Waiting>
    </Stack>
  );
}

function Endpoint({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { tab = 'overview', window = 'day', ...narrowed } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: '/settings/webhooks/$endpointId' });
  const go = (search: EndpointSearch) => void navigate({ search, replace: true });
  const { id, url, description, status } = endpoint;
  return (
    <>
      <PageHeader
        title={description ?? url}
        beside={<EndpointBadge status={status} />}
        about={
          <Group gap="xs">
            {description !== null && <Text size="sm">{url}</Text>}
            <Copy value={id}>
              {({ copied, copy }) => (
                <UnstyledButton onClick={copy} aria-label={copied ? 'Copied' : `Copy the id ${id}`}>
                  <Code>{copied ? 'Copied' : id}</Code>
                </UnstyledButton>
              )}
            </Copy>
          </Group>
        }
        actions={<EndpointActions endpoint={endpoint} />}
      />
      <Tabs value={tab} onChange={(to) => go({ tab: to as EndpointTab })} keepMounted={false}>
        <Tabs.List aria-label="Of the endpoint">
          {(Object.keys(TABS) as EndpointTab[]).map((each) => (
            <Tabs.Tab key={each} value={each}>
              {TABS[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Suspense fallback={<Loading />}>
          <Tabs.Panel value="overview" pt="md">
            <EndpointOverview endpoint={endpoint} window={window} onWindow={(to) => go({ tab, window: to })} />
          </Tabs.Panel>
          <Tabs.Panel value="deliveries" pt="md">
            <Deliveries
              search={{ ...narrowed, endpoint_id: id }}
              onChange={({ endpoint_id: _id, ...search }) => go({ ...search, tab: 'deliveries' })}
              ofOne
            />
          </Tabs.Panel>
          <Tabs.Panel value="replays" pt="md">
            <Replays endpoint={endpoint} />
          </Tabs.Panel>
          <Tabs.Panel value="configuration" pt="md">
            <EndpointConfiguration endpoint={endpoint} />
          </Tabs.Panel>
        </Suspense>
      </Tabs>
    </>
  );
}

function Loading() {
  return (
    <Center p="xl">
      <Loader role="status" aria-label="Loading this part" />
    </Center>
  );
}

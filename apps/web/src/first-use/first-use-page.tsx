import { Alert, Anchor, Button, Code, Group, List, Loader, Stack, Text, ThemeIcon } from '@mantine/core';
import { IconCheck, IconCircleDashed, IconSparkles } from '@tabler/icons-react';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, Suspense, useState } from 'react';
import { CopyTextRenderPropWrapper } from '../app/copy.tsx';
import { createLazyComponentWithImportRetry } from '../app/lazy.tsx';
import { PageHeader } from '../app/page.tsx';
import { SecretDialog } from '../app/one-time-secret.tsx';
import { useApiWrite } from '../app/write.ts';
import { useLiveEventListener } from '../live/live-events.tsx';
import { type Environment, getApiClient } from '../session/api.ts';
import { PermissionGuardedButton } from '../session/permissions.tsx';
import { useEnvironment, useHasPermission } from '../session/session.ts';
import classes from './first-use-page.module.css';
import { buildSampleJourneys } from './sample-journeys.ts';

export function FirstUsePage() {
  const environment = useEnvironment();
  return (
    <Stack maw={760}>
      <PageHeader
        title="Get started"
        about={`Create a key, send a shipment and receive your first event in the ${environment} environment. Live and test share no data.`}
      />
      <FirstStepsList />
    </Stack>
  );
}

const LazyCreateKey = createLazyComponentWithImportRetry(async () => ({
  default: (await import('../settings/api-keys/api-keys-page.tsx')).CreateKeyForm,
}));

/**
 * The first steps in a new workspace: create a key, send a shipment, and receive a webhook. A step is marked as done
 * when its result exists, no matter how it was created.
 */
export function FirstStepsList() {
  const [environment, queries, mayWebhooks] = [useEnvironment(), useQueryClient(), useHasPermission('webhooks:manage')];
  useLiveEventListener(() => void queries.invalidateQueries({ queryKey: ['first-shipment', environment] }));
  const keys = useQuery(firstApiKeyQuery(environment));
  const shipments = useQuery(firstShipmentQuery(environment));
  const webhooks = useQuery({ ...webhookSetupProgressQuery(environment), enabled: mayWebhooks });
  const [makesKey, setMakesKey] = useState(false);
  // The steps are hidden until their state is loaded, so that no completed step appears as open.
  if ([keys, shipments, webhooks].some(({ isLoading }) => isLoading))
    return <Loader aria-label="Loading the first steps" />;
  const [key, shipment, webhook] = [keys.data, shipments.data, webhooks.data];
  return (
    <Stack>
      <List listStyleType="none" spacing="md" classNames={{ itemWrapper: classes['step'], itemLabel: classes['text'] }}>
        <SetupStepItem title="Create key" isDone={Boolean(key)}>
          {key ? (
            <Text size="sm">
              “{key.name}”, <Code>{`${key.prefix}…${key.last_four}`}</Code>
            </Text>
          ) : (
            <>
              <Text size="sm">Your system authenticates with this key. The key is shown only once.</Text>
              <Button size="xs" onClick={() => setMakesKey(true)}>
                Create key
              </Button>
            </>
          )}
        </SetupStepItem>
        <SetupStepItem title="Send the first shipment" isDone={Boolean(shipment)}>
          {shipment ? (
            <Anchor component={Link} to="/shipments/$id" params={{ id: shipment.id } as never} size="sm">
              {shipment.external_id ?? shipment.id}
            </Anchor>
          ) : (
            <FirstShipmentCurlPanel />
          )}
        </SetupStepItem>
        {mayWebhooks && (
          <SetupStepItem title="Get webhooks" isDone={Boolean(webhook?.delivery)}>
            {webhook?.delivery ? (
              <Text size="sm">
                The endpoint received its first event: <Code>{webhook.delivery.event_type}</Code>
              </Text>
            ) : (
              <AddEndpointLink url={webhook?.endpoint?.url} />
            )}
          </SetupStepItem>
        )}
      </List>
      {environment === 'test' && <SampleShipmentsHint />}
      <SecretDialog opened={makesKey} onClose={() => setMakesKey(false)} title="Create key">
        <Suspense fallback={null}>
          <LazyCreateKey onClose={() => setMakesKey(false)} />
        </Suspense>
      </SecretDialog>
    </Stack>
  );
}

function SetupStepItem({ title, isDone, children }: { title: string; isDone: boolean; children: ReactNode }) {
  return (
    <List.Item
      aria-label={`${title}: ${isDone ? 'done' : 'to do'}`}
      icon={
        <ThemeIcon color={isDone ? 'green' : 'gray'} variant={isDone ? 'filled' : 'light'} radius="xl">
          {isDone ? <IconCheck size={16} aria-hidden /> : <IconCircleDashed size={16} aria-hidden />}
        </ThemeIcon>
      }
    >
      <Stack gap={6} align="start">
        <Text fw={600}>{title}</Text>
        {children}
      </Stack>
    </List.Item>
  );
}

function AddEndpointLink({ url }: { readonly url: string | undefined }) {
  return (
    <>
      <Text size="sm">
        {url === undefined
          ? 'A webhook endpoint is an HTTPS URL of your server that receives every event.'
          : `${url} is not ready yet. Verify it and send it a test event.`}
      </Text>
      <Button component={Link} to="/settings/webhooks" size="xs" variant="default">
        {url === undefined ? 'Add endpoint' : 'Continue setup'}
      </Button>
    </>
  );
}

function SampleShipmentsHint() {
  return (
    <Alert color="gray" title="No shipments of your own yet?">
      <Stack align="start" gap="xs">
        <Text size="sm">Add sample journeys by sea, air and road to see the pages with data.</Text>
        <CreateSamplesButton />
      </Stack>
    </Alert>
  );
}

function FirstShipmentCurlPanel() {
  const curl = [
    `curl ${globalThis.location.origin}/v1/shipments \\`,
    '  -H "Authorization: Bearer $KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '{"external_id": "PO-1001", "mode": "ocean",`,
    `    "origin_port": "CNSHA", "destination_port": "NLRTM"}'`,
  ].join('\n');
  const mayWrite = useHasPermission('shipments:write');
  return (
    <>
      <Text size="sm">
        Run this command in a terminal. $KEY must contain your API key. The shipment appears here as soon as it is
        stored.
      </Text>
      <Code block tabIndex={0} aria-label="Command" className={classes['command']}>
        {curl}
      </Code>
      <Group gap="xs">
        <CopyTextRenderPropWrapper value={curl}>
          {({ copied, copy }) => (
            <Button size="xs" variant="default" onClick={copy}>
              {copied ? 'Copied' : 'Copy command'}
            </Button>
          )}
        </CopyTextRenderPropWrapper>
        {mayWrite && (
          <Button component={Link} to="/shipments/new" size="xs" variant="default">
            Use the shipment form
          </Button>
        )}
      </Group>
    </>
  );
}

/** Button that adds sample shipments to the test environment. Adding the samples again creates no duplicates. */
function CreateSamplesButton() {
  const fill = useApiWrite({
    write: async () => {
      const { shipments, milestones } = buildSampleJourneys(new Date());
      const made = await getApiClient('test').shipments.upsertMany(shipments);
      const recorded = await getApiClient('test').milestones.recordMany(milestones);
      const refused = [...made.data, ...recorded.data].find(({ error }) => error !== undefined);
      if (refused?.error !== undefined) throw new Error(refused.error.message);
      return made.data.filter(({ status }) => status === 201).length;
    },
    done: (made) => (made === 0 ? 'The sample journeys already exist.' : `${made} sample journeys added.`),
    invalidates: [
      ['shipments', 'test'],
      ['first-shipment', 'test'],
    ],
  });
  return (
    <PermissionGuardedButton permission="shipments:write">
      <Button
        variant="default"
        leftSection={<IconSparkles size={16} aria-hidden />}
        loading={fill.isPending}
        onClick={() => fill.mutate()}
      >
        Add sample journeys
      </Button>
    </PermissionGuardedButton>
  );
}

/** Milliseconds between reads of data that has no events, such as API keys. */
const POLL_INTERVAL_MS = 3_000;

const firstApiKeyQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['api-keys', environment, 'first'],
    queryFn: async ({ signal }) => {
      const keys = await getApiClient(environment).keys.list({ limit: 200 }, { signal }).toArray();
      return keys.find((key) => key.environment === environment && key.revoked_at === null) ?? null;
    },
    refetchInterval: ({ state }) => (state.data ? false : POLL_INTERVAL_MS),
  });

const firstShipmentQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['first-shipment', environment],
    queryFn: async ({ signal }) =>
      (await getApiClient(environment).shipments.list({ limit: 1, sort: 'created_at' }, { signal }).page()).data[0] ??
      null,
  });

/** Reads the latest endpoint and the latest successful delivery, which show how far the setup of webhooks is. */
const webhookSetupProgressQuery = (environment: Environment) =>
  queryOptions({
    queryKey: ['first-webhook', environment],
    queryFn: async ({ signal }) => {
      const { webhookEndpoints, webhookDeliveries } = getApiClient(environment);
      const [endpoints, deliveries] = await Promise.all([
        webhookEndpoints.list({ limit: 1 }, { signal }).page(),
        webhookDeliveries.list({ limit: 1, status: ['succeeded'] }, { signal }).page(),
      ]);
      return { endpoint: endpoints.data[0] ?? null, delivery: deliveries.data[0] ?? null };
    },
    refetchInterval: ({ state }) => (state.data?.delivery ? false : POLL_INTERVAL_MS),
  });

import { Alert, Code, Paper, Stack, Tabs, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { AnswerOf, WebhookDelivery, WebhookEndpoint } from '@tracking/client';
import { LinkAnchor, PageHeader, QueryResultPanel } from '../../../app/page.tsx';
import { useEnvironment } from '../../../session/session.ts';
import { getEventLabel } from '../../../values/event-types.ts';
import { UserLocalTimeText } from '../../../values/time.tsx';
import { DeliveryStatusBadge, LabeledValueBlock, LabeledValueGrid } from '../webhook-parts.tsx';
import { createDeliveryQueryOptions, endpointsQuery } from '../webhook-queries.ts';
import { getFailureReasonLabel } from '../webhook-labels.ts';
import { AttemptList, DeliveryActions, HeaderList } from './delivery-parts.tsx';

type Detail = AnswerOf<'getWebhookDelivery'>;

export function DeliveryDetailsPage() {
  const { deliveryId } = useParams({ from: '/signed-in/settings/webhooks/deliveries/$deliveryId' });
  const delivery = useQuery(createDeliveryQueryOptions(useEnvironment(), deliveryId));
  return (
    <Stack>
      <LinkAnchor to="/settings/webhooks/deliveries" size="sm">
        Deliveries
      </LinkAnchor>
      <QueryResultPanel query={delivery} what="the delivery">
        {(found) => <DeliveryDetails delivery={found} />}
      </QueryResultPanel>
    </Stack>
  );
}

function DeliveryDetails({ delivery }: { readonly delivery: Detail }) {
  const endpoints = useQuery(endpointsQuery(useEnvironment()));
  const endpoint = endpoints.data?.find(({ id }) => id === delivery.endpoint_id);
  const { event_id, event_type, status, last_error, attempts } = delivery;
  return (
    <>
      <PageHeader
        title={getEventLabel(event_type)}
        beside={<DeliveryStatusBadge status={status} />}
        about={<Code>{delivery.id}</Code>}
        actions={<DeliveryActions delivery={delivery} />}
      />
      {status === 'dead_lettered' && (
        <Alert color="red" title="Failed permanently">
          {last_error !== null && `${getFailureReasonLabel(last_error.code)}: ${last_error.message} `}
          No more attempts are scheduled. When the endpoint responds again, retry the delivery or replay all dead
          letters of the endpoint.
        </Alert>
      )}
      <Paper withBorder p="md">
        <LabeledValueGrid>
          <LabeledValueBlock label="Endpoint">
            {endpoint === undefined ? (
              delivery.endpoint_id
            ) : (
              <LinkAnchor to="/settings/webhooks/$endpointId" params={{ endpointId: endpoint.id }} size="sm">
                {endpoint.description ?? endpoint.url}
              </LinkAnchor>
            )}
          </LabeledValueBlock>
          <LabeledValueBlock label="Created at">
            <UserLocalTimeText value={delivery.created_at} />
          </LabeledValueBlock>
          <LabeledValueBlock label="Next attempt">
            <UserLocalTimeText value={delivery.next_attempt_at} />
          </LabeledValueBlock>
          <LabeledValueBlock label="Completed at">
            <UserLocalTimeText value={delivery.completed_at} />
          </LabeledValueBlock>
          <LabeledValueBlock label="Event">{event_id}</LabeledValueBlock>
        </LabeledValueGrid>
      </Paper>
      <Paper withBorder p="md" component="section" aria-label="Attempts">
        <Stack>
          <Title order={2} size="h5">
            {`Attempts (${delivery.attempts_count})`}
          </Title>
          {attempts.length === 0 ? (
            <Text size="sm" c="dimmed">
              No attempts yet.
            </Text>
          ) : (
            <AttemptList attempts={attempts} />
          )}
        </Stack>
      </Paper>
      <Paper withBorder p="md" component="section" aria-label="Request">
        <Tabs defaultValue="payload">
          <Tabs.List aria-label="Request contents">
            <Tabs.Tab value="payload">Payload</Tabs.Tab>
            <Tabs.Tab value="headers">Headers</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="payload" pt="sm">
            <Code block tabIndex={0} role="region" aria-label="Payload">
              {JSON.stringify(delivery.payload, undefined, 2)}
            </Code>
          </Tabs.Panel>
          <Tabs.Panel value="headers" pt="sm">
            <HeaderList headers={describeDeliveryRequestHeaders(delivery, endpoint)} />
          </Tabs.Panel>
        </Tabs>
      </Paper>
    </>
  );
}

/**
 * Describes the request headers of a delivery. Secret values and values that differ between attempts are replaced by a
 * description.
 */
function describeDeliveryRequestHeaders(
  { event_id, event_type }: Pick<WebhookDelivery, 'event_id' | 'event_type'>,
  endpoint: Pick<WebhookEndpoint, 'headers'> | undefined,
): Readonly<Record<string, string>> {
  const own = Object.keys(endpoint?.headers ?? {}).map((name) => [name, '(your value, hidden)']);
  return {
    'Content-Type': 'application/json',
    'Service-Event-Id': event_id,
    'Service-Event-Type': event_type,
    'Service-Signature': 't=…,v1=… (new for each attempt)',
    'webhook-id': event_id,
    'webhook-timestamp': '(time of the attempt)',
    'webhook-signature': 'v1,… (new for each attempt)',
    traceparent: '(of the request that caused the event)',
    ...(Object.fromEntries(own) as Record<string, string>),
  };
}

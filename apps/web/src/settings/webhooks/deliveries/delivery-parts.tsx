import { Badge, Button, Code, Group, Stack, Table, Text } from '@mantine/core';
import type { AnswerOf, WebhookDelivery } from '@tracking/client';
import { confirmAction } from '../../../app/overlays.tsx';
import { useApiWrite } from '../../../app/write.ts';
import { useApi } from '../../../session/session.ts';
import { UserLocalTimeText } from '../../../values/time.tsx';
import { KEYBOARD_SCROLLABLE_PROPS } from '../webhook-parts.tsx';
import { DELIVERY_QUERY_CACHE_KEYS } from '../webhook-queries.ts';
import { getFailureReasonLabel } from '../webhook-labels.ts';

type Attempt = AnswerOf<'getWebhookDelivery'>['attempts'][number];

/** The attempts of a delivery with the responses of the endpoint, latest attempt first. */
export function AttemptList({ attempts }: { readonly attempts: readonly Attempt[] }) {
  return (
    <Stack gap="md" component="ol" m={0} p={0} className="plain-list">
      {attempts.toReversed().map((attempt) => (
        <AttemptItem key={attempt.number} attempt={attempt} />
      ))}
    </Stack>
  );
}

function AttemptItem({ attempt }: { readonly attempt: Attempt }) {
  const { number, at, duration_ms, status_code, error, response, manual, resent } = attempt;
  return (
    <Stack gap={4} component="li">
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {`Attempt ${number}`}
        </Text>
        <Badge variant="light" tt="none" color={error === null ? 'green' : 'red'} autoContrast>
          {status_code ?? getFailureReasonLabel(error?.code ?? '')}
        </Badge>
        <Text size="xs" c="dimmed">
          <UserLocalTimeText value={at} seconds />
          {` · ${duration_ms} ms`}
          {manual && ' · manual'}
          {resent && ' · resent on a new connection'}
        </Text>
      </Group>
      {error !== null && <Text size="sm">{error.message}</Text>}
      {response !== null && (
        <details>
          <summary>
            <Text span size="sm">
              Response
            </Text>
          </summary>
          <HeaderList headers={response.headers} />
          {response.body === '' ? (
            <Text size="sm" c="dimmed">
              The response has no body.
            </Text>
          ) : (
            <Code block tabIndex={0} role="region" aria-label={`Response body of attempt ${number}`} mah={320}>
              {response.body}
            </Code>
          )}
        </details>
      )}
    </Stack>
  );
}

export function HeaderList({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  return (
    <Table.ScrollContainer minWidth={320} scrollAreaProps={KEYBOARD_SCROLLABLE_PROPS}>
      <Table layout="auto" verticalSpacing={4}>
        <Table.Tbody>
          {Object.entries(headers).map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" w={200}>
                <Text size="xs" fw={600}>
                  {name}
                </Text>
              </Table.Th>
              <Table.Td>
                <Text size="xs" ff="monospace">
                  {value}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Checks if a delivery can be discarded. Succeeded and discarded deliveries cannot be discarded. */
export const canDiscardDelivery = ({ status }: Pick<WebhookDelivery, 'status'>) =>
  status !== 'succeeded' && status !== 'discarded';

export function confirmDeliveryDiscard(onConfirm: () => void, count = 1): void {
  confirmAction({
    title: count === 1 ? 'Discard the delivery?' : `Discard ${count} deliveries?`,
    children: (
      <Text size="sm">
        The event is not sent to the endpoint. The delivery stays in the log, where you can replay it.
      </Text>
    ),
    labels: { confirm: count === 1 ? 'Discard delivery' : `Discard ${count} deliveries`, cancel: 'Cancel' },
    confirmProps: { color: 'red' },
    onConfirm,
  });
}

export function DeliveryActions({ delivery }: { readonly delivery: WebhookDelivery }) {
  const { retry, discard } = useDeliveryMutations();
  const { id } = delivery;
  return (
    <>
      {canDiscardDelivery(delivery) && (
        <Button
          variant="default"
          loading={discard.isPending}
          onClick={() => confirmDeliveryDiscard(() => discard.mutate(id))}
        >
          Discard…
        </Button>
      )}
      <Button loading={retry.isPending} onClick={() => retry.mutate(id)}>
        {delivery.status === 'succeeded' ? 'Send again' : 'Retry now'}
      </Button>
    </>
  );
}

/** Returns the mutations that retry and discard a delivery. */
export function useDeliveryMutations() {
  const client = useApi();
  const retry = useApiWrite({
    write: (id: string) => client.webhookDeliveries.retry(id),
    done: 'Delivery scheduled for another attempt.',
    invalidates: DELIVERY_QUERY_CACHE_KEYS,
  });
  const discard = useApiWrite({
    write: (id: string) => client.webhookDeliveries.discard(id),
    done: 'Delivery discarded.',
    invalidates: DELIVERY_QUERY_CACHE_KEYS,
  });
  return { retry, discard };
}

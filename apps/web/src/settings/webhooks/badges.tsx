import { Badge } from '@mantine/core';
import type { WebhookEndpoint } from '@tracking/client';
import type { DeliveryStatus } from './delivery-values.ts';
import { DELIVERY_STATUSES, ENDPOINT_STATUSES } from './webhook-words.ts';

interface Words {
  readonly label: string;
  readonly color: string;
}

export function WordsBadge({ words: { label, color } }: { readonly words: Words }) {
  return (
    <Badge color={color} variant="light" tt="none" miw="max-content" autoContrast>
      {label}
    </Badge>
  );
}

export function DeliveryBadge({ status }: { readonly status: DeliveryStatus }) {
  return <WordsBadge words={DELIVERY_STATUSES[status]} />;
}

export function EndpointBadge({ status }: Pick<WebhookEndpoint, 'status'>) {
  return <WordsBadge words={ENDPOINT_STATUSES[status]} />;
}

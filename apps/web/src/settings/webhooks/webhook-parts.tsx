import { ActionIcon, Alert, Badge, Group, Text, Tooltip } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import type { WebhookDelivery, WebhookEndpoint } from '@tracking/client';
import type { ReactNode } from 'react';
import { LinkAnchor } from '../../app/page.tsx';
import { getEventLabel } from '../../values/event-types.ts';
import { UserLocalTimeText } from '../../values/time.tsx';
import classes from './webhook-parts.module.css';
import type { DeliveryStatus } from './webhook-search.ts';
import { DELIVERY_STATUS_LABELS, ENDPOINT_STATUS_LABELS, getFailureReasonLabel } from './webhook-labels.ts';

interface StatusLabelAndColor {
  readonly label: string;
  readonly color: string;
}

export function StatusBadge({ words: { label, color } }: { readonly words: StatusLabelAndColor }) {
  return (
    <Badge color={color} variant="light" tt="none" miw="max-content" autoContrast>
      {label}
    </Badge>
  );
}

export function DeliveryStatusBadge({ status }: { readonly status: DeliveryStatus }) {
  return <StatusBadge words={DELIVERY_STATUS_LABELS[status]} />;
}

export function EndpointStatusBadge({ status }: Pick<WebhookEndpoint, 'status'>) {
  return <StatusBadge words={ENDPOINT_STATUS_LABELS[status]} />;
}

/** A grid of values, each with its label. */
export function LabeledValueGrid({ children }: { readonly children: ReactNode }) {
  return <div className={classes['facts']}>{children}</div>;
}

/** A value with its label above it. */
export function LabeledValueBlock({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className={classes['fact']}>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text component="div" size="sm" fw={600}>
        {children}
      </Text>
    </div>
  );
}

const TIME_OF_DAY_FORMAT = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

interface LastUpdatedProps {
  /** Time of the last successful read, in epoch milliseconds. */
  readonly at: number;
  readonly isFetching: boolean;
  readonly everyMs: number;
  readonly refetch: () => unknown;
}

/** Shows when polled data was last read, with a button to read it again. */
export function LastUpdatedIndicator({ at, isFetching, everyMs, refetch }: LastUpdatedProps) {
  if (at === 0) return null;
  return (
    <Group gap={4} wrap="nowrap">
      <Text size="xs" c="dimmed">
        {`Updated ${TIME_OF_DAY_FORMAT.format(at)}, refreshed every ${everyMs / 1_000} s`}
      </Text>
      <Tooltip label="Refresh">
        <ActionIcon
          size="sm"
          variant="subtle"
          color="gray"
          loading={isFetching}
          onClick={() => void refetch()}
          aria-label="Refresh"
        >
          <IconRefresh size={14} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}

export function DeliveryLink({ delivery }: { readonly delivery: Pick<WebhookDelivery, 'id' | 'event_type'> }) {
  return (
    <LinkAnchor to="/settings/webhooks/deliveries/$deliveryId" params={{ deliveryId: delivery.id }} size="sm" fw={600}>
      {getEventLabel(delivery.event_type)}
    </LinkAnchor>
  );
}

/**
 * Shows the result of the endpoint's last verification. If the verification failed, the endpoint's response is shown.
 */
export function VerificationOutcomeAlert({
  verification,
}: {
  readonly verification: WebhookEndpoint['last_verification'];
}) {
  if (verification === null) return null;
  const { at, ok, error } = verification;
  return (
    <Alert
      role="status"
      color={ok ? 'green' : 'red'}
      title={
        <Group gap="xs">
          {ok ? 'The endpoint responded with the token' : getFailureReasonLabel(error?.code ?? '')}
          <Text span size="xs">
            <UserLocalTimeText value={at} />
          </Text>
        </Group>
      }
    >
      {error?.message}
    </Alert>
  );
}

/** Props that let keyboard users scroll a table that contains no focusable element. */
export const KEYBOARD_SCROLLABLE_PROPS = { viewportProps: { tabIndex: 0 } };

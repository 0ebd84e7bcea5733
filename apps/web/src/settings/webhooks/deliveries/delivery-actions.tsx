import { Button, Text } from '@mantine/core';
import type { WebhookDelivery } from '@tracking/client';
import { askFirst } from '../../../app/overlays.tsx';
import { useDeliveryWrites } from './use-delivery-writes.ts';

/** What was delivered can be neither; what is over cannot be discarded again. */
export const mayDiscard = ({ status }: Pick<WebhookDelivery, 'status'>) =>
  status !== 'succeeded' && status !== 'discarded';

export function askToDiscard(onConfirm: () => void, count = 1): void {
  askFirst({
    title: count === 1 ? 'Discard the delivery?' : `Discard ${count} deliveries?`,
    children: <Text size="sm">The endpoint does not get it. It stays in the log, and can be replayed from there.</Text>,
    labels: { confirm: 'Discard', cancel: 'Cancel' },
    confirmProps: { color: 'red' },
    onConfirm,
  });
}

export function DeliveryActions({ delivery }: { readonly delivery: WebhookDelivery }) {
  const { retry, discard } = useDeliveryWrites();
  const { id } = delivery;
  return (
    <>
      {mayDiscard(delivery) && (
        <Button variant="default" loading={discard.isPending} onClick={() => askToDiscard(() => discard.mutate(id))}>
          Discard…
        </Button>
      )}
      <Button loading={retry.isPending} onClick={() => retry.mutate(id)}>
        {delivery.status === 'succeeded' ? 'Send it again' : 'Try it now'}
      </Button>
    </>
  );
}

import { LinkAnchor } from '../../../app/links.tsx';
import type { WebhookDelivery } from '@tracking/client';
import { eventLabel } from '../../../values/event-types.ts';

export function DeliveryLink({ delivery }: { readonly delivery: Pick<WebhookDelivery, 'id' | 'event_type'> }) {
  return (
    <LinkAnchor to="/settings/webhooks/deliveries/$deliveryId" params={{ deliveryId: delivery.id }} size="sm" fw={600}>
      {eventLabel(delivery.event_type)}
    </LinkAnchor>
  );
}

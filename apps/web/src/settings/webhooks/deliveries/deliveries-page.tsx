import { Stack } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { PageHeader } from '../../../app/page.tsx';
import { WebhookTabs } from '../webhooks-section.tsx';
import { Deliveries } from './deliveries.tsx';

export function DeliveriesPage() {
  const search = useSearch({ from: '/signed-in/settings/webhooks/deliveries' });
  const navigate = useNavigate({ from: '/settings/webhooks/deliveries' });
  const { environment: _everywhere, ...narrowed } = search;
  return (
    <Stack>
      <PageHeader title="Deliveries" about="What was sent to your endpoints, and what they answered." />
      <WebhookTabs at="/settings/webhooks/deliveries" />
      <Deliveries search={narrowed} onChange={(to) => void navigate({ search: to, replace: true })} />
    </Stack>
  );
}

import { Tabs } from '@mantine/core';
import { Outlet, useNavigate } from '@tanstack/react-router';
import { PagePermissionGate } from '../../session/permissions.tsx';

/** Parent of all webhook pages. Only users who may manage webhooks see them. */
export function WebhookPagesPermissionGate() {
  return (
    <PagePermissionGate permission="webhooks:manage">
      <Outlet />
    </PagePermissionGate>
  );
}

const WEBHOOK_PAGES = [
  { to: '/settings/webhooks', label: 'Endpoints' },
  { to: '/settings/webhooks/deliveries', label: 'Deliveries' },
  { to: '/settings/webhooks/dead-letters', label: 'Dead letters' },
  { to: '/settings/webhooks/replays', label: 'Replays' },
] as const;

export function WebhookTabs({ at }: { readonly at: (typeof WEBHOOK_PAGES)[number]['to'] }) {
  const navigate = useNavigate();
  return (
    <Tabs value={at} onChange={(to) => void navigate({ to: to as typeof at })}>
      <Tabs.List aria-label="Webhooks">
        {WEBHOOK_PAGES.map(({ to, label }) => (
          <Tabs.Tab key={to} value={to}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
    </Tabs>
  );
}

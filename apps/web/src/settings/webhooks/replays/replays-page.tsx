import { Stack } from '@mantine/core';
import { PageHeader } from '../../../app/page.tsx';
import { WebhookTabs } from '../webhooks-section.tsx';
import { Replays } from './replays.tsx';

export function ReplaysPage() {
  return (
    <Stack>
      <PageHeader title="Replays" about="What was sent again, or given up, many at once." />
      <WebhookTabs at="/settings/webhooks/replays" />
      <Replays />
    </Stack>
  );
}

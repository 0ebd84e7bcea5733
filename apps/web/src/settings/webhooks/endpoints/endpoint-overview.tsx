import { Alert, Stack } from '@mantine/core';
import type { WebhookEndpoint } from '@tracking/client';
import { DISABLED_REASONS } from '../webhook-words.ts';
import { EndpointStatsPanel } from './endpoint-stats.tsx';
import type { StatsWindow } from './stats-windows.ts';
import { late } from '../../../app/lazy.tsx';

/** Needed once in the life of an endpoint. */
const EndpointSetup = late(async () => ({ default: (await import('./endpoint-setup.tsx')).EndpointSetup }));

interface Props {
  readonly endpoint: WebhookEndpoint;
  readonly window: StatsWindow;
  readonly onWindow: (window: StatsWindow) => void;
}

export function EndpointOverview({ endpoint, window, onWindow }: Props) {
  const { status, disabled_reason } = endpoint;
  return (
    <Stack>
      {status === 'disabled' && (
        <Alert color="yellow" title="It gets nothing">
          {disabled_reason !== null && DISABLED_REASONS[disabled_reason]} What waits for it is held until it is enabled.
        </Alert>
      )}
      {(status === 'pending_verification' || status === 'verified') && <EndpointSetup endpoint={endpoint} />}
      <EndpointStatsPanel endpoint={endpoint} window={window} onWindow={onWindow} />
    </Stack>
  );
}

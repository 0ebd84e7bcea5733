import type { WebhookEndpoint } from '@tracking/client';
import { type EndpointStats, totalsOf } from './stats-series.ts';

/**
 * `off`: gets nothing at the moment, which its status explains. `failing`: the latest attempt failed. `unsteady`: answers, but
 * more than one in twenty attempts failed. `idle`: nothing was sent.
 */
export type Health = 'off' | 'idle' | 'healthy' | 'unsteady' | 'failing';

export const HEALTH: Readonly<Record<Health, { readonly label: string; readonly color: string }>> = {
  off: { label: 'Gets nothing', color: 'gray' },
  idle: { label: 'Nothing sent yet', color: 'gray' },
  healthy: { label: 'Healthy', color: 'green' },
  unsteady: { label: 'Some attempts fail', color: 'yellow' },
  failing: { label: 'Failing', color: 'red' },
};

/** One in so many attempts may fail. */
const UNSTEADY = 20;

export function healthOf(endpoint: Pick<WebhookEndpoint, 'status'>, stats: EndpointStats): Health {
  if (endpoint.status !== 'enabled') return 'off';
  const { last_error: failed, last_success_at: succeeded } = stats;
  if (failed === null && succeeded === null) return 'idle';
  if (failed !== null && (succeeded === null || Date.parse(failed.at) > Date.parse(succeeded))) return 'failing';
  const totals = totalsOf(stats);
  return totals.failed * UNSTEADY > totals.attempts ? 'unsteady' : 'healthy';
}

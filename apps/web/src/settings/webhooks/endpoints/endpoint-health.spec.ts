import { healthOf } from './endpoint-health.ts';
import type { EndpointStats } from './stats-series.ts';

const [EARLY, LATE] = ['2026-11-23T09:00:00.000Z', '2026-11-23T09:10:00.000Z'];

function stats(success: string | null, failure: string | null, [succeeded, failed] = [0, 0]): EndpointStats {
  return {
    ...{ endpoint_id: 'whe_1', since: EARLY, until: LATE, waiting: { count: 0, is_at_least: false, oldest_at: null } },
    hours: [
      {
        ...{ hour: EARLY, attempts: { succeeded, failed }, is_exact: true },
        deliveries: { succeeded: 0, dead_lettered: 0, discarded: 0 },
        latency_ms: { p50: 1, p95: 1, p99: 1, max: 1 },
      },
    ],
    last_success_at: success,
    last_error:
      failure === null ? null : { at: failure, code: 'timeout', message: 'It took too long.', status_code: null },
  };
}

describe('the health of an endpoint', () => {
  it.each([
    ['off', 'disabled', stats(LATE, null)],
    ['off', 'pending_verification', stats(null, LATE)],
    ['idle', 'enabled', stats(null, null)],
    ['healthy', 'enabled', stats(LATE, null, [4, 0])],
    ['healthy', 'enabled', stats(LATE, EARLY, [19, 1])],
    ['unsteady', 'enabled', stats(LATE, EARLY, [18, 1])],
    ['failing', 'enabled', stats(EARLY, LATE, [99, 1])],
    ['failing', 'enabled', stats(null, LATE, [0, 1])],
  ] as const)('is %s, %s', (health, status, of) => expect(healthOf({ status }, of)).toBe(health));
});

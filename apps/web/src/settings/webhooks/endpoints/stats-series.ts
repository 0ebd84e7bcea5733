import type { AnswerOf, WebhookEndpoint } from '@tracking/client';
import { type StatsWindow, STATS_WINDOW_LENGTHS } from '../webhook-search.ts';

export type EndpointStats = AnswerOf<'getWebhookEndpointStats'>;
type Hour = EndpointStats['hours'][number];

const HOUR_MS = 3_600_000;
/** Numbers of attempts in one column of the chart. */
export interface AttemptCountsOfChartColumn {
  /** Start time of the column, ISO 8601 in UTC. */
  readonly at: string;
  readonly succeeded: number;
  readonly failed: number;
  readonly deadLettered: number;
  /** Latency of the slowest hour of the column, in milliseconds. Null if there were no attempts. */
  readonly p50: number | null;
  readonly p95: number | null;
}

/**
 * Returns the start time of the first column, ISO 8601.
 * @param now current time in epoch milliseconds
 */
export function getStatsStart(window: StatsWindow, now: number): string {
  return new Date(
    getColumnStartMs(window, now) - (computeChartColumnCountOfWindow(window) - 1) * getChartColumnDurationMs(window),
  ).toISOString();
}

/** Returns all columns of the chart, oldest first. Hours without attempts have empty columns. */
export function buildStatsChartColumns(
  stats: Pick<EndpointStats, 'hours'>,
  window: StatsWindow,
  now: number,
): readonly AttemptCountsOfChartColumn[] {
  const byColumn = Map.groupBy(stats.hours, ({ hour }) => getColumnStartMs(window, Date.parse(hour)));
  const first = Date.parse(getStatsStart(window, now));
  return Array.from({ length: computeChartColumnCountOfWindow(window) }, (_, index) => {
    const at = first + index * getChartColumnDurationMs(window);
    return toStatsChartColumn(at, byColumn.get(at) ?? []);
  });
}

function toStatsChartColumn(at: number, hours: readonly Hour[]): AttemptCountsOfChartColumn {
  const sum = (count: (hour: Hour) => number) => hours.reduce((total, hour) => total + count(hour), 0);
  const slowest = (latency: (hour: Hour) => number | null) => {
    const known = hours.map(latency).filter((ms) => ms !== null);
    return known.length === 0 ? null : Math.max(...known);
  };
  return {
    at: new Date(at).toISOString(),
    succeeded: sum(({ attempts }) => attempts.succeeded),
    failed: sum(({ attempts }) => attempts.failed),
    deadLettered: sum(({ deliveries }) => deliveries.dead_lettered),
    p50: slowest(({ latency_ms }) => latency_ms.p50),
    p95: slowest(({ latency_ms }) => latency_ms.p95),
  };
}

interface EndpointStatsTotals {
  readonly attempts: number;
  readonly failed: number;
  readonly deadLettered: number;
  /** Share of successful attempts, from 0 to 1. Undefined if there were no attempts. */
  readonly success: number | undefined;
  /** Latency of the slowest hour of the period, in milliseconds. */
  readonly p95: number | null;
  readonly isExact: boolean;
}

export function sumHourlyStats({ hours }: Pick<EndpointStats, 'hours'>): EndpointStatsTotals {
  const { succeeded, failed, deadLettered, p95 } = toStatsChartColumn(0, hours);
  const attempts = succeeded + failed;
  return {
    ...{ attempts, failed, deadLettered, p95 },
    success: attempts === 0 ? undefined : succeeded / attempts,
    isExact: hours.every(({ is_exact }) => is_exact),
  };
}

/** Formats a share as percent, such as "99.9 %". A share below 1 is never rounded up to 100 %. */
export function formatPercent(share: number): string {
  const rounded = Math.round(share * 1_000) / 10;
  return `${share < 1 && rounded === 100 ? 99.9 : rounded} %`;
}

const getChartColumnDurationMs = (window: StatsWindow) => STATS_WINDOW_LENGTHS[window].hoursPerColumn * HOUR_MS;
const computeChartColumnCountOfWindow = (window: StatsWindow) =>
  STATS_WINDOW_LENGTHS[window].hours / STATS_WINDOW_LENGTHS[window].hoursPerColumn;
const getColumnStartMs = (window: StatsWindow, at: number) => at - (at % getChartColumnDurationMs(window));

/**
 * Health of a webhook endpoint. `off`: the endpoint is not enabled. `failing`: the latest attempt failed.
 * `unsteady`: the latest attempt succeeded, but more than one in 20 attempts failed. `idle`: no attempts yet.
 */
type Health = 'off' | 'idle' | 'healthy' | 'unsteady' | 'failing';

export const HEALTH_BADGES: Readonly<Record<Health, { readonly label: string; readonly color: string }>> = {
  off: { label: 'Inactive', color: 'gray' },
  idle: { label: 'No deliveries yet', color: 'gray' },
  healthy: { label: 'Healthy', color: 'green' },
  unsteady: { label: 'Some attempts fail', color: 'yellow' },
  failing: { label: 'Failing', color: 'red' },
};

/** Minimum number of attempts per failed attempt of a healthy endpoint. With fewer, the endpoint is `unsteady`. */
const MIN_ATTEMPTS_PER_FAILURE_IF_STEADY = 20;

export function assessEndpointHealth(endpoint: Pick<WebhookEndpoint, 'status'>, stats: EndpointStats): Health {
  if (endpoint.status !== 'enabled') return 'off';
  const { last_error: failed, last_success_at: succeeded } = stats;
  if (failed === null && succeeded === null) return 'idle';
  if (failed !== null && (succeeded === null || Date.parse(failed.at) > Date.parse(succeeded))) return 'failing';
  const totals = sumHourlyStats(stats);
  return totals.failed * MIN_ATTEMPTS_PER_FAILURE_IF_STEADY > totals.attempts ? 'unsteady' : 'healthy';
}

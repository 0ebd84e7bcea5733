import type { FieldError, Timestamp } from '@tracking/contracts';
import type { Clock, Collection, DocumentStore } from '@tracking/ports';
import type { BackgroundWorkThrottle } from '@tracking/resilience';
import { startOfHour, computePercentile } from '@tracking/webhooks-domain';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import type { EndpointStatsRequest, WebhookHour, WebhookStats } from '../operation-types.ts';
import {
  type DeliveryDocument,
  type ScopedEndpoint,
  toDeliveryShardValuesOfScopes,
} from '../store/delivery-document.ts';
import { type WebhookStatisticsOperations, validationError } from '../webhooks-api.ts';
import {
  HOURLY_STATS_COLLECTION_SPEC,
  type HourDocument,
  HourlyDeliveryStatisticsCalculator,
  type HourlyLogStatisticsDependencies,
  HOUR_RECOUNTS_COLLECTION_SPEC,
  type HourlyStatisticsRecountRequest,
  HourRecountRequestStore,
} from './hour-log.ts';
import { EndpointAttemptCounter, type StatsKeeperDependencies } from './stats-keeper.ts';

const DAY_MS = 86_400_000;
const MAX_STATS_DAYS = 30;

interface StatisticsDependencies {
  readonly endpoints: EndpointStore;
  readonly queries: StatsQueries;
  readonly clock: Clock;
}

/** Use case of statistics: docs/reference/delivery.md#statistics. */
export class WebhookStatisticsReader implements WebhookStatisticsOperations {
  constructor(private readonly dependencies: StatisticsDependencies) {}

  async get(request: EndpointStatsRequest): Promise<WebhookStats> {
    const { endpoints, queries, clock } = this.dependencies;
    const { until = clock().toISOString() } = request;
    const { since = new Date(Date.parse(until) - DAY_MS).toISOString() } = request;
    const errors = validateStatisticsPeriod(since, until);
    if (errors.length > 0) throw validationError(errors);
    const endpoint = await endpoints.requireEndpoint(request, request.endpoint_id);
    return queries.readEndpointStats(endpoint, since, until);
  }
}

function validateStatisticsPeriod(since: string, until: string): readonly FieldError[] {
  const error = (message: string) => [{ param: 'since', code: 'invalid_value' as const, message }];
  if (since >= until) return error('Must be before `until`.');
  const isLonger = Date.parse(until) - Date.parse(since) > MAX_STATS_DAYS * DAY_MS;
  return isLonger ? error(`Must be at most ${MAX_STATS_DAYS} days before \`until\`.`) : [];
}

/** Maximum number of hours in 30 days. One more than 720, because both ends may lie within an hour. */
const MAX_HOURS_PER_READ = 721;
/** Maximum number of pending deliveries counted. */
const MAX_COUNTED_PENDING_DELIVERIES = 1_000;

interface StatsQueriesDependencies {
  readonly hours: Collection<HourDocument>;
  readonly recounts: Collection<HourlyStatisticsRecountRequest>;
  readonly deliveries: Collection<DeliveryDocument>;
}

/** Reads the statistics of an endpoint, from its hours instead of its deliveries. */
class StatsQueries {
  constructor(private readonly dependencies: StatsQueriesDependencies) {}

  async readEndpointStats(endpoint: ScopedEndpoint, since: Timestamp, until: Timestamp): Promise<WebhookStats> {
    const { id: endpoint_id } = endpoint;
    const [hours, waiting, lastSuccess, lastError] = await Promise.all([
      this.readHourlyStats(endpoint_id, startOfHour(since), until),
      this.countPendingDeliveries(endpoint),
      this.findLatestHourWithField(endpoint_id, 'last_success_at'),
      this.findLatestHourWithField(endpoint_id, 'last_error_at'),
    ]);
    return {
      ...{ endpoint_id, since, until, hours, waiting },
      last_success_at: lastSuccess?.last_success_at ?? null,
      last_error: lastError?.last_error ?? null,
    };
  }

  private async readHourlyStats(
    endpoint_id: string,
    since: Timestamp,
    until: Timestamp,
  ): Promise<readonly WebhookHour[]> {
    const filter = { endpoint_id, hour: { gte: since, lt: until } };
    // Read the recount requests first, so that an hour that is recounted meanwhile is reported as inexact.
    const recounts = await this.dependencies.recounts.find({ filter: { endpoint_id }, limit: 2 * MAX_HOURS_PER_READ });
    const found = await this.dependencies.hours.find({ filter, sort: { fields: ['hour'] }, limit: MAX_HOURS_PER_READ });
    const doubtful = new Set(recounts.map(({ hour }) => hour));
    return found.map((document) => toHourlyWebhookStats(document, !doubtful.has(document.hour)));
  }

  private async countPendingDeliveries(endpoint: ScopedEndpoint): Promise<WebhookStats['waiting']> {
    const by = { index: 'endpoint', shards: toDeliveryShardValuesOfScopes(endpoint) };
    const { deliveries } = this.dependencies;
    const ofEach = await Promise.all(
      (['pending', 'retrying'] as const).map(async (status) => {
        const filter = { endpoint_id: endpoint.id, status };
        const sort = { fields: ['created_at', 'id'] };
        const [first] = await deliveries.find({ filter, sort, limit: 1, ...by });
        const count = await deliveries.count(filter, { atMost: MAX_COUNTED_PENDING_DELIVERIES, ...by });
        return { count, oldest: first?.created_at };
      }),
    );
    const count = ofEach.reduce((sum, one) => sum + one.count, 0);
    const [oldest_at = null] = ofEach.flatMap(({ oldest }) => oldest ?? []).toSorted();
    return {
      count: Math.min(count, MAX_COUNTED_PENDING_DELIVERIES),
      is_at_least: count >= MAX_COUNTED_PENDING_DELIVERIES,
      oldest_at,
    };
  }

  /** Returns the latest hour that has this field. */
  private async findLatestHourWithField(
    endpoint_id: string,
    field: 'last_success_at' | 'last_error_at',
  ): Promise<HourDocument | undefined> {
    const filter = { endpoint_id, [field]: { gt: '' } };
    const sort = { fields: ['hour'], descending: true };
    const [latest] = await this.dependencies.hours.find({ filter, sort, limit: 1, index: 'endpoint' });
    return latest;
  }
}

function toHourlyWebhookStats(document: HourDocument, isCounted: boolean): WebhookHour {
  const { hour, succeeded, failed, dead_lettered, discarded, latency, longest_ms, is_incomplete = false } = document;
  const part = (of: number) => computePercentile(latency, of, longest_ms);
  const max = succeeded + failed === 0 ? null : longest_ms;
  return {
    hour,
    attempts: { succeeded, failed },
    deliveries: { succeeded, dead_lettered, discarded },
    latency_ms: { p50: part(0.5), p95: part(0.95), p99: part(0.99), max },
    is_exact: isCounted && !is_incomplete,
  };
}

const HOURS_PER_DELETION = 200;
const HOUR_MS = 3_600_000;

interface EndpointStatisticsDependencies
  extends HourlyLogStatisticsDependencies, Omit<StatsKeeperDependencies, 'hours' | 'recounts' | 'log'> {
  readonly store: DocumentStore;
}

/** Statistics of endpoints: `keeper` counts, `queries` reads, and `recounts` accepts requests to recount. */
export interface EndpointStatisticsServices {
  readonly keeper: EndpointAttemptCounter;
  readonly queries: StatsQueries;
  readonly recounts: HourRecountRequestStore;
  /** Deletes hours that ended before this time. */
  deleteHours(before: Timestamp, pace: BackgroundWorkThrottle, ending: AbortSignal): Promise<void>;
}

export async function openEndpointStatistics({
  store,
  ...dependencies
}: EndpointStatisticsDependencies): Promise<EndpointStatisticsServices> {
  const [hours, documents] = await Promise.all([
    store.collection<HourDocument>(HOURLY_STATS_COLLECTION_SPEC),
    store.collection<HourlyStatisticsRecountRequest>(HOUR_RECOUNTS_COLLECTION_SPEC),
  ]);
  const recounts = new HourRecountRequestStore(documents);
  return {
    keeper: new EndpointAttemptCounter({
      ...dependencies,
      hours,
      recounts,
      log: new HourlyDeliveryStatisticsCalculator(dependencies),
    }),
    queries: new StatsQueries({ ...dependencies, hours, recounts: documents }),
    recounts,
    deleteHours: (before, pace, ending) => deleteHourlyStatsBefore(hours, before, pace, ending),
  };
}

/** Returns the time one hour earlier. An hour that starts before it has ended by the given time. */
function subtractOneHour(at: Timestamp): Timestamp {
  return new Date(Date.parse(at) - HOUR_MS).toISOString();
}

/** Deletes hours that ended before this time. */
export async function deleteHourlyStatsBefore(
  hours: Collection<HourDocument>,
  before: Timestamp,
  pace: BackgroundWorkThrottle,
  ending: AbortSignal,
): Promise<void> {
  let found = 1;
  while (found > 0 && !ending.aborted)
    found = await pace.runWorkThenRest(() => deletePageOfHourlyStats(hours, before), ending);
}

/** @returns the number of hours deleted */
async function deletePageOfHourlyStats(hours: Collection<HourDocument>, before: Timestamp): Promise<number> {
  const filter = { hour: { lt: subtractOneHour(before) } };
  const old = await hours.find({ filter, sort: { fields: ['hour', 'id'] }, limit: HOURS_PER_DELETION, index: 'hour' });
  if (old.length > 0) await hours.writeMany(old.map(({ id }) => ({ kind: 'delete', id })));
  return old.length;
}

import type { Timestamp } from '@tracking/contracts';
import type { Collection } from '@tracking/ports';
import { hourOf, percentile } from '@tracking/webhooks-domain';
import type { WebhookHour, WebhookStats } from '../requests-and-answers.ts';
import type { DeliveryDocument } from '../store/delivery-document.ts';
import type { HourDocument, RecountDocument } from './hour-document.ts';

/** Most hours of one answer: of 30 days, of which both ends may lie within an hour. */
const MOST_HOURS = 721;
/** What waits is counted up to here. */
const MOST_WAITING = 1_000;

export interface StatsQueriesParts {
  readonly hours: Collection<HourDocument>;
  readonly recounts: Collection<RecountDocument>;
  readonly deliveries: Collection<DeliveryDocument>;
}

/** What is known of how an endpoint has been answering: read from its hours, not from its deliveries. */
export class StatsQueries {
  constructor(private readonly parts: StatsQueriesParts) {}

  async stats(endpoint_id: string, since: Timestamp, until: Timestamp): Promise<WebhookStats> {
    const [hours, waiting, lastSuccess, lastError] = await Promise.all([
      this.hours(endpoint_id, hourOf(since), until),
      this.waiting(endpoint_id),
      this.latestWith(endpoint_id, 'last_success_at'),
      this.latestWith(endpoint_id, 'last_error_at'),
    ]);
    return {
      ...{ endpoint_id, since, until, hours, waiting },
      last_success_at: lastSuccess?.last_success_at ?? null,
      last_error: lastError?.last_error ?? null,
    };
  }

  private async hours(endpoint_id: string, since: Timestamp, until: Timestamp): Promise<readonly WebhookHour[]> {
    const filter = { endpoint_id, hour: { gte: since, lt: until } };
    // Asked first: what is counted anew in between is told as it was.
    const recounts = await this.parts.recounts.find({ filter: { endpoint_id }, limit: 2 * MOST_HOURS });
    const found = await this.parts.hours.find({ filter, sort: { fields: ['hour'] }, limit: MOST_HOURS });
    const doubtful = new Set(recounts.map(({ hour }) => hour));
    return found.map((document) => toHour(document, !doubtful.has(document.hour)));
  }

  private async waiting(endpoint_id: string): Promise<WebhookStats['waiting']> {
    const { deliveries } = this.parts;
    const ofEach = await Promise.all(
      (['pending', 'retrying'] as const).map(async (status) => {
        const filter = { endpoint_id, status };
        const sort = { fields: ['created_at', 'id'] };
        const [first] = await deliveries.find({ filter, sort, limit: 1, index: 'endpoint' });
        const count = await deliveries.count(filter, { atMost: MOST_WAITING, index: 'endpoint' });
        return { count, oldest: first?.created_at };
      }),
    );
    const count = ofEach.reduce((sum, one) => sum + one.count, 0);
    const [oldest_at = null] = ofEach.flatMap(({ oldest }) => oldest ?? []).toSorted();
    return { count: Math.min(count, MOST_WAITING), is_at_least: count >= MOST_WAITING, oldest_at };
  }

  /** The latest hour that has one. */
  private async latestWith(
    endpoint_id: string,
    field: 'last_success_at' | 'last_error_at',
  ): Promise<HourDocument | undefined> {
    const filter = { endpoint_id, [field]: { gt: '' } };
    const sort = { fields: ['hour'], descending: true };
    const [latest] = await this.parts.hours.find({ filter, sort, limit: 1, index: 'endpoint' });
    return latest;
  }
}

function toHour(document: HourDocument, isCounted: boolean): WebhookHour {
  const { hour, succeeded, failed, dead_lettered, discarded, latency, longest_ms, is_incomplete = false } = document;
  const part = (of: number) => percentile(latency, of, longest_ms);
  const max = succeeded + failed === 0 ? null : longest_ms;
  return {
    hour,
    attempts: { succeeded, failed },
    deliveries: { succeeded, dead_lettered, discarded },
    latency_ms: { p50: part(0.5), p95: part(0.95), p99: part(0.99), max },
    is_exact: isCounted && !is_incomplete,
  };
}

import type { FieldError } from '@tracking/contracts';
import type { Clock } from '@tracking/ports';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import { invalid } from '../refusals.ts';
import type { GetStats, WebhookStats } from '../requests-and-answers.ts';
import type { StatsQueries } from '../stats/stats-queries.ts';
import type { WebhookStatistics } from '../webhooks-api.ts';

const DAY_MS = 86_400_000;
const MOST_DAYS = 30;

export interface StatisticsParts {
  readonly endpoints: EndpointStore;
  readonly queries: StatsQueries;
  readonly clock: Clock;
}

/** docs/reference/delivery.md#statistics */
export class Statistics implements WebhookStatistics {
  constructor(private readonly parts: StatisticsParts) {}

  async get(request: GetStats): Promise<WebhookStats> {
    const { endpoints, queries, clock } = this.parts;
    const { until = clock().toISOString() } = request;
    const { since = new Date(Date.parse(until) - DAY_MS).toISOString() } = request;
    const errors = faultsOf(since, until);
    if (errors.length > 0) throw invalid(errors);
    const { id } = await endpoints.require(request, request.endpoint_id);
    return queries.stats(id, since, until);
  }
}

function faultsOf(since: string, until: string): readonly FieldError[] {
  const fault = (message: string) => [{ param: 'since', code: 'invalid_value' as const, message }];
  if (since >= until) return fault('must be before until');
  const isLonger = Date.parse(until) - Date.parse(since) > MOST_DAYS * DAY_MS;
  return isLonger ? fault(`must be at most ${MOST_DAYS} days before until`) : [];
}

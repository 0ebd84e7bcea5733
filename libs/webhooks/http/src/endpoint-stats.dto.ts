import { parseTimestamp, QueryTime } from '@tracking/http';
import type { GetStats } from '@tracking/webhooks';

export class EndpointStatsDto {
  @QueryTime({
    description: 'From the hour on in which this lies; a day before `until` by default, at most 30 days before it.',
    example: '2026-11-21T09:30:00Z',
  })
  since?: string;

  @QueryTime({ description: 'Hours that begin before; now by default.', example: '2026-11-22T09:30:00Z' })
  until?: string;
}

export function statsPeriod({ since, until }: EndpointStatsDto): Pick<GetStats, 'since' | 'until'> {
  const [from, to] = [since && parseTimestamp(since), until && parseTimestamp(until)];
  return { ...(from && { since: from }), ...(to && { until: to }) };
}

import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { TimeQueryProperty, RESPONSE_TIME_SCHEMA } from '@tracking/http';
import type { EndpointStatsRequest, WebhookHour, WebhookStats } from '@tracking/webhooks';
import { WebhookErrorResource } from './endpoint.resource.ts';

@ApiSchema({ name: 'WebhookHourAttempts' })
class AttemptCountsResource {
  @ApiProperty({ type: 'integer', description: 'Attempts that were answered with a 2xx status.' })
  readonly succeeded!: number;
  @ApiProperty({ type: 'integer', description: 'Attempts that did not succeed.' })
  readonly failed!: number;
}

@ApiSchema({ name: 'WebhookHourDeliveries' })
class DeliveryCountsResource {
  @ApiProperty({ type: 'integer', description: 'Deliveries that succeeded by an attempt of the hour.' })
  readonly succeeded!: number;
  @ApiProperty({ type: 'integer', description: 'Deliveries that became dead letters by an attempt of the hour.' })
  readonly dead_lettered!: number;
  @ApiProperty({ type: 'integer', description: 'Deliveries that a person discarded within the hour.' })
  readonly discarded!: number;
}

@ApiSchema({ name: 'WebhookLatency' })
class LatencyResource {
  @ApiProperty({ type: 'integer', nullable: true, description: '50th percentile (median).' })
  readonly p50!: number | null;
  @ApiProperty({ type: 'integer', nullable: true, description: '95th percentile.' })
  readonly p95!: number | null;
  @ApiProperty({ type: 'integer', nullable: true, description: '99th percentile.' })
  readonly p99!: number | null;
  @ApiProperty({ type: 'integer', nullable: true, description: 'Longest duration.' })
  readonly max!: number | null;
}

@ApiSchema({ name: 'WebhookHour' })
class HourResource implements WebhookHour {
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Start of the hour. UTC with milliseconds.' })
  readonly hour!: string;
  @ApiProperty({ type: AttemptCountsResource, description: 'Attempts that started within the hour.' })
  readonly attempts!: AttemptCountsResource;
  @ApiProperty({ type: DeliveryCountsResource, description: 'Deliveries that ended within the hour.' })
  readonly deliveries!: DeliveryCountsResource;
  @ApiProperty({
    type: LatencyResource,
    description: 'Duration of attempts, in milliseconds. Percentiles are at most 12.5% too high; `max` is exact.',
  })
  readonly latency_ms!: LatencyResource;
  @ApiProperty({
    description:
      'False if some attempts or discards may be missing from the counts until the hour is recounted from the log.',
  })
  readonly is_exact!: boolean;
}

@ApiSchema({ name: 'WebhookWaiting' })
class WaitingResource {
  @ApiProperty({
    type: 'integer',
    description: 'Number of deliveries whose schedule has attempts left, counted up to 1,000.',
  })
  readonly count!: number;
  @ApiProperty({ description: 'True if counting stopped at 1,000, so there may be more deliveries.' })
  readonly is_at_least!: boolean;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time at which the oldest pending delivery was recorded. UTC with milliseconds.',
  })
  readonly oldest_at!: string | null;
}

@ApiSchema({ name: 'WebhookLastError' })
class LastErrorResource extends WebhookErrorResource {
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Start of the attempt. UTC with milliseconds.' })
  readonly at!: string;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Status code of the response; null without a response.',
  })
  readonly status_code!: number | null;
}

@ApiSchema({ name: 'WebhookEndpointStats' })
export class EndpointStatsResource implements WebhookStats {
  @ApiProperty({ description: 'Id of the endpoint.' })
  readonly endpoint_id!: string;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Start of the requested period. UTC with milliseconds.' })
  readonly since!: string;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'End of the requested period. UTC with milliseconds.' })
  readonly until!: string;
  @ApiProperty({ type: [HourResource], description: 'Hours with attempts or discards, oldest first.' })
  readonly hours!: HourResource[];
  @ApiProperty({ type: WaitingResource, description: 'Pending deliveries.' })
  readonly waiting!: WaitingResource;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Start of the last successful attempt, even if it was before `since`. UTC with milliseconds.',
  })
  readonly last_success_at!: string | null;
  @ApiProperty({
    type: LastErrorResource,
    nullable: true,
    description: 'Last failed attempt, even if it was before `since`.',
  })
  readonly last_error!: LastErrorResource | null;
}

export class GetEndpointStatsDto {
  @TimeQueryProperty({
    description:
      'Start of the period, rounded down to the hour. Defaults to one day before `until`. At most 30 days before `until`.',
    example: '2026-11-21T09:30:00Z',
  })
  since?: string;

  @TimeQueryProperty({
    description: 'End of the period. Hours that begin before this time are included. Defaults to the current time.',
    example: '2026-11-22T09:30:00Z',
  })
  until?: string;
}

export function toStatsPeriod({ since, until }: GetEndpointStatsDto): Pick<EndpointStatsRequest, 'since' | 'until'> {
  return { ...(since && { since }), ...(until && { until }) };
}

import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { QueryTime, TIME } from '@tracking/http';
import type { GetStats, WebhookHour, WebhookStats } from '@tracking/webhooks';
import { WebhookErrorResource } from './endpoint.resource.ts';

@ApiSchema({ name: 'WebhookHourAttempts' })
class AttemptCountsResource {
  @ApiProperty({ type: 'integer', description: 'Answered 2xx.' })
  readonly succeeded!: number;
  @ApiProperty({ type: 'integer', description: 'All others.' })
  readonly failed!: number;
}

@ApiSchema({ name: 'WebhookHourDeliveries' })
class DeliveryCountsResource {
  @ApiProperty({ type: 'integer', description: 'Delivered by an attempt of the hour.' })
  readonly succeeded!: number;
  @ApiProperty({ type: 'integer', description: 'Made a dead letter by an attempt of the hour.' })
  readonly dead_lettered!: number;
  @ApiProperty({ type: 'integer', description: 'Given up by a person within the hour.' })
  readonly discarded!: number;
}

@ApiSchema({ name: 'WebhookLatency' })
class LatencyResource {
  @ApiProperty({ type: 'integer', nullable: true, description: 'Half of the attempts took no longer.' })
  readonly p50!: number | null;
  @ApiProperty({ type: 'integer', nullable: true, description: '95 of 100 took no longer.' })
  readonly p95!: number | null;
  @ApiProperty({ type: 'integer', nullable: true, description: '99 of 100 took no longer.' })
  readonly p99!: number | null;
  @ApiProperty({ type: 'integer', nullable: true, description: 'The longest.' })
  readonly max!: number | null;
}

@ApiSchema({ name: 'WebhookHour' })
class HourResource implements WebhookHour {
  @ApiProperty({ ...TIME, description: 'Its begin, in UTC. UTC with milliseconds.' })
  readonly hour!: string;
  @ApiProperty({ type: AttemptCountsResource, description: 'Attempts that began within the hour.' })
  readonly attempts!: AttemptCountsResource;
  @ApiProperty({ type: DeliveryCountsResource, description: 'Deliveries that came to an end.' })
  readonly deliveries!: DeliveryCountsResource;
  @ApiProperty({
    type: LatencyResource,
    description: 'How long attempts took, in milliseconds: at most an eighth more than they did, `max` exactly.',
  })
  readonly latency_ms!: LatencyResource;
  @ApiProperty({ description: 'False where some of it may not be counted, until it is counted anew from the log.' })
  readonly is_exact!: boolean;
}

@ApiSchema({ name: 'WebhookWaiting' })
class WaitingResource {
  @ApiProperty({ type: 'integer', description: 'Deliveries with attempts to come, counted up to 1,000.' })
  readonly count!: number;
  @ApiProperty({ description: 'Whether there may be more.' })
  readonly is_at_least!: boolean;
  @ApiProperty({ ...TIME, nullable: true, description: 'When the oldest of them was recorded. UTC with milliseconds.' })
  readonly oldest_at!: string | null;
}

@ApiSchema({ name: 'WebhookLastError' })
class LastErrorResource extends WebhookErrorResource {
  @ApiProperty({ ...TIME, description: 'When the attempt began. UTC with milliseconds.' })
  readonly at!: string;
  @ApiProperty({ type: 'integer', nullable: true, description: 'What the endpoint answered with.' })
  readonly status_code!: number | null;
}

@ApiSchema({ name: 'WebhookEndpointStats' })
export class EndpointStatsResource implements WebhookStats {
  @ApiProperty({ description: 'The endpoint.' })
  readonly endpoint_id!: string;
  @ApiProperty({ ...TIME, description: 'Begin of the time that was asked for. UTC with milliseconds.' })
  readonly since!: string;
  @ApiProperty({ ...TIME, description: 'Its end. UTC with milliseconds.' })
  readonly until!: string;
  @ApiProperty({ type: [HourResource], description: 'The hours in which anything happened, the oldest first.' })
  readonly hours!: HourResource[];
  @ApiProperty({ type: WaitingResource, description: 'What waits at the moment.' })
  readonly waiting!: WaitingResource;
  @ApiProperty({
    ...TIME,
    nullable: true,
    description: 'Begin of the last attempt that succeeded, also before `since`. UTC with milliseconds.',
  })
  readonly last_success_at!: string | null;
  @ApiProperty({
    type: LastErrorResource,
    nullable: true,
    description: 'The last attempt that failed, also before `since`.',
  })
  readonly last_error!: LastErrorResource | null;
}

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
  return { ...(since && { since }), ...(until && { until }) };
}

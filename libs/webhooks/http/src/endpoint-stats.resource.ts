import { ApiSchema } from '@nestjs/swagger';
import { Shown, ShownTime } from '@tracking/http';
import type { WebhookHour, WebhookStats } from '@tracking/webhooks';
import { WebhookErrorResource } from './endpoint.resource.ts';

@ApiSchema({ name: 'WebhookHourAttempts' })
class AttemptCountsResource {
  @Shown('integer', 'Answered 2xx.')
  readonly succeeded!: number;
  @Shown('integer', 'All others.')
  readonly failed!: number;
}

@ApiSchema({ name: 'WebhookHourDeliveries' })
class DeliveryCountsResource {
  @Shown('integer', 'Delivered by an attempt of the hour.')
  readonly succeeded!: number;
  @Shown('integer', 'Made a dead letter by an attempt of the hour.')
  readonly dead_lettered!: number;
  @Shown('integer', 'Given up by a person within the hour.')
  readonly discarded!: number;
}

@ApiSchema({ name: 'WebhookLatency' })
class LatencyResource {
  @Shown('integer', 'Half of the attempts took no longer.', { nullable: true })
  readonly p50!: number | null;
  @Shown('integer', '95 of 100 took no longer.', { nullable: true })
  readonly p95!: number | null;
  @Shown('integer', '99 of 100 took no longer.', { nullable: true })
  readonly p99!: number | null;
  @Shown('integer', 'The longest.', { nullable: true })
  readonly max!: number | null;
}

@ApiSchema({ name: 'WebhookHour' })
export class HourResource implements WebhookHour {
  @ShownTime('Its begin, in UTC.')
  readonly hour!: string;
  @Shown(AttemptCountsResource, 'Attempts that began within the hour.')
  readonly attempts!: AttemptCountsResource;
  @Shown(DeliveryCountsResource, 'Deliveries that came to an end.')
  readonly deliveries!: DeliveryCountsResource;
  @Shown(
    LatencyResource,
    'How long attempts took, in milliseconds: at most an eighth more than they did, `max` exactly.',
  )
  readonly latency_ms!: LatencyResource;
  @Shown(Boolean, 'False where some of it may not be counted, until it is counted anew from the log.')
  readonly is_exact!: boolean;
}

@ApiSchema({ name: 'WebhookWaiting' })
class WaitingResource {
  @Shown('integer', 'Deliveries with attempts to come, counted up to 1,000.')
  readonly count!: number;
  @Shown(Boolean, 'Whether there may be more.')
  readonly is_at_least!: boolean;
  @ShownTime('When the oldest of them was recorded.', { nullable: true })
  readonly oldest_at!: string | null;
}

@ApiSchema({ name: 'WebhookLastError' })
class LastErrorResource extends WebhookErrorResource {
  @ShownTime('When the attempt began.')
  readonly at!: string;
  @Shown('integer', 'What the endpoint answered with.', { nullable: true })
  readonly status_code!: number | null;
}

@ApiSchema({ name: 'WebhookEndpointStats' })
export class EndpointStatsResource implements WebhookStats {
  @Shown(String, 'The endpoint.')
  readonly endpoint_id!: string;
  @ShownTime('Begin of the time that was asked for.')
  readonly since!: string;
  @ShownTime('Its end.')
  readonly until!: string;
  @Shown([HourResource], 'The hours in which anything happened, the oldest first.')
  readonly hours!: HourResource[];
  @Shown(WaitingResource, 'What waits at the moment.')
  readonly waiting!: WaitingResource;
  @ShownTime('Begin of the last attempt that succeeded, also before `since`.', { nullable: true })
  readonly last_success_at!: string | null;
  @Shown(LastErrorResource, 'The last attempt that failed, also before `since`.', { nullable: true })
  readonly last_error!: LastErrorResource | null;
}

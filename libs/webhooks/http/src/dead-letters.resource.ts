import { ApiSchema } from '@nestjs/swagger';
import { DELIVERY_ERROR_CODES, EVENT_TYPES } from '@tracking/contracts';
import type { Warning } from '@tracking/contracts';
import { Shown, ShownWarnings } from '@tracking/http';
import type { DeadLetterCount, DeadLetterSummary, SettledDeadLetters } from '@tracking/webhooks';
import { ReplayResource } from './replay.resource.ts';

class CountResource implements DeadLetterCount {
  @Shown('integer', 'How many.', { example: 120 })
  readonly count!: number;
  @Shown(Boolean, 'Otherwise there are at least so many: no more were counted.', { example: true })
  readonly is_exact!: boolean;
}

@ApiSchema({ name: 'WebhookDeadLettersByReason' })
class ReasonResource extends CountResource {
  @Shown(String, 'Code of their `last_error`.', { example: 'timeout', enum: [...DELIVERY_ERROR_CODES, 'unknown'] })
  readonly reason!: string;
}

@ApiSchema({ name: 'WebhookDeadLettersByEndpoint' })
class EndpointCountResource extends CountResource {
  @Shown(String, 'Where they were to go.')
  readonly endpoint_id!: string;
  @Shown(String, 'Its URL as it is now.', { nullable: true, example: 'https://tms.example.com/webhooks' })
  readonly url!: string | null;
  @Shown(String, 'They are delivered again where it is `enabled`.', {
    enum: ['pending_verification', 'verified', 'enabled', 'disabled', 'deleted'],
    example: 'enabled',
  })
  readonly status!: DeadLetterSummary['by_endpoint'][number]['status'];
}

@ApiSchema({ name: 'WebhookDeadLettersByEventType' })
class EventTypeResource extends CountResource {
  @Shown(String, 'Type of their events.', { enum: [...EVENT_TYPES] })
  readonly event_type!: string;
}

@ApiSchema({ name: 'WebhookDeadLetterSummary' })
export class DeadLetterSummaryResource extends CountResource implements DeadLetterSummary {
  @Shown([ReasonResource], 'The largest count first, as in the other two.')
  readonly by_reason!: ReasonResource[];
  @Shown([EndpointCountResource], 'By endpoint, deleted ones too.')
  readonly by_endpoint!: EndpointCountResource[];
  @Shown([EventTypeResource], 'By type of the event.')
  readonly by_event_type!: EventTypeResource[];
}

@ApiSchema({ name: 'WebhookDeadLettersRefused' })
class RefusedResource {
  @Shown(String, 'The endpoint.')
  readonly endpoint_id!: string;
  @Shown(String, 'Stable code.', { example: 'endpoint_not_enabled' })
  readonly code!: string;
  @Shown(String, 'For people.', { example: 'Deliveries are sent to enabled endpoints only: enable it first.' })
  readonly message!: string;
}

/** What was begun, as it is answered. */
export interface BegunReplays {
  readonly data: SettledDeadLetters['replays'];
  readonly refused: SettledDeadLetters['refused'];
}

@ApiSchema({ name: 'WebhookReplaysBegun' })
export class BegunReplaysResource implements BegunReplays {
  @Shown([ReplayResource], 'One for each endpoint that has such; get each for how far it is.')
  readonly data!: ReplayResource[];
  @Shown([RefusedResource], 'Endpoints that have such, and why none was begun for them.')
  readonly refused!: RefusedResource[];
  @ShownWarnings()
  readonly warnings!: Warning[];
}

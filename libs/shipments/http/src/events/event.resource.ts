import { ApiSchema } from '@nestjs/swagger';
import { API_VERSIONS, ENVIRONMENTS, EVENT_TYPES } from '@tracking/contracts';
import type * as wire from '@tracking/contracts';
import { Shown, ShownTime } from '@tracking/http';

/** As receivers get it. */
@ApiSchema({ name: 'Event' })
export class EventResource implements wire.EventEnvelope {
  @Shown(String, 'The same at every delivery of the event: drop what you have seen.', {
    example: 'evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11',
  })
  readonly id!: string;
  @Shown(String, 'What happened.', { enum: [...EVENT_TYPES] })
  readonly type!: wire.EventType;
  @ShownTime('When it happened.')
  readonly created_at!: string;
  @Shown(String, 'Version of this form.', { enum: [...API_VERSIONS] })
  readonly api_version!: wire.ApiVersion;
  @Shown(String, 'Where it happened.', { enum: [...ENVIRONMENTS] })
  readonly environment!: wire.Environment;
  @Shown(String, 'In whose data it happened.')
  readonly workspace_id!: string;
  @Shown(Boolean, 'True on events that were made for a test; on others it is not there.', {
    required: false,
    enum: [true],
  })
  readonly sandbox?: true;
  @Shown(
    'object',
    'The resource as it was then, with `shipment_id`, `external_id` and `shipment_version` to order events by.',
    { additionalProperties: true },
  )
  readonly data!: wire.JsonObject;
}

@ApiSchema({ name: 'EventPage' })
export class EventPageResource implements wire.Page<wire.EventEnvelope> {
  @Shown([EventResource], 'The events of this page.')
  readonly data!: EventResource[];
  @Shown(String, 'Send it as `cursor` for the next page, with the same filters.', { nullable: true })
  readonly next_cursor!: string | null;
  @Shown(Boolean, 'Whether there is a next page.')
  readonly has_more!: boolean;
}

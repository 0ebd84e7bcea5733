import type * as wire from '@tracking/contracts';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { API_VERSIONS, ENVIRONMENTS, EVENT_TYPES } from '@tracking/contracts';
import { PageType, TIME } from '@tracking/http';

/** The envelope that receivers get. */
@ApiSchema({ name: 'Event' })
export class EventResource implements wire.EventEnvelope {
  @ApiProperty({
    description: 'The same at every delivery of the event: drop what you have seen.',
    example: 'evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11',
  })
  readonly id!: string;
  @ApiProperty({ description: 'What happened.', enum: EVENT_TYPES })
  readonly type!: wire.EventType;
  @ApiProperty({ ...TIME, description: 'When it happened. UTC with milliseconds.' })
  readonly created_at!: string;
  @ApiProperty({ description: 'Version of this form.', enum: API_VERSIONS })
  readonly api_version!: wire.ApiVersion;
  @ApiProperty({ description: 'Where it happened.', enum: ENVIRONMENTS })
  readonly environment!: wire.Environment;
  @ApiProperty({ description: 'In whose data it happened.' })
  readonly workspace_id!: string;
  @ApiProperty({
    type: Boolean,
    description: 'True on events that were made for a test; on others it is not there.',
    required: false,
    enum: [true],
  })
  readonly sandbox?: true;
  @ApiProperty({
    type: 'object',
    description:
      'The resource as it was then, with `shipment_id`, `external_id` and `shipment_version` to order events by.',
    additionalProperties: true,
  })
  readonly data!: wire.JsonObject;
}

@ApiSchema({ name: 'EventPage' })
export class EventPageResource extends PageType(EventResource, 'The events of this page.') {}

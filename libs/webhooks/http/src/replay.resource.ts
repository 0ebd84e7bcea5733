import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { EVENT_TYPES } from '@tracking/contracts';
import {
  DeriveRequestClassFromResource,
  PageDto,
  createPageResourceClass,
  IdQueryProperty,
  ResponseSchemaBase,
  EnumListProperty,
  RESPONSE_TIME_SCHEMA,
  TextListProperty,
  TimestampProperty,
  WithWarnings,
} from '@tracking/http';
import {
  DEFAULT_REPLAYED_STATUSES,
  REPLAYED_STATUSES,
  REPLAY_OR_DISCARD_ACTIONS,
  REPLAY_STATUSES,
} from '@tracking/webhooks';
import type { CreateReplayCommand, WebhookReplay } from '@tracking/webhooks';

/** Maximum number of error codes in one request. */
const MAX_ERROR_CODES_PER_REPLAY = 50;

@ApiSchema({ name: 'WebhookReplay' })
export class ReplayResource extends ResponseSchemaBase implements WebhookReplay {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'rpl_7d2a9c1e7qv3n5xw6yz2aabbcc' })
  readonly id!: string;
  @ApiProperty({ description: 'Id of the endpoint.' })
  readonly endpoint_id!: string;
  @ApiProperty({
    description: '`replay` sends deliveries again; `discard` discards them.',
    enum: REPLAY_OR_DISCARD_ACTIONS,
  })
  readonly action!: WebhookReplay['action'];
  @TimestampProperty({
    description: 'Only events created at this time or later. If null, the replay starts at the first stored event.',
    example: '2026-11-21T09:30:00Z',
    nullable: true,
  })
  readonly since!: string | null;
  @TimestampProperty({
    description:
      'Only events created at this time or earlier. Defaults to the time of the request, which is also the maximum.',
    example: '2026-11-22T09:30:00Z',
  })
  readonly until!: string;
  @EnumListProperty(EVENT_TYPES, {
    description: 'Only events of these types. If null, all types that the endpoint subscribes to.',
    example: ['milestone.recorded'],
    nullable: true,
  })
  readonly event_types!: readonly string[] | null;
  @EnumListProperty(REPLAYED_STATUSES, {
    description: `Statuses of deliveries to include. \`missed\` stands for events that were never recorded for the endpoint, including events from before its creation. Defaults to ${DEFAULT_REPLAYED_STATUSES.join(' and ')}.`,
    example: [...DEFAULT_REPLAYED_STATUSES],
  })
  readonly statuses!: WebhookReplay['statuses'];
  @TextListProperty(MAX_ERROR_CODES_PER_REPLAY, {
    description:
      'Only deliveries with one of these error codes (`last_error.code`), which excludes missed events. If null, all deliveries.',
    example: ['timeout'],
    nullable: true,
  })
  readonly reasons!: readonly string[] | null;
  @ApiProperty({
    type: [String],
    nullable: true,
    description: 'Ids of the deliveries to include. Null if the other fields of the filter select the deliveries.',
  })
  readonly delivery_ids!: readonly string[] | null;
  @ApiProperty({ description: 'Status of the replay.', enum: REPLAY_STATUSES })
  readonly status!: WebhookReplay['status'];
  @ApiProperty({
    type: 'integer',
    description: 'Number of deliveries found so far. Final when the replay is completed.',
  })
  readonly matched!: number;
  @ApiProperty({ type: 'integer', description: 'Number of found deliveries that the replay delivered or discarded.' })
  readonly done!: number;
  @ApiProperty({
    type: 'integer',
    description:
      'Number of found deliveries whose first attempt failed again. These deliveries continue on their new schedule.',
  })
  readonly failed!: number;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    description: 'Time at which the replay was requested. UTC with milliseconds.',
  })
  readonly created_at!: string;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time at which the replay was completed or canceled. UTC with milliseconds.',
  })
  readonly completed_at!: string | null;
  @ApiProperty({ type: 'integer', description: 'Increases with every change, including progress.' })
  readonly version!: number;
}

/** Filter for the deliveries to send again. All fields are optional. */
@ApiSchema({ name: 'WebhookReplayFilter' })
export class ReplayFilterDto extends DeriveRequestClassFromResource(ReplayResource, {
  optional: ['since', 'until', 'event_types', 'statuses', 'reasons'],
}) {}

@ApiSchema({ name: 'WebhookReplayWritten' })
export class ReplayWrittenResource extends IntersectionType(ReplayResource, WithWarnings) {}

@ApiSchema({ name: 'WebhookReplayPage' })
export class ReplayPageResource extends createPageResourceClass(ReplayResource, 'Replays of this page.') {}

/** Returns the filter with sorted lists and without duplicates. A field that is absent or null has its default. */
export function toReplayFilter({
  since,
  until,
  event_types,
  statuses,
  reasons,
}: ReplayFilterDto): CreateReplayCommand['filter'] {
  return {
    ...(since && { since }),
    ...(until && { until }),
    ...(event_types && { event_types: EVENT_TYPES.filter((type) => event_types.includes(type)) }),
    ...(statuses && { statuses: REPLAYED_STATUSES.filter((status) => statuses.includes(status)) }),
    ...(reasons && { reasons: [...new Set(reasons)] }),
  };
}

export class ListReplaysDto extends PageDto {
  @IdQueryProperty('whe', { description: 'Only replays of this endpoint.' })
  endpoint_id?: string;
}

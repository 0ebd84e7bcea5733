import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { EVENT_TYPES } from '@tracking/contracts';
import {
  InputType,
  PageDto,
  PageType,
  QueryId,
  Resource,
  EnumList,
  TIME,
  TextList,
  Timestamp,
  WithWarnings,
} from '@tracking/http';
import { DEFAULT_REPLAYED_STATUSES, REPLAYED_STATUSES, REPLAY_ACTIONS, REPLAY_STATUSES } from '@tracking/webhooks';
import type { CreateReplay, WebhookReplay } from '@tracking/webhooks';

/** Error codes that one request may name. */
const MAX_REASONS = 50;

@ApiSchema({ name: 'WebhookReplay' })
export class ReplayResource extends Resource implements WebhookReplay {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'rpl_7d2a9c1e7qv3n5xw6yz2aabbcc' })
  readonly id!: string;
  @ApiProperty({ description: 'Whose deliveries they are.' })
  readonly endpoint_id!: string;
  @ApiProperty({ description: '`discard` gives them up instead of sending them again.', enum: REPLAY_ACTIONS })
  readonly action!: WebhookReplay['action'];
  @Timestamp({
    description: 'Only of events created at this time or later; from the first one kept on where null.',
    example: '2026-11-21T09:30:00Z',
    nullable: true,
  })
  readonly since!: string | null;
  @Timestamp({
    description: 'Only of events created at this time or earlier; all that there are, unless told, and no later ones.',
    example: '2026-11-22T09:30:00Z',
  })
  readonly until!: string;
  @EnumList(EVENT_TYPES, {
    description: 'Only of events of these types; of all that the endpoint subscribes to where null.',
    example: ['milestone.recorded'],
    nullable: true,
  })
  readonly event_types!: readonly string[] | null;
  @EnumList(REPLAYED_STATUSES, {
    description: `What came to one of these ends; \`missed\` is what was never recorded for the endpoint, from before it was made too. ${DEFAULT_REPLAYED_STATUSES.join(' and ')}, unless told.`,
    example: [...DEFAULT_REPLAYED_STATUSES],
  })
  readonly statuses!: WebhookReplay['statuses'];
  @TextList(MAX_REASONS, {
    description: 'Only those whose `last_error` has one of these codes; what was missed has none. All where null.',
    example: ['timeout'],
    nullable: true,
  })
  readonly reasons!: readonly string[] | null;
  @ApiProperty({
    type: [String],
    nullable: true,
    description: 'Only these deliveries; null where what else is said decides.',
  })
  readonly delivery_ids!: readonly string[] | null;
  @ApiProperty({ description: 'How far it is.', enum: REPLAY_STATUSES })
  readonly status!: WebhookReplay['status'];
  @ApiProperty({ type: 'integer', description: 'Found so far; all of them once it is completed.' })
  readonly matched!: number;
  @ApiProperty({ type: 'integer', description: 'Of these, delivered since, or discarded.' })
  readonly done!: number;
  @ApiProperty({
    type: 'integer',
    description: 'Of these, those whose first attempt failed again: they go on by their new schedule.',
  })
  readonly failed!: number;
  @ApiProperty({ ...TIME, description: 'When it was asked for. UTC with milliseconds.' })
  readonly created_at!: string;
  @ApiProperty({
    ...TIME,
    nullable: true,
    description: 'When it came to its end, or was canceled. UTC with milliseconds.',
  })
  readonly completed_at!: string | null;
  @ApiProperty({ type: 'integer', description: 'Grows with every change, progress among them.' })
  readonly version!: number;
}

/** The deliveries to send again; every field may be left out. */
@ApiSchema({ name: 'WebhookReplayFilter' })
export class ReplayFilterDto extends InputType(ReplayResource, {
  optional: ['since', 'until', 'event_types', 'statuses', 'reasons'],
}) {}

@ApiSchema({ name: 'WebhookReplayWritten' })
export class ReplayWrittenResource extends IntersectionType(ReplayResource, WithWarnings) {}

@ApiSchema({ name: 'WebhookReplayPage' })
export class ReplayPageResource extends PageType(ReplayResource, 'The replays of this page.') {}

/** Lists are in one order, without repetitions. A part that is absent or null has its default. */
export function replayFilter({
  since,
  until,
  event_types,
  statuses,
  reasons,
}: ReplayFilterDto): CreateReplay['filter'] {
  return {
    ...(since && { since }),
    ...(until && { until }),
    ...(event_types && { event_types: EVENT_TYPES.filter((type) => event_types.includes(type)) }),
    ...(statuses && { statuses: REPLAYED_STATUSES.filter((status) => statuses.includes(status)) }),
    ...(reasons && { reasons: [...new Set(reasons)] }),
  };
}

export class ListReplaysDto extends PageDto {
  @QueryId('whe', { description: 'Only those of this endpoint.' })
  endpoint_id?: string;
}

import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { DELIVERY_ERROR_CODES, EVENT_TYPES } from '@tracking/contracts';
import { Id, QueryId, QueryTime, EnumList, QueryEnumList, TextList, Timestamp, WithWarnings } from '@tracking/http';
import type {
  DeadLetterCount,
  DeadLetterFilter,
  DeadLetterSummary,
  DeadLettersCommand,
  DeadLettersResult,
} from '@tracking/webhooks';
import { ReplayResource } from './replay.resource.ts';

/** Deliveries that one request may name. */
const MAX_DELIVERY_IDS = 200;

class CountResource implements DeadLetterCount {
  @ApiProperty({ type: 'integer', description: 'How many.', example: 120 })
  readonly count!: number;
  @ApiProperty({ description: 'Otherwise there are at least so many: no more were counted.', example: true })
  readonly is_exact!: boolean;
}

@ApiSchema({ name: 'WebhookDeadLettersByReason' })
class ReasonResource extends CountResource {
  @ApiProperty({
    description: 'Code of their `last_error`.',
    example: 'timeout',
    enum: [...DELIVERY_ERROR_CODES, 'unknown'],
  })
  readonly reason!: string;
}

@ApiSchema({ name: 'WebhookDeadLettersByEndpoint' })
class EndpointCountResource extends CountResource {
  @ApiProperty({ description: 'Where they were to go.' })
  readonly endpoint_id!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Its URL as it is now.',
    example: 'https://tms.example.com/webhooks',
  })
  readonly url!: string | null;
  @ApiProperty({
    description: 'They are delivered again where it is `enabled`.',
    enum: ['pending_verification', 'verified', 'enabled', 'disabled', 'deleted'],
    example: 'enabled',
  })
  readonly status!: DeadLetterSummary['by_endpoint'][number]['status'];
}

@ApiSchema({ name: 'WebhookDeadLettersByEventType' })
class EventTypeResource extends CountResource {
  @ApiProperty({ description: 'Type of their events.', enum: EVENT_TYPES })
  readonly event_type!: string;
}

@ApiSchema({ name: 'WebhookDeadLetterSummary' })
export class DeadLetterSummaryResource extends CountResource implements DeadLetterSummary {
  @ApiProperty({ type: [ReasonResource], description: 'The largest count first, as in the other two.' })
  readonly by_reason!: ReasonResource[];
  @ApiProperty({ type: [EndpointCountResource], description: 'By endpoint, deleted ones too.' })
  readonly by_endpoint!: EndpointCountResource[];
  @ApiProperty({ type: [EventTypeResource], description: 'By type of the event.' })
  readonly by_event_type!: EventTypeResource[];
}

@ApiSchema({ name: 'WebhookDeadLettersRefused' })
class RefusedEndpointResource {
  @ApiProperty({ description: 'The endpoint.' })
  readonly endpoint_id!: string;
  @ApiProperty({ description: 'Stable code.', example: 'endpoint_not_enabled' })
  readonly code!: string;
  @ApiProperty({
    description: 'For people.',
    example: 'The endpoint is not enabled. Enable it first.',
  })
  readonly message!: string;
}

/** The replays that a request began, and the endpoints that were refused. */
export interface StartedReplays {
  readonly data: DeadLettersResult['replays'];
  readonly refused: DeadLettersResult['refused'];
}

@ApiSchema({ name: 'WebhookReplaysBegun' })
export class StartedReplaysResource extends WithWarnings implements StartedReplays {
  @ApiProperty({
    type: [ReplayResource],
    description: 'One for each endpoint that has such; get each for how far it is.',
  })
  readonly data!: ReplayResource[];
  @ApiProperty({
    type: [RefusedEndpointResource],
    description: 'Endpoints that have such, and why none was begun for them.',
  })
  readonly refused!: RefusedEndpointResource[];
}

export class DeadLetterSummaryDto {
  @QueryId('whe', { description: 'Only those of this endpoint.' })
  endpoint_id?: string;

  @QueryEnumList(EVENT_TYPES, { description: 'Only those of such events; several separated by commas.' })
  event_type?: string;

  @QueryEnumList(DELIVERY_ERROR_CODES, {
    description: 'Only those with such a code of their `last_error`; several separated by commas.',
    example: 'timeout',
  })
  reason?: string;

  @QueryTime({ description: 'Only those of events created at this time or later.' })
  since?: string;

  @QueryTime({ description: 'Only those of events created at this time or earlier.' })
  until?: string;
}

@ApiSchema({ name: 'WebhookDeadLetters' })
export class DeadLettersDto {
  @Id('whe', { description: 'Only those of this endpoint.', nullable: true })
  endpoint_id?: string | null;

  @EnumList(EVENT_TYPES, { description: 'Only those of such events.', example: ['shipment.updated'], nullable: true })
  event_types?: string[] | null;

  @EnumList(DELIVERY_ERROR_CODES, {
    description: 'Only those with such a code of their `last_error`.',
    example: ['timeout', 'connection_refused'],
    nullable: true,
  })
  reasons?: string[] | null;

  @Timestamp({ description: 'Only those of events created at this time or later.', nullable: true })
  since?: string | null;

  @Timestamp({
    description: 'Only those of events created at this time or earlier; all that there are, unless told.',
    nullable: true,
  })
  until?: string | null;

  @TextList(MAX_DELIVERY_IDS, {
    description: 'Only these deliveries.',
    example: ['dlv_9c1e2k7qv3n5xw6yz2aabbccdd'],
    nullable: true,
  })
  delivery_ids?: string[] | null;
}

export function summaryFilter({
  endpoint_id,
  event_type,
  reason,
  since,
  until,
}: DeadLetterSummaryDto): DeadLetterFilter {
  return {
    ...(endpoint_id && { endpoint_id }),
    ...(event_type && { event_types: event_type.split(',') }),
    ...(reason && { reasons: reason.split(',') }),
    ...(since && { since }),
    ...(until && { until }),
  };
}

export function deadLettersFilter(dto: DeadLettersDto): DeadLettersCommand['filter'] {
  const { endpoint_id, event_types, reasons, delivery_ids, since, until } = dto;
  return {
    ...(endpoint_id && { endpoint_id }),
    ...(event_types && { event_types }),
    ...(reasons && { reasons }),
    ...(delivery_ids && { delivery_ids }),
    ...(since && { since }),
    ...(until && { until }),
  };
}

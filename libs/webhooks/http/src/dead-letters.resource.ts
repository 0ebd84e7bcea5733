import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { DELIVERY_ERROR_CODES, EVENT_TYPES } from '@tracking/contracts';
import {
  IdProperty,
  IdQueryProperty,
  TimeQueryProperty,
  EnumListProperty,
  EnumListQueryProperty,
  TextListProperty,
  TimestampProperty,
  WithWarnings,
} from '@tracking/http';
import type {
  DeadLetterCount,
  DeadLetterFilter,
  DeadLetterSummary,
  ReplayOrDiscardCommand,
  DeadLetterReplayResult,
} from '@tracking/webhooks';
import { ReplayResource } from './replay.resource.ts';

/** Maximum number of delivery ids in one request. */
const MAX_DELIVERY_IDS = 200;

class DeadLetterCountResource implements DeadLetterCount {
  @ApiProperty({ type: 'integer', description: 'Number of dead letters.', example: 120 })
  readonly count!: number;
  @ApiProperty({
    description: 'True if `count` is exact. False if counting stopped at a limit, so there may be more dead letters.',
    example: true,
  })
  readonly is_exact!: boolean;
}

@ApiSchema({ name: 'WebhookDeadLettersByReason' })
class ReasonCountResource extends DeadLetterCountResource {
  @ApiProperty({
    description: 'Error code of the dead letters (`last_error.code`).',
    example: 'timeout',
    enum: [...DELIVERY_ERROR_CODES, 'unknown'],
  })
  readonly reason!: string;
}

@ApiSchema({ name: 'WebhookDeadLettersByEndpoint' })
class EndpointCountResource extends DeadLetterCountResource {
  @ApiProperty({ description: 'Endpoint of the dead letters.' })
  readonly endpoint_id!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Current URL of the endpoint; null if the endpoint is no longer stored.',
    example: 'https://tms.example.com/webhooks',
  })
  readonly url!: string | null;
  @ApiProperty({
    description: 'Status of the endpoint. Dead letters can only be delivered again to an `enabled` endpoint.',
    enum: ['pending_verification', 'verified', 'enabled', 'disabled', 'deleted'],
    example: 'enabled',
  })
  readonly status!: DeadLetterSummary['by_endpoint'][number]['status'];
}

@ApiSchema({ name: 'WebhookDeadLettersByEventType' })
class EventTypeCountResource extends DeadLetterCountResource {
  @ApiProperty({ description: 'Event type of the dead letters.', enum: EVENT_TYPES })
  readonly event_type!: string;
}

@ApiSchema({ name: 'WebhookDeadLetterSummary' })
export class DeadLetterSummaryResource extends DeadLetterCountResource implements DeadLetterSummary {
  @ApiProperty({ type: [ReasonCountResource], description: 'Counts by error code, largest first.' })
  readonly by_reason!: ReasonCountResource[];
  @ApiProperty({
    type: [EndpointCountResource],
    description: 'Counts by endpoint, including deleted endpoints, largest first.',
  })
  readonly by_endpoint!: EndpointCountResource[];
  @ApiProperty({ type: [EventTypeCountResource], description: 'Counts by event type, largest first.' })
  readonly by_event_type!: EventTypeCountResource[];
}

@ApiSchema({ name: 'WebhookDeadLettersRefused' })
class RefusedEndpointResource {
  @ApiProperty({ description: 'Id of the endpoint.' })
  readonly endpoint_id!: string;
  @ApiProperty({ description: 'Stable error code.', example: 'endpoint_not_enabled' })
  readonly code!: string;
  @ApiProperty({
    description: 'Human-readable message.',
    example: 'The endpoint is not enabled. Enable it first.',
  })
  readonly message!: string;
}

/** Replays started by a request, and the endpoints that were refused. */
export interface StartedReplays {
  readonly data: DeadLetterReplayResult['replays'];
  readonly refused: DeadLetterReplayResult['refused'];
}

@ApiSchema({ name: 'WebhookReplaysBegun' })
export class StartedReplaysResource extends WithWarnings implements StartedReplays {
  @ApiProperty({
    type: [ReplayResource],
    description: 'Started replays, one for each endpoint with matching dead letters. Get a replay to see its progress.',
  })
  readonly data!: ReplayResource[];
  @ApiProperty({
    type: [RefusedEndpointResource],
    description: 'Endpoints with matching dead letters for which no replay was started, and the reason.',
  })
  readonly refused!: RefusedEndpointResource[];
}

export class GetDeadLetterSummaryDto {
  @IdQueryProperty('whe', { description: 'Only dead letters of this endpoint.' })
  endpoint_id?: string;

  @EnumListQueryProperty(EVENT_TYPES, { description: 'Only dead letters of these event types, separated by commas.' })
  event_type?: string;

  @EnumListQueryProperty(DELIVERY_ERROR_CODES, {
    description: 'Only dead letters with one of these error codes (`last_error.code`), separated by commas.',
    example: 'timeout',
  })
  reason?: string;

  @TimeQueryProperty({ description: 'Only events created at this time or later.' })
  since?: string;

  @TimeQueryProperty({ description: 'Only events created at this time or earlier.' })
  until?: string;
}

@ApiSchema({ name: 'WebhookDeadLetters' })
export class SelectDeadLettersDto {
  @IdProperty('whe', { description: 'Only dead letters of this endpoint.', nullable: true })
  endpoint_id?: string | null;

  @EnumListProperty(EVENT_TYPES, {
    description: 'Only dead letters of these event types.',
    example: ['shipment.updated'],
    nullable: true,
  })
  event_types?: string[] | null;

  @EnumListProperty(DELIVERY_ERROR_CODES, {
    description: 'Only dead letters with one of these error codes (`last_error.code`).',
    example: ['timeout', 'connection_refused'],
    nullable: true,
  })
  reasons?: string[] | null;

  @TimestampProperty({ description: 'Only events created at this time or later.', nullable: true })
  since?: string | null;

  @TimestampProperty({
    description: 'Only events created at this time or earlier. Defaults to the time of the request.',
    nullable: true,
  })
  until?: string | null;

  @TextListProperty(MAX_DELIVERY_IDS, {
    description: 'Only the deliveries with these ids.',
    example: ['dlv_9c1e2k7qv3n5xw6yz2aabbccdd'],
    nullable: true,
  })
  delivery_ids?: string[] | null;
}

export function convertToDeadLetterFilter({
  endpoint_id,
  event_type,
  reason,
  since,
  until,
}: GetDeadLetterSummaryDto): DeadLetterFilter {
  return {
    ...(endpoint_id && { endpoint_id }),
    ...(event_type && { event_types: event_type.split(',') }),
    ...(reason && { reasons: reason.split(',') }),
    ...(since && { since }),
    ...(until && { until }),
  };
}

export function toDeadLettersFilter(dto: SelectDeadLettersDto): ReplayOrDiscardCommand['filter'] {
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

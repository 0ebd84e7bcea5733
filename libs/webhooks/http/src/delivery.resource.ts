import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { DELIVERY_ERROR_CODES, DELIVERY_STATUSES, EVENT_TYPES, type JsonValue } from '@tracking/contracts';
import {
  PageDto,
  PageType,
  QueryId,
  QueryOneOf,
  QueryTime,
  selectedOf,
  QueryEnumList,
  TIME,
  WithWarnings,
} from '@tracking/http';
import type { DeliveryFilter, WebhookAttempt, WebhookDelivery, WebhookDeliveryDetail } from '@tracking/webhooks';
import { WebhookErrorResource } from './endpoint.resource.ts';

@ApiSchema({ name: 'WebhookDelivery' })
class DeliveryResource implements WebhookDelivery {
  @ApiProperty({
    description: 'Service-assigned identifier: one for an event and an endpoint.',
    example: 'dlv_9c1e2k7qv3n5xw6yz2aabbccdd',
  })
  readonly id!: string;
  @ApiProperty({ description: 'Where it goes.' })
  readonly endpoint_id!: string;
  @ApiProperty({ description: 'What it brings.' })
  readonly event_id!: string;
  @ApiProperty({ description: 'Type of the event.', enum: EVENT_TYPES })
  readonly event_type!: string;
  @ApiProperty({ description: 'How far it is.', enum: DELIVERY_STATUSES })
  readonly status!: WebhookDelivery['status'];
  @ApiProperty({ description: 'Whether the event was made for a test.' })
  readonly sandbox!: boolean;
  @ApiProperty({ ...TIME, description: 'When it was recorded. UTC with milliseconds.' })
  readonly created_at!: string;
  @ApiProperty({ ...TIME, nullable: true, description: 'The next attempt by the schedule. UTC with milliseconds.' })
  readonly next_attempt_at!: string | null;
  @ApiProperty({ ...TIME, nullable: true, description: 'When it came to its end. UTC with milliseconds.' })
  readonly completed_at!: string | null;
  @ApiProperty({ type: 'integer', description: 'Attempts made.' })
  readonly attempts_count!: number;
  @ApiProperty({ type: WebhookErrorResource, nullable: true, description: 'Why the last attempt failed.' })
  readonly last_error!: WebhookErrorResource | null;
  @ApiProperty({ type: 'integer', description: 'Grows with every change, attempts among them.' })
  readonly version!: number;
}

@ApiSchema({ name: 'WebhookDeliveryWritten' })
export class DeliveryWrittenResource extends IntersectionType(DeliveryResource, WithWarnings) {}

@ApiSchema({ name: 'WebhookResponse' })
class ResponseResource {
  @ApiProperty({
    type: 'object',
    description: 'Headers, names in lower case.',
    additionalProperties: { type: 'string' },
  })
  readonly headers!: Record<string, string>;
  @ApiProperty({ description: 'The body, at most 16 KiB of it.' })
  readonly body!: string;
}

@ApiSchema({ name: 'WebhookAttempt' })
class AttemptResource implements WebhookAttempt {
  @ApiProperty({ type: 'integer', description: 'From 1. Of very many the first and the latest fifty are kept.' })
  readonly number!: number;
  @ApiProperty({ ...TIME, description: 'When it began. UTC with milliseconds.' })
  readonly at!: string;
  @ApiProperty({ type: 'integer', description: 'From name resolution to the last byte, in milliseconds.' })
  readonly duration_ms!: number;
  @ApiProperty({ type: 'integer', nullable: true, description: 'What the endpoint answered with.' })
  readonly status_code!: number | null;
  @ApiProperty({ type: WebhookErrorResource, nullable: true, description: 'Why it failed.' })
  readonly error!: WebhookErrorResource | null;
  @ApiProperty({ type: ResponseResource, nullable: true, description: 'What the endpoint answered.' })
  readonly response!: ResponseResource | null;
  @ApiProperty({ description: 'Whether a person asked for it.' })
  readonly manual!: boolean;
  @ApiProperty({
    type: Boolean,
    description: 'Its kept-alive connection was found closed, and it was sent once more on a new one; else not there.',
    required: false,
    enum: [true],
  })
  readonly resent?: true;
}

@ApiSchema({ name: 'WebhookDeliveryDetail' })
export class DeliveryDetailResource extends DeliveryResource implements WebhookDeliveryDetail {
  @ApiProperty({
    type: 'object',
    nullable: true,
    description: 'The body, as it was and will be sent.',
    additionalProperties: true,
  })
  readonly payload!: JsonValue;
  @ApiProperty({ type: [AttemptResource], description: 'Every attempt.' })
  readonly attempts!: AttemptResource[];
}

@ApiSchema({ name: 'WebhookDeliveryPage' })
export class DeliveryPageResource extends PageType(DeliveryResource, 'The deliveries of this page.') {}

export class ListDeliveriesDto extends PageDto {
  @QueryId('whe', { description: 'Only those to this endpoint.' })
  endpoint_id?: string;

  @QueryId('evt', { description: 'Only those of this event.' })
  event_id?: string;

  @QueryOneOf(EVENT_TYPES, { description: 'Only those of events of this type.', example: 'milestone.recorded' })
  event_type?: string;

  @QueryEnumList(DELIVERY_STATUSES, {
    description: `One or more of ${DELIVERY_STATUSES.join(', ')}, separated by commas.`,
    example: 'retrying',
  })
  status?: string;

  @QueryOneOf(DELIVERY_ERROR_CODES, {
    description: 'Only dead letters with this code of their `last_error`.',
    example: 'timeout',
  })
  reason?: string;

  @QueryTime({ description: 'Only those of events created at this time or later.' })
  since?: string;

  @QueryTime({ description: 'Only those of events created at this time or earlier.' })
  until?: string;
}

export function deliveryFilter(query: ListDeliveriesDto): DeliveryFilter {
  const { endpoint_id, event_id, event_type, status, reason, since, until } = query;
  return {
    ...(endpoint_id && { endpoint_id }),
    ...(event_id && { event_id }),
    ...(event_type && { event_type }),
    ...(status && { statuses: selectedOf(DELIVERY_STATUSES, status) }),
    ...(reason && { reason }),
    ...(since && { since }),
    ...(until && { until }),
  };
}

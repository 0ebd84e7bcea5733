import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { DELIVERY_ERROR_CODES, DELIVERY_STATUSES, EVENT_TYPES, type JsonValue } from '@tracking/contracts';
import {
  PageDto,
  createPageResourceClass,
  IdQueryProperty,
  TimeQueryProperty,
  createSchemaReference,
  selectKnownValuesOfCommaSeparatedList,
  EnumListQueryProperty,
  RequestBodyValidationPipe,
  RESPONSE_TIME_SCHEMA,
  WithWarnings,
} from '@tracking/http';
import type { DeliveryFilter, WebhookAttempt, WebhookDelivery, DetailedWebhookDelivery } from '@tracking/webhooks';
import { TestEndpointDto, WebhookErrorResource } from './endpoint.resource.ts';

@ApiSchema({ name: 'WebhookDelivery' })
class DeliveryResource implements WebhookDelivery {
  @ApiProperty({
    description: 'Service-assigned identifier. An event has one delivery for each endpoint.',
    example: 'dlv_9c1e2k7qv3n5xw6yz2aabbccdd',
  })
  readonly id!: string;
  @ApiProperty({ description: 'Id of the endpoint.' })
  readonly endpoint_id!: string;
  @ApiProperty({ description: 'Id of the event.' })
  readonly event_id!: string;
  @ApiProperty({ description: 'Type of the event.', enum: EVENT_TYPES })
  readonly event_type!: string;
  @ApiProperty({ description: 'Status of the delivery.', enum: DELIVERY_STATUSES })
  readonly status!: WebhookDelivery['status'];
  @ApiProperty({ description: 'True if the event is a sandbox event, which the test operation sends.' })
  readonly sandbox!: boolean;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    description: 'Time at which the delivery was recorded. UTC with milliseconds.',
  })
  readonly created_at!: string;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time of the next scheduled attempt. UTC with milliseconds.',
  })
  readonly next_attempt_at!: string | null;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time at which the delivery ended. UTC with milliseconds.',
  })
  readonly completed_at!: string | null;
  @ApiProperty({ type: 'integer', description: 'Number of attempts made.' })
  readonly attempts_count!: number;
  @ApiProperty({
    type: WebhookErrorResource,
    nullable: true,
    description: 'Error of the last attempt; null if it succeeded.',
  })
  readonly last_error!: WebhookErrorResource | null;
  @ApiProperty({ type: 'integer', description: 'Increases with every change, including attempts.' })
  readonly version!: number;
}

@ApiSchema({ name: 'WebhookDeliveryWritten' })
export class DeliveryWrittenResource extends IntersectionType(DeliveryResource, WithWarnings) {}

export const TEST_ENDPOINT_BODY_PIPE = new RequestBodyValidationPipe(TestEndpointDto, DeliveryWrittenResource);

@ApiSchema({ name: 'WebhookResponse' })
class ResponseResource {
  @ApiProperty({
    type: 'object',
    description: 'Response headers, with names in lower case.',
    additionalProperties: { type: 'string' },
  })
  readonly headers!: Record<string, string>;
  @ApiProperty({ description: 'Response body, cut to 16 KiB.' })
  readonly body!: string;
}

@ApiSchema({ name: 'WebhookAttempt' })
class AttemptResource implements WebhookAttempt {
  @ApiProperty({
    type: 'integer',
    description: 'Number of the attempt, from 1. The first 50 and the latest 50 attempts are kept.',
  })
  readonly number!: number;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Start of the attempt. UTC with milliseconds.' })
  readonly at!: string;
  @ApiProperty({ type: 'integer', description: 'Duration in milliseconds, from name resolution to the last byte.' })
  readonly duration_ms!: number;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Status code of the response; null without a response.',
  })
  readonly status_code!: number | null;
  @ApiProperty({
    type: WebhookErrorResource,
    nullable: true,
    description: 'Error of the attempt; null if it succeeded.',
  })
  readonly error!: WebhookErrorResource | null;
  @ApiProperty({
    type: ResponseResource,
    nullable: true,
    description: 'Response of the endpoint; null without a response.',
  })
  readonly response!: ResponseResource | null;
  @ApiProperty({ description: 'True if a person requested the attempt.' })
  readonly manual!: boolean;
  @ApiProperty({
    type: Boolean,
    description:
      'Present if the receiver had closed the kept-alive connection, so the request was sent again on a new connection.',
    required: false,
  })
  readonly resent?: true;
}

@ApiSchema({ name: 'WebhookDeliveryDetail' })
export class DeliveryDetailResource extends DeliveryResource implements DetailedWebhookDelivery {
  @ApiProperty({
    anyOf: [createSchemaReference('WebhookPayload'), { type: 'null' }],
    description:
      'Body of the request, the same for every attempt. After a 413 to an endpoint with `payload: "thin"`, it changes to the thin form.',
  } as object)
  readonly payload!: JsonValue;
  @ApiProperty({ type: [AttemptResource], description: 'Attempts made, oldest first.' })
  readonly attempts!: AttemptResource[];
}

@ApiSchema({ name: 'WebhookDeliveryPage' })
export class DeliveryPageResource extends createPageResourceClass(DeliveryResource, 'Deliveries of this page.') {}

export class ListDeliveriesDto extends PageDto {
  @IdQueryProperty('whe', { description: 'Only deliveries to this endpoint.' })
  endpoint_id?: string;

  @IdQueryProperty('evt', { description: 'Only deliveries of this event.' })
  event_id?: string;

  @EnumListQueryProperty(EVENT_TYPES, {
    description: 'Only deliveries of events of these types, separated by commas.',
    example: 'milestone.recorded',
  })
  event_type?: string;

  @EnumListQueryProperty(DELIVERY_STATUSES, {
    description: `One or more statuses, separated by commas: ${DELIVERY_STATUSES.join(', ')}.`,
    example: 'retrying',
  })
  status?: string;

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

export function toDeliveryFilter(query: ListDeliveriesDto): DeliveryFilter {
  const { endpoint_id, event_id, event_type, status, reason, since, until } = query;
  return {
    ...(endpoint_id && { endpoint_id }),
    ...(event_id && { event_id }),
    ...(event_type && { event_types: selectKnownValuesOfCommaSeparatedList(EVENT_TYPES, event_type) }),
    ...(status && { statuses: selectKnownValuesOfCommaSeparatedList(DELIVERY_STATUSES, status) }),
    ...(reason && { reasons: selectKnownValuesOfCommaSeparatedList(DELIVERY_ERROR_CODES, reason) }),
    ...(since && { since }),
    ...(until && { until }),
  };
}

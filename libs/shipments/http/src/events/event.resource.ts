import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { OpenAPIObject } from '@nestjs/swagger';
import type * as wire from '@tracking/contracts';
import { API_VERSIONS, ENVIRONMENTS, EVENT_TYPES, isEndpointEvent, SHIPMENT_EVENT_TYPES } from '@tracking/contracts';
import {
  createEventSchemaName,
  CHANGE_SCHEMA,
  PageDto,
  createPageResourceClass,
  toPascalCase,
  IdQueryProperty,
  EnumQueryProperty,
  TimeQueryProperty,
  createSchemaReference,
  selectKnownValuesOfCommaSeparatedList,
  EnumListQueryProperty,
  RESPONSE_TIME_SCHEMA,
} from '@tracking/http';
import type { JsonSchema } from '@tracking/http';
import type { EventListQuery } from '@tracking/read-models';

/** The envelope of an event, as webhook endpoints receive it. */
@ApiSchema({ name: 'Event' })
export class EventResource implements wire.EventEnvelope {
  @ApiProperty({
    description: 'Id of the event, the same in every delivery. Use it to ignore duplicates.',
    example: 'evt_5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11',
  })
  readonly id!: string;
  @ApiProperty({ description: 'Type of the event.', enum: EVENT_TYPES })
  readonly type!: wire.EventType;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time of the event. UTC with milliseconds.' })
  readonly created_at!: string;
  @ApiProperty({ description: 'Version of the event format.', enum: API_VERSIONS })
  readonly api_version!: wire.ApiVersion;
  @ApiProperty({ description: 'Environment of the event.', enum: ENVIRONMENTS })
  readonly environment!: wire.Environment;
  @ApiProperty({ description: 'Id of the workspace.' })
  readonly workspace_id!: string;
  @ApiProperty({
    type: Boolean,
    description: 'True for a test event; absent for other events.',
    required: false,
  })
  readonly sandbox?: true;
  @ApiProperty({
    type: 'object',
    description:
      'The resource at the time of the event, with `shipment_id`, `external_id` and `shipment_version`, which orders the events of a shipment.',
    additionalProperties: true,
  })
  readonly data!: wire.JsonObject;
}

@ApiSchema({ name: 'EventPage' })
export class EventPageResource extends createPageResourceClass(EventResource, 'The events of this page.') {}

/**
 * Sort orders of event lists: the order of publication, or with `-` the reverse. The order is close to that of
 * `created_at`.
 */
const EVENT_SORTS = ['published', '-published'] as const;

export class ListEventsDto extends PageDto {
  @EnumListQueryProperty(SHIPMENT_EVENT_TYPES, {
    description: `One or more of ${SHIPMENT_EVENT_TYPES.join(', ')}, separated by commas.`,
    example: 'milestone.recorded',
  })
  type?: string;

  @IdQueryProperty('shp', { description: 'Only events of this shipment.' })
  shipment_id?: string;

  @TimeQueryProperty({ description: 'Only events created at this time or later.', example: '2026-11-21T09:30:00Z' })
  since?: string;

  @TimeQueryProperty({ description: 'Only events created at this time or earlier.', example: '2026-11-22T09:30:00Z' })
  until?: string;

  @IdQueryProperty('evt', {
    description: 'Only events after this one, for example the last one that a receiver processed.',
  })
  after?: string;

  @EnumQueryProperty(EVENT_SORTS, {
    description: 'Order of the events: `published` (default) is the order of publication, `-published` the reverse.',
  })
  sort?: (typeof EVENT_SORTS)[number];
}

/** Converts query parameters to the filter of an event list. */
export function toEventFilter({ type, shipment_id, since, until, after }: ListEventsDto): EventListQuery['filter'] {
  return {
    ...(type && { type: selectKnownValuesOfCommaSeparatedList(SHIPMENT_EVENT_TYPES, type) }),
    ...(shipment_id && { shipment_id }),
    ...(since && { since }),
    ...(until && { until }),
    ...(after && { after }),
  };
}

/** Fields of `data` that every event about a shipment has. */
@ApiSchema({ name: 'EventData' })
export class EventDataResource {
  @ApiProperty({ description: 'Id of the shipment.' })
  readonly shipment_id!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Your own reference of the shipment.' })
  readonly external_id!: string | null;
  @ApiProperty({
    type: 'integer',
    description: 'Version of the shipment after the event. It orders the events of a shipment.',
  })
  readonly shipment_version!: number;
}

/**
 * Adds one schema for each event type, and makes `Event` the union of the shipment event types, discriminated by
 * `type`.
 */
export function addEventSchemasToOpenApi(document: OpenAPIObject): void {
  const schemas = document.components?.schemas as Record<string, JsonSchema>;
  const { Event: envelope, EventData: data } = schemas as Record<string, { properties: object; required: string[] }>;
  if (!envelope || !data) throw new Error('the OpenAPI document has no schemas Event and EventData');
  for (const type of EVENT_TYPES) {
    const own = createEventDataSchemas(type);
    const shared = isEndpointEvent(type) ? { properties: {}, required: [] } : data;
    schemas[createEventSchemaName(type)] = {
      ...envelope,
      properties: {
        ...envelope.properties,
        type: { type: 'string', const: type, description: 'Type of the event.' },
        data: {
          type: 'object',
          properties: { ...shared.properties, ...own },
          required: [...shared.required, ...Object.keys(own)],
        },
      },
    };
  }
  const references = SHIPMENT_EVENT_TYPES.map(
    (type) => [type, createSchemaReference(createEventSchemaName(type))] as const,
  );
  schemas['Event'] = {
    description: 'An event of a shipment, as receivers get it.',
    oneOf: references.map(([, reference]) => reference),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(references.map(([type, { $ref }]) => [type, $ref])),
    },
  };
  delete schemas['EventData'];
}

/**
 * Returns the fields of `data` that only events of this type have. For a shipment event, they are the resource of its
 * type.
 */
function createEventDataSchemas(type: wire.EventType): JsonSchema {
  if (type === 'webhook_endpoint.failing')
    return { endpoint: ENDPOINT_SCHEMA, failing_since: FAILING_SINCE_SCHEMA, reason: FAILURE_REASON_SCHEMA };
  if (type === 'webhook_delivery.dead_lettered')
    return { endpoint: ENDPOINT_SCHEMA, delivery: FAILED_DELIVERY_SCHEMA, reason: FAILURE_REASON_SCHEMA };
  const [resource = ''] = type.split('.');
  return {
    [resource]: {
      ...createSchemaReference(resource === 'exception' ? 'ShipmentException' : toPascalCase(resource)),
      description: 'The resource after the event.',
    },
    ...(type === 'shipment.updated' && { changes: CHANGES_SCHEMA }),
  };
}

const CHANGES_SCHEMA = {
  description: 'Old and new value (`from`, `to`) of each changed field of the shipment.',
  type: 'object',
  additionalProperties: CHANGE_SCHEMA,
};

const ENDPOINT_SCHEMA = {
  ...createSchemaReference('WebhookEndpoint'),
  description: 'The webhook endpoint that the event is about, at the time of the event.',
};
const FAILURE_REASON_SCHEMA = {
  ...createSchemaReference('WebhookError'),
  description: 'Reason for the failure of the latest attempt.',
};
const FAILING_SINCE_SCHEMA = { type: 'string', format: 'date-time', description: 'Time of the first failed attempt.' };
const FAILED_DELIVERY_SCHEMA = {
  ...createSchemaReference('WebhookDelivery'),
  description: 'The delivery that failed permanently.',
};

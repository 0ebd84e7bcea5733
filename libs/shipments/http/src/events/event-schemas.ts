import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { OpenAPIObject } from '@nestjs/swagger';
import { EVENT_TYPES, SHIPMENT_EVENT_TYPES, isEndpointEvent } from '@tracking/contracts';
import type { EventType } from '@tracking/contracts';
import { FROM_TO, eventSchemaName, pascalCase, schemaRef } from '@tracking/http';
import type { JsonSchema } from '@tracking/http';

/** What the data of every event of a shipment holds. */
@ApiSchema({ name: 'EventData' })
export class EventDataResource {
  @ApiProperty({ description: 'The shipment that it is about.' })
  readonly shipment_id!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Your own reference of the shipment.' })
  readonly external_id!: string | null;
  @ApiProperty({
    type: 'integer',
    description: 'Version of the shipment right after: order the events of a shipment by it.',
  })
  readonly shipment_version!: number;
}

const CHANGES = {
  description: 'By field of the shipment, `from` what and `to` what.',
  type: 'object',
  additionalProperties: FROM_TO,
};

const ENDPOINT = { ...schemaRef('WebhookEndpoint'), description: 'The other endpoint, as it was then.' };
const REASON = { ...schemaRef('WebhookError'), description: 'Why its latest attempt failed.' };
const FAILING_SINCE = { type: 'string', format: 'date-time', description: 'When its first attempt failed.' };
const DELIVERY = { ...schemaRef('WebhookDelivery'), description: 'The one that failed for good.' };

/** What it holds of its own: of a shipment's event the resource, named as the type begins. */
function dataOf(type: EventType): JsonSchema {
  if (type === 'webhook_endpoint.failing') return { endpoint: ENDPOINT, failing_since: FAILING_SINCE, reason: REASON };
  if (type === 'webhook_delivery.dead_lettered') return { endpoint: ENDPOINT, delivery: DELIVERY, reason: REASON };
  const [resource = ''] = type.split('.');
  return {
    [resource]: { ...schemaRef(pascalCase(resource)), description: 'As it was right after the event.' },
    ...(type === 'shipment.updated' && { changes: CHANGES }),
  };
}

/** Makes a schema of each type of event, and `Event` the union of those of shipments, told apart by `type`. */
export function describeEvents(document: OpenAPIObject): void {
  const schemas = document.components?.schemas as Record<string, JsonSchema>;
  const { Event: envelope, EventData: data } = schemas as Record<string, { properties: object; required: string[] }>;
  if (!envelope || !data) throw new Error('there is no schema of events');
  for (const type of EVENT_TYPES) {
    const own = dataOf(type);
    const shared = isEndpointEvent(type) ? { properties: {}, required: [] } : data;
    schemas[eventSchemaName(type)] = {
      ...envelope,
      properties: {
        ...envelope.properties,
        type: { type: 'string', const: type, description: 'What happened.' },
        data: {
          type: 'object',
          properties: { ...shared.properties, ...own },
          required: [...shared.required, ...Object.keys(own)],
        },
      },
    };
  }
  const named = SHIPMENT_EVENT_TYPES.map((type) => [type, schemaRef(eventSchemaName(type))] as const);
  schemas['Event'] = {
    description: 'Something that happened to a shipment, as receivers get it.',
    oneOf: named.map(([, reference]) => reference),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(named.map(([type, { $ref }]) => [type, $ref])) },
  };
  delete schemas['EventData'];
}

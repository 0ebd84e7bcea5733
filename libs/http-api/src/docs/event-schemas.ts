import { ApiSchema } from '@nestjs/swagger';
import type { OpenAPIObject } from '@nestjs/swagger';
import { SANDBOX_EVENT_TYPES } from '@tracking/contracts';
import type { EventType } from '@tracking/contracts';
import { schemaRef } from './described.ts';
import type { JsonSchema } from './described.ts';
import { FROM_TO, Shown } from './shown.ts';

/** What the data of every event holds. */
@ApiSchema({ name: 'EventData' })
export class EventDataResource {
  @Shown(String, 'The shipment that it is about.')
  readonly shipment_id!: string;
  @Shown(String, 'Your own reference of the shipment.', { nullable: true })
  readonly external_id!: string | null;
  @Shown('integer', 'Version of the shipment right after: order the events of a shipment by it.')
  readonly shipment_version!: number;
}

const CHANGES = {
  description: 'By field of the shipment, `from` what and `to` what.',
  type: 'object',
  additionalProperties: FROM_TO,
};

/** What else it holds: the resource, named as the type begins. */
function dataOf(type: EventType): JsonSchema {
  const [resource = ''] = type.split('.');
  return {
    [resource]: { ...schemaRef(pascal(resource)), description: 'As it was right after the event.' },
    ...(type === 'shipment.updated' && { changes: CHANGES }),
  };
}

/** `MilestoneRecordedEvent` of `milestone.recorded`. */
export const eventSchemaName = (type: EventType): string => `${pascal(type)}Event`;

function pascal(name: string): string {
  return name.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Types of events that come to pass, each with a schema of its own. */
export const DESCRIBED_EVENTS = SANDBOX_EVENT_TYPES;

/** Makes `Event` the union of them, told apart by `type`. */
export function describeEvents(document: OpenAPIObject): void {
  const schemas = document.components?.schemas as Record<string, JsonSchema>;
  const { Event: envelope, EventData: data } = schemas as Record<string, { properties: object; required: string[] }>;
  if (!envelope || !data) throw new Error('there is no schema of events');
  for (const type of DESCRIBED_EVENTS) {
    const own = dataOf(type);
    schemas[eventSchemaName(type)] = {
      ...envelope,
      properties: {
        ...envelope.properties,
        type: { type: 'string', const: type, description: 'What happened.' },
        data: {
          type: 'object',
          properties: { ...data.properties, ...own },
          required: [...data.required, ...Object.keys(own)],
        },
      },
    };
  }
  const named = DESCRIBED_EVENTS.map((type) => [type, schemaRef(eventSchemaName(type))] as const);
  schemas['Event'] = {
    description: 'Something that happened, as receivers get it.',
    oneOf: named.map(([, reference]) => reference),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(named.map(([type, { $ref }]) => [type, $ref])) },
  };
  delete schemas['EventData'];
}

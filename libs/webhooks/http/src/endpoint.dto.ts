import type { PipeTransform } from '@nestjs/common';
import { ApiSchema, PartialType } from '@nestjs/swagger';
import { API_VERSIONS, EVENT_TYPES } from '@tracking/contracts';
import type { JsonObject, JsonValue } from '@tracking/contracts';
import { BodyPipe, field, Forwarded, inLowerCase, MAX_TEXT, text } from '@tracking/http';
import type { ReadBody, Sent } from '@tracking/http';
import { EndpointCreatedResource } from './endpoint.resource.ts';

const eventType = inLowerCase(EVENT_TYPES);

/** What clients set; webhooks judge it, as only they know which URLs they may send to. */
@ApiSchema({ name: 'WebhookEndpointFields' })
export class EndpointDto {
  @Forwarded(
    { type: String, format: 'uri', maxLength: MAX_TEXT },
    {
      description: 'Where events are posted to: https, without credentials or a fragment. A new one is to be verified.',
      example: 'https://tms.example.com/webhooks',
      required: true,
    },
  )
  url?: JsonValue;

  @Forwarded(
    { type: [String], enum: ['*', ...EVENT_TYPES], minItems: 1 },
    { description: 'What it gets; `*` is the six standard types.', example: ['*'], required: true },
    { normalise: (types) => (Array.isArray(types) ? types.map(eventType) : types) },
  )
  event_types?: JsonValue;

  @Forwarded({ type: String, maxLength: MAX_TEXT, nullable: true }, { description: 'For people.' })
  description?: JsonValue;

  @Forwarded(
    { type: String, enum: [...API_VERSIONS] },
    { description: 'Version of the payloads; the newest when the endpoint is made, unless told.' },
  )
  api_version?: JsonValue;

  @Forwarded(
    { type: 'object', additionalProperties: { type: 'string', maxLength: MAX_TEXT }, maxProperties: 20 },
    {
      description: 'Go with every delivery, never over ours. Shown masked; a mask sent back keeps the value.',
      example: { 'x-token': 'secret' },
    },
  )
  headers?: JsonValue;

  @Forwarded({ type: 'integer', minimum: 1, maximum: 100 }, { description: 'Most attempts at once; 16 unless told.' })
  max_concurrency?: JsonValue;
}

/** What is left out stays as it is. */
@ApiSchema({ name: 'WebhookEndpointChanges' })
export class EndpointChangesDto extends PartialType(EndpointDto) {}

const endpoint = new BodyPipe(EndpointDto, EndpointCreatedResource);

/** The fields that a body sets, as they were sent. */
export const ENDPOINT_FIELDS: PipeTransform<Sent, ReadBody<JsonObject>> = {
  transform(sent) {
    const { value, warnings } = endpoint.transform(sent);
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return { value: Object.fromEntries(fields) as JsonObject, warnings };
  },
};

@ApiSchema({ name: 'WebhookEndpointTest' })
export class TestEndpointDto {
  @field(
    text,
    { description: 'Type of the sandbox event.', example: 'milestone.recorded', required: true },
    { type: String, enum: [...EVENT_TYPES] },
    { normalise: eventType },
  )
  type!: string;
}

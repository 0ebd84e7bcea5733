import type { PipeTransform } from '@nestjs/common';
import { ApiProperty, ApiSchema, IntersectionType, PartialType } from '@nestjs/swagger';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { API_VERSIONS, ENVIRONMENTS, EVENT_TYPES } from '@tracking/contracts';
import type { ApiVersion, Environment, JsonObject } from '@tracking/contracts';
import {
  BodyPipe,
  Forwarded,
  InputType,
  MAX_TEXT,
  PageType,
  Resource,
  TIME,
  WithWarnings,
  field,
  inLowerCase,
  text,
} from '@tracking/http';
import type { ReadBody, Sent } from '@tracking/http';
import type { NewWebhookEndpoint, WebhookEndpoint } from '@tracking/webhooks';

const eventType = inLowerCase(EVENT_TYPES);

@ApiSchema({ name: 'WebhookError' })
export class WebhookErrorResource {
  @ApiProperty({ description: 'Stable code.', example: 'timeout' })
  readonly code!: string;
  @ApiProperty({ description: 'What went wrong, for people.' })
  readonly message!: string;
}

@ApiSchema({ name: 'WebhookVerification' })
export class VerificationResource {
  @ApiProperty({ ...TIME, description: 'When the challenge was sent. UTC with milliseconds.' })
  readonly at!: string;
  @ApiProperty({ description: 'Whether the endpoint answered with the token.' })
  readonly ok!: boolean;
  @ApiProperty({ type: WebhookErrorResource, nullable: true, description: 'Why it counts as failed.' })
  readonly error!: WebhookErrorResource | null;
}

@ApiSchema({ name: 'WebhookEndpoint' })
export class EndpointResource extends Resource implements WebhookEndpoint {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'whe_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @Forwarded(
    { type: String, format: 'uri', maxLength: MAX_TEXT },
    {
      description: 'Where events are posted to: https, without credentials or a fragment. A new one is to be verified.',
      example: 'https://tms.example.com/webhooks',
    },
    { answer: { format: undefined } as unknown as ApiPropertyOptions },
  )
  readonly url!: string;
  @Forwarded(
    { type: [String], enum: ['*', ...EVENT_TYPES], minItems: 1 },
    { description: 'What it gets; `*` is the six standard types.', example: ['*'] },
    { normalise: (types) => (Array.isArray(types) ? types.map(eventType) : types) },
  )
  readonly event_types!: string[];
  @Forwarded({ type: String, maxLength: MAX_TEXT }, { description: 'For people.', nullable: true })
  readonly description!: string | null;
  @Forwarded(
    { type: String, enum: [...API_VERSIONS] },
    { description: 'Version of the payloads; the newest when the endpoint is made, unless told.' },
  )
  readonly api_version!: ApiVersion;
  @ApiProperty({ description: 'Whose events it gets.', enum: ENVIRONMENTS })
  readonly environment!: Environment;
  @ApiProperty({
    description: 'Only an enabled one gets live events.',
    enum: ['pending_verification', 'verified', 'enabled', 'disabled'],
  })
  readonly status!: WebhookEndpoint['status'];
  @ApiProperty({ nullable: true, description: '`manual`, or `gone`: it answered 410.', enum: ['manual', 'gone'] })
  readonly disabled_reason!: WebhookEndpoint['disabled_reason'];
  @ApiProperty({
    type: VerificationResource,
    nullable: true,
    description: 'Outcome of the last challenge to this URL.',
  })
  readonly last_verification!: VerificationResource | null;
  @Forwarded(
    { type: 'object', additionalProperties: { type: 'string', maxLength: MAX_TEXT }, maxProperties: 20 },
    {
      description: 'Go with every delivery, never over ours. Shown masked; a mask sent back keeps the value.',
      example: { 'x-token': 'secret' },
    },
    { answer: { additionalProperties: { type: 'string' } } as ApiPropertyOptions },
  )
  readonly headers!: Record<string, string>;
  @Forwarded({ type: 'integer', minimum: 1, maximum: 100 }, { description: 'Most attempts at once; 16 unless told.' })
  readonly max_concurrency!: number;
  @ApiProperty({ ...TIME, description: 'When it was made. UTC with milliseconds.' })
  readonly created_at!: string;
  @ApiProperty({ ...TIME, description: 'When it last changed. UTC with milliseconds.' })
  readonly updated_at!: string;
  @ApiProperty({ type: 'integer', description: 'Grows with every change.' })
  readonly version!: number;
}

/** The fields that clients set. The webhooks library judges them, as only it knows which URLs it may send to. */
@ApiSchema({ name: 'WebhookEndpointFields' })
export class EndpointDto extends InputType(EndpointResource, {
  required: ['url', 'event_types'],
  optional: ['description'],
  kept: ['api_version', 'headers', 'max_concurrency'],
}) {}

/** What is left out stays as it is. */
@ApiSchema({ name: 'WebhookEndpointChanges' })
export class EndpointChangesDto extends PartialType(EndpointDto) {}

@ApiSchema({ name: 'WebhookEndpointTest' })
export class TestEndpointDto {
  @field(
    text,
    { description: 'Type of the sandbox event.', example: 'milestone.recorded' },
    { type: String, enum: [...EVENT_TYPES] },
    { normalise: eventType },
  )
  readonly type!: string;
}

@ApiSchema({ name: 'WebhookEndpointWritten' })
export class EndpointWrittenResource extends IntersectionType(EndpointResource, WithWarnings) {}

export const EXAMPLE_SECRET = 'whsec_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3+4A=';

@ApiSchema({ name: 'WebhookEndpointCreated' })
export class EndpointCreatedResource extends EndpointWrittenResource implements NewWebhookEndpoint {
  @ApiProperty({
    description: 'Signs every request to it: the whole string is the HMAC key. No read shows it.',
    example: EXAMPLE_SECRET,
  })
  readonly secret!: string;
}

@ApiSchema({ name: 'WebhookEndpointDeleted' })
export class EndpointDeletedResource extends WithWarnings {
  @ApiProperty({ description: 'The endpoint that was.' })
  readonly id!: string;
  @ApiProperty({ type: Boolean, description: 'Always true.', enum: [true] })
  readonly deleted!: true;
}

@ApiSchema({ name: 'WebhookEndpointPage' })
export class EndpointPageResource extends PageType(
  EndpointResource,
  'The endpoints of this page.',
  'Send it as `cursor` for the next page.',
) {}

const endpoint = new BodyPipe(EndpointDto, EndpointCreatedResource);

/** The fields that a body sets, as they were sent. */
export const ENDPOINT_FIELDS: PipeTransform<Sent, ReadBody<JsonObject>> = {
  transform(sent) {
    const { value, warnings } = endpoint.transform(sent);
    return { value: { ...value } as JsonObject, warnings };
  },
};

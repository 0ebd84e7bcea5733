import { ApiProperty, type ApiPropertyOptions, ApiSchema, IntersectionType, PartialType } from '@nestjs/swagger';
import { API_VERSIONS, type ApiVersion, type Environment, ENVIRONMENTS, EVENT_TYPES } from '@tracking/contracts';
import {
  field,
  Forwarded,
  inLowerCase,
  InputType,
  MAX_TEXT,
  OptionalBodyPipe,
  PageType,
  PlainBodyPipe,
  Resource,
  text,
  TIME,
  WholeNumber,
  WithWarnings,
} from '@tracking/http';
import type { NewWebhookEndpoint, RevealedSecret, WebhookEndpoint } from '@tracking/webhooks';

const eventType = inLowerCase(EVENT_TYPES);

@ApiSchema({ name: 'WebhookError' })
export class WebhookErrorResource {
  @ApiProperty({ description: 'Stable code.', example: 'timeout' })
  readonly code!: string;
  @ApiProperty({ description: 'What went wrong, for people.' })
  readonly message!: string;
}

@ApiSchema({ name: 'WebhookVerification' })
class VerificationResource {
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

/** The fields that clients set. The webhooks library checks them, because only it knows which URLs are allowed. */
@ApiSchema({ name: 'WebhookEndpointFields' })
export class EndpointDto extends InputType(EndpointResource, {
  required: ['url', 'event_types'],
  optional: ['description'],
  kept: ['api_version', 'headers', 'max_concurrency'],
}) {}

/** Omitted fields stay as they are. */
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

const EXAMPLE_SECRET = 'whsec_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3+4A=';

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

export const ENDPOINT_BODY = new PlainBodyPipe(EndpointDto, EndpointCreatedResource);

const MAX_OVERLAP_SECONDS = 7 * 86_400;

@ApiSchema({ name: 'WebhookPreviousSecret' })
class PreviousSecretResource {
  @ApiProperty({ description: 'Signs beside the newest one.', example: EXAMPLE_SECRET })
  readonly secret!: string;
  @ApiProperty({ ...TIME, description: 'From then on it signs nothing. UTC with milliseconds.' })
  readonly expires_at!: string;
}

@ApiSchema({ name: 'WebhookSecrets' })
export class EndpointSecretsResource extends WithWarnings implements RevealedSecret {
  @ApiProperty({ description: 'The endpoint.', example: 'whe_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ description: 'The newest: the whole string is the HMAC key.', example: EXAMPLE_SECRET })
  readonly secret!: string;
  @ApiProperty({
    type: [PreviousSecretResource],
    description: 'Those that a rotation left valid, the newest first; four at most.',
  })
  readonly previous_secrets!: PreviousSecretResource[];
}

@ApiSchema({ name: 'WebhookSecretRotation' })
export class RotateSecretDto {
  @WholeNumber(0, MAX_OVERLAP_SECONDS, {
    description: 'How long the old secret signs beside the new one; 86,400, a day, unless told.',
    example: 86_400,
    nullable: true,
  })
  expires_in_seconds?: number | null;
}

export const ROTATION_BODY = new OptionalBodyPipe(RotateSecretDto, EndpointCreatedResource);

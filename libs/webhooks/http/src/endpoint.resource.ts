import { ApiProperty, type ApiPropertyOptions, ApiSchema, IntersectionType, PartialType } from '@nestjs/swagger';
import {
  API_VERSIONS,
  type ApiVersion,
  type Environment,
  ENVIRONMENTS,
  EVENT_TYPES,
  PAYLOAD_FORMS,
  type PayloadForm,
} from '@tracking/contracts';
import {
  CheckedProperty,
  PropertyCheckedByFeature,
  createCaseInsensitiveEnumParser,
  DeriveRequestClassFromResource,
  DEFAULT_MAX_CHARS,
  RequestBodyValidationPipe,
  createPageResourceClass,
  DeclaredBodyFieldsAsJsonPipe,
  ResponseSchemaBase,
  checkText,
  RESPONSE_TIME_SCHEMA,
  WholeNumberProperty,
  WithWarnings,
} from '@tracking/http';
import type { CreatedEndpointWithSecret, ActiveSigningSecrets, WebhookEndpoint } from '@tracking/webhooks';

const parseEventTypeIgnoringCase = createCaseInsensitiveEnumParser(EVENT_TYPES);

@ApiSchema({ name: 'WebhookError' })
export class WebhookErrorResource {
  @ApiProperty({ description: 'Stable error code.', example: 'timeout' })
  readonly code!: string;
  @ApiProperty({ description: 'Human-readable message.' })
  readonly message!: string;
}

@ApiSchema({ name: 'WebhookVerification' })
class VerificationResource {
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time at which the challenge was sent. UTC with milliseconds.' })
  readonly at!: string;
  @ApiProperty({ description: 'True if the endpoint answered with the token.' })
  readonly ok!: boolean;
  @ApiProperty({
    type: WebhookErrorResource,
    nullable: true,
    description: 'Error of the verification; null if it succeeded.',
  })
  readonly error!: WebhookErrorResource | null;
}

@ApiSchema({ name: 'WebhookEndpoint' })
export class EndpointResource extends ResponseSchemaBase implements WebhookEndpoint {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'whe_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @PropertyCheckedByFeature(
    { type: String, format: 'uri', maxLength: DEFAULT_MAX_CHARS },
    {
      description:
        'URL that events are sent to: https, without credentials or a fragment. A new URL has to be verified.',
      example: 'https://tms.example.com/webhooks',
    },
    { answer: { format: undefined } as unknown as ApiPropertyOptions },
  )
  readonly url!: string;
  @PropertyCheckedByFeature(
    { type: [String], enum: ['*', ...EVENT_TYPES], minItems: 1 },
    { description: 'Subscribed event types. `*` includes the six standard types.', example: ['*'] },
    { normalise: (types) => (Array.isArray(types) ? types.map(parseEventTypeIgnoringCase) : types) },
  )
  readonly event_types!: string[];
  @PropertyCheckedByFeature(
    { type: String, maxLength: DEFAULT_MAX_CHARS },
    { description: 'Free-text description of the endpoint, for people.', nullable: true },
  )
  readonly description!: string | null;
  @PropertyCheckedByFeature(
    { type: String, enum: [...API_VERSIONS] },
    { description: 'Version of the payloads. Defaults to the newest version when the endpoint is created.' },
  )
  readonly api_version!: ApiVersion;
  @PropertyCheckedByFeature(
    { type: String, enum: [...PAYLOAD_FORMS] },
    {
      description:
        'Form of the payloads. `full` (default): `data` has a snapshot of the resource. `thin`: without the snapshot, for receivers with small limits; ids, versions, `changes` and the main fields of milestones remain.',
    },
  )
  readonly payload!: PayloadForm;
  @ApiProperty({ description: 'Environment whose events the endpoint receives.', enum: ENVIRONMENTS })
  readonly environment!: Environment;
  @ApiProperty({
    description: 'Status of the endpoint. Only an `enabled` endpoint receives live events.',
    enum: ['pending_verification', 'verified', 'enabled', 'disabled'],
  })
  readonly status!: WebhookEndpoint['status'];
  @ApiProperty({
    nullable: true,
    description: 'Reason for the status `disabled`: `manual`, or `gone` if the endpoint answered 410.',
    enum: ['manual', 'gone'],
  })
  readonly disabled_reason!: WebhookEndpoint['disabled_reason'];
  @ApiProperty({
    type: VerificationResource,
    nullable: true,
    description: 'Result of the last challenge to the current URL.',
  })
  readonly last_verification!: VerificationResource | null;
  @PropertyCheckedByFeature(
    { type: 'object', additionalProperties: { type: 'string', maxLength: DEFAULT_MAX_CHARS }, maxProperties: 20 },
    {
      description:
        'Custom headers sent with every delivery. They cannot replace headers of the service. Values are masked in responses; to keep a value, send its mask. If scheme, host or port of `url` changes, only headers with values in the same request are kept.',
      example: { 'x-token': 'secret' },
    },
    { answer: { additionalProperties: { type: 'string' } } as ApiPropertyOptions },
  )
  readonly headers!: Record<string, string>;
  @PropertyCheckedByFeature(
    { type: 'integer', minimum: 1, maximum: 100 },
    { description: 'Maximum number of concurrent attempts. Defaults to 16.' },
  )
  readonly max_concurrency!: number;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    description: 'Time at which the endpoint was created. UTC with milliseconds.',
  })
  readonly created_at!: string;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time of the last change. UTC with milliseconds.' })
  readonly updated_at!: string;
  @ApiProperty({ type: 'integer', description: 'Increases with every change.' })
  readonly version!: number;
}

/** Fields that clients set. The webhooks library checks them, because only it knows which URLs are allowed. */
@ApiSchema({ name: 'WebhookEndpointFields' })
export class EndpointDto extends DeriveRequestClassFromResource(EndpointResource, {
  required: ['url', 'event_types'],
  optional: ['description', 'api_version', 'payload', 'headers', 'max_concurrency'],
}) {}

/** Changes to an endpoint. Omitted fields stay unchanged. */
@ApiSchema({ name: 'WebhookEndpointChanges' })
export class EndpointChangesDto extends PartialType(EndpointDto) {}

@ApiSchema({ name: 'WebhookEndpointTest' })
export class TestEndpointDto {
  @CheckedProperty(
    checkText,
    { description: 'Type of the sandbox event.', example: 'milestone.recorded' },
    { type: String, enum: [...EVENT_TYPES] },
    { normalise: parseEventTypeIgnoringCase },
  )
  readonly type!: string;
}

@ApiSchema({ name: 'WebhookEndpointWritten' })
export class EndpointWrittenResource extends IntersectionType(EndpointResource, WithWarnings) {}

const EXAMPLE_SECRET = 'whsec_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3+4A=';

@ApiSchema({ name: 'WebhookEndpointCreated' })
export class EndpointCreatedResource extends EndpointWrittenResource implements CreatedEndpointWithSecret {
  @ApiProperty({
    description:
      'Secret that signs every request to the endpoint. The whole string is the HMAC key. Reads never return it.',
    example: EXAMPLE_SECRET,
  })
  readonly secret!: string;
}

@ApiSchema({ name: 'WebhookEndpointDeleted' })
export class EndpointDeletedResource extends WithWarnings {
  @ApiProperty({ description: 'Id of the deleted endpoint.' })
  readonly id!: string;
  @ApiProperty({ type: Boolean, description: 'Always true.' })
  readonly deleted!: true;
}

@ApiSchema({ name: 'WebhookEndpointPage' })
export class EndpointPageResource extends createPageResourceClass(
  EndpointResource,
  'Endpoints of this page.',
  'Cursor of the next page. Send it as `cursor`.',
) {}

export const ENDPOINT_BODY_PIPE = new DeclaredBodyFieldsAsJsonPipe(EndpointDto, EndpointCreatedResource);

const MAX_SECRET_OVERLAP_SECONDS = 7 * 86_400;

@ApiSchema({ name: 'WebhookPreviousSecret' })
class PreviousSecretResource {
  @ApiProperty({ description: 'Secret that signs requests in addition to the newest one.', example: EXAMPLE_SECRET })
  readonly secret!: string;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    description: 'Time at which the secret stops signing. UTC with milliseconds.',
  })
  readonly expires_at!: string;
}

@ApiSchema({ name: 'WebhookSecrets' })
export class EndpointSecretsResource extends WithWarnings implements ActiveSigningSecrets {
  @ApiProperty({ description: 'Id of the endpoint.', example: 'whe_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ description: 'Newest secret. The whole string is the HMAC key.', example: EXAMPLE_SECRET })
  readonly secret!: string;
  @ApiProperty({
    type: [PreviousSecretResource],
    description: 'Older secrets that are still valid after rotations, newest first; at most four.',
  })
  readonly previous_secrets!: PreviousSecretResource[];
}

@ApiSchema({ name: 'WebhookSecretRotation' })
export class RotateSecretDto {
  @WholeNumberProperty(0, MAX_SECRET_OVERLAP_SECONDS, {
    description: 'Seconds for which the old secret signs in addition to the new one. Defaults to 86,400 (one day).',
    example: 86_400,
    nullable: true,
  })
  expires_in_seconds?: number | null;
}

export const SECRET_ROTATION_BODY_PIPE = new RequestBodyValidationPipe(RotateSecretDto, EndpointCreatedResource);

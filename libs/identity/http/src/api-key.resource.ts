import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { ENVIRONMENTS, USER_ROLES } from '@tracking/contracts';
import type { ApiKey, Environment, KeyOwner, CreatedApiKeyWithSecret, Role } from '@tracking/contracts';
import {
  ActorResource,
  IdProperty,
  DeriveRequestClassFromResource,
  EnumProperty,
  createPageResourceClass,
  ResponseSchemaBase,
  RESPONSE_TIME_SCHEMA,
  TimestampProperty,
  WholeNumberProperty,
  WithWarnings,
} from '@tracking/http';
import { IdentityNameProperty } from './user.resource.ts';

const MAX_KEY_ROTATION_GRACE_SECONDS = 7 * 86_400;

@ApiSchema({ name: 'ApiKeyOwner' })
class KeyOwnerResource implements KeyOwner {
  @ApiProperty({ description: 'Kind of owner.', enum: ['service_account', 'user'] })
  readonly type!: KeyOwner['type'];
  @ApiProperty({ description: 'Id of the user or service account.', example: 'sva_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
}

@ApiSchema({ name: 'ApiKey' })
export class ApiKeyResource extends ResponseSchemaBase implements ApiKey {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'key_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ description: 'Id of the workspace.' })
  readonly workspace_id!: string;
  @IdentityNameProperty({ description: 'Purpose of the key, in your words.', example: 'Nightly import' })
  readonly name!: string;
  @EnumProperty(ENVIRONMENTS, { description: 'Environment whose data the key can access.' })
  readonly environment!: Environment;
  @ApiProperty({ description: 'First characters of the key.', example: 'sk_live_0aB1' })
  readonly prefix!: string;
  @ApiProperty({ description: 'Last characters of the key.', example: '9zY8' })
  readonly last_four!: string;
  @ApiProperty({ type: KeyOwnerResource, description: 'User or service account whose permissions the key has.' })
  readonly owner!: KeyOwnerResource;
  @ApiProperty({ description: 'Current role of the owner.', enum: USER_ROLES })
  readonly role!: Role;
  @ApiProperty({
    nullable: true,
    description:
      'Role that also limits the key: `developer` for a key of a service account that a developer created, so that a later role of the account gives the key no further permissions. Null for no limit.',
    enum: USER_ROLES,
  })
  readonly max_role!: Role | null;
  @ApiProperty({ type: ActorResource, description: 'User or service account that created the key.' })
  readonly created_by!: ActorResource;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time of creation. UTC with milliseconds.' })
  readonly created_at!: string;
  @TimestampProperty({ description: 'Time at which the key expires; null if it never expires.', nullable: true })
  readonly expires_at!: string | null;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time of the last use, to the minute; null if the key was never used. UTC with milliseconds.',
  })
  readonly last_used_at!: string | null;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    nullable: true,
    description: 'Time at which the key was revoked; null if it was not revoked. UTC with milliseconds.',
  })
  readonly revoked_at!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'Id of the key that replaced this one.' })
  readonly rotated_to!: string | null;
  @ApiProperty({ type: 'integer', description: 'Version number, which grows with every change.' })
  readonly version!: number;
}

@ApiSchema({ name: 'ApiKeyFields' })
export class ApiKeyDto extends DeriveRequestClassFromResource(ApiKeyResource, {
  required: ['name', 'environment'],
  optional: ['expires_at'],
}) {
  @IdProperty('sva', {
    description: 'Service account that owns the key. By default the key is your own.',
    nullable: true,
  })
  readonly service_account_id?: string | null;
}

@ApiSchema({ name: 'ApiKeyRotation' })
export class RotateApiKeyDto {
  @WholeNumberProperty(0, MAX_KEY_ROTATION_GRACE_SECONDS, {
    description: 'Seconds for which the old key stays valid next to the new one; 0 by default.',
    example: 86_400,
    nullable: true,
  })
  readonly grace_seconds?: number | null;
}

@ApiSchema({ name: 'ApiKeyWritten' })
export class ApiKeyWrittenResource extends IntersectionType(ApiKeyResource, WithWarnings) {}

@ApiSchema({ name: 'ApiKeyCreated' })
export class ApiKeyCreatedResource extends ApiKeyWrittenResource implements CreatedApiKeyWithSecret {
  @ApiProperty({
    description: 'The key itself. Returned only once, in this response.',
    example: 'sk_live_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX9zY8',
  })
  readonly key!: string;
}

@ApiSchema({ name: 'ApiKeyPage' })
export class ApiKeyPageResource extends createPageResourceClass(
  ApiKeyResource,
  'The keys of this page.',
  'Cursor of the next page: send it as `cursor`.',
) {}

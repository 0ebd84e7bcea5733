import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { ENVIRONMENTS, ROLES } from '@tracking/contracts';
import type { ApiKey, Environment, KeyOwner, NewApiKey, Role } from '@tracking/contracts';
import {
  ActorResource,
  Id,
  InputType,
  OneOf,
  PageType,
  Resource,
  TIME,
  Text,
  Timestamp,
  WholeNumber,
  WithWarnings,
} from '@tracking/http';

const MAX_GRACE_SECONDS = 7 * 86_400;

@ApiSchema({ name: 'ApiKeyOwner' })
class KeyOwnerResource implements KeyOwner {
  @ApiProperty({ description: 'What kind of owner.', enum: ['service_account', 'user'] })
  readonly type!: KeyOwner['type'];
  @ApiProperty({ description: 'Its id.', example: 'sva_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
}

@ApiSchema({ name: 'ApiKey' })
export class ApiKeyResource extends Resource implements ApiKey {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'key_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ description: 'Its workspace.' })
  readonly workspace_id!: string;
  @Text({ description: 'What the key is for.', example: 'Nightly import' })
  readonly name!: string;
  @OneOf(ENVIRONMENTS, { description: 'Whose data it sees.' })
  readonly environment!: Environment;
  @ApiProperty({ description: 'How the key begins.', example: 'sk_live_0aB1' })
  readonly prefix!: string;
  @ApiProperty({ description: 'How the key ends.', example: '9zY8' })
  readonly last_four!: string;
  @ApiProperty({ type: KeyOwnerResource, description: 'Whose permissions the key has, at each request.' })
  readonly owner!: KeyOwnerResource;
  @ApiProperty({ description: 'The role that its owner has now.', enum: ROLES })
  readonly role!: Role;
  @ApiProperty({ type: ActorResource, description: 'Who made it.' })
  readonly created_by!: ActorResource;
  @ApiProperty({ ...TIME, description: 'When it was made. UTC with milliseconds.' })
  readonly created_at!: string;
  @Timestamp({ description: 'From then on it is refused; null: never.', nullable: true })
  readonly expires_at!: string | null;
  @ApiProperty({
    ...TIME,
    nullable: true,
    description: 'When it was last used, to the minute; null: never. UTC with milliseconds.',
  })
  readonly last_used_at!: string | null;
  @ApiProperty({
    ...TIME,
    nullable: true,
    description: 'Since when it is refused; null: it was not revoked. UTC with milliseconds.',
  })
  readonly revoked_at!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'The key that took its place.' })
  readonly rotated_to!: string | null;
  @ApiProperty({ type: 'integer', description: 'Grows with every change.' })
  readonly version!: number;
}

@ApiSchema({ name: 'ApiKeyFields' })
export class ApiKeyDto extends InputType(ApiKeyResource, {
  required: ['name', 'environment'],
  optional: ['expires_at'],
}) {
  @Id('sva', { description: 'The service account whose key it is; without, it is one of your own.', nullable: true })
  readonly service_account_id?: string | null;
}

@ApiSchema({ name: 'ApiKeyRotation' })
export class RotateApiKeyDto {
  @WholeNumber(0, MAX_GRACE_SECONDS, {
    description: 'How long the old key is valid beside the new one; 0 unless told.',
    example: 86_400,
    nullable: true,
  })
  readonly grace_seconds?: number | null;
}

@ApiSchema({ name: 'ApiKeyWritten' })
export class ApiKeyWrittenResource extends IntersectionType(ApiKeyResource, WithWarnings) {}

@ApiSchema({ name: 'ApiKeyCreated' })
export class ApiKeyCreatedResource extends ApiKeyWrittenResource implements NewApiKey {
  @ApiProperty({
    description: 'The key itself. Shown in this answer only.',
    example: 'sk_live_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX9zY8',
  })
  readonly key!: string;
}

@ApiSchema({ name: 'ApiKeyPage' })
export class ApiKeyPageResource extends PageType(
  ApiKeyResource,
  'The keys of this page.',
  'Send it as `cursor` for the next page.',
) {}

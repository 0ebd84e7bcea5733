import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { USER_ROLES } from '@tracking/contracts';
import type { Role, ServiceAccount } from '@tracking/contracts';
import {
  ActorResource,
  DeriveRequestClassFromResource,
  EnumProperty,
  createPageResourceClass,
  ResponseSchemaBase,
  RESPONSE_TIME_SCHEMA,
  WithWarnings,
} from '@tracking/http';
import { IdentityNameProperty } from './user.resource.ts';

@ApiSchema({ name: 'ServiceAccount' })
export class ServiceAccountResource extends ResponseSchemaBase implements ServiceAccount {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'sva_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ description: 'Id of the workspace.' })
  readonly workspace_id!: string;
  @IdentityNameProperty({ description: 'Name of the system that uses the account.', example: 'TMS' })
  readonly name!: string;
  @EnumProperty(USER_ROLES, { description: 'Role of the account, which applies to all its keys.' })
  readonly role!: Role;
  @ApiProperty({
    description: 'Status of the account. Its keys are valid only while it is `active`.',
    enum: ['active', 'deactivated'],
  })
  readonly status!: ServiceAccount['status'];
  @ApiProperty({ type: ActorResource, description: 'User or service account that created this service account.' })
  readonly created_by!: ActorResource;
  @ApiProperty({ ...RESPONSE_TIME_SCHEMA, description: 'Time of creation. UTC with milliseconds.' })
  readonly created_at!: string;
  @ApiProperty({ type: 'integer', description: 'Version number, which grows with every change.' })
  readonly version!: number;
}

@ApiSchema({ name: 'ServiceAccountFields' })
export class ServiceAccountDto extends DeriveRequestClassFromResource(ServiceAccountResource, {
  required: ['name', 'role'],
}) {}

/** Fields of a change. Omitted fields keep their value. */
@ApiSchema({ name: 'ServiceAccountChanges' })
export class ServiceAccountChangesDto extends DeriveRequestClassFromResource(ServiceAccountResource, {
  kept: ['name', 'role'],
}) {}

@ApiSchema({ name: 'ServiceAccountWritten' })
export class ServiceAccountWrittenResource extends IntersectionType(ServiceAccountResource, WithWarnings) {}

@ApiSchema({ name: 'ServiceAccountPage' })
export class ServiceAccountPageResource extends createPageResourceClass(
  ServiceAccountResource,
  'The service accounts of this page.',
  'Cursor of the next page: send it as `cursor`.',
) {}

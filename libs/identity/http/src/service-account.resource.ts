import { ApiProperty, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { ROLES } from '@tracking/contracts';
import type { Role, ServiceAccount } from '@tracking/contracts';
import { ActorResource, InputType, OneOf, PageType, Resource, TIME, Text, WithWarnings } from '@tracking/http';

@ApiSchema({ name: 'ServiceAccount' })
export class ServiceAccountResource extends Resource implements ServiceAccount {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'sva_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ description: 'Its workspace.' })
  readonly workspace_id!: string;
  @Text({ description: 'Which system it is.', example: 'TMS' })
  readonly name!: string;
  @OneOf(ROLES, { description: 'What it may do, with each of its keys.' })
  readonly role!: Role;
  @ApiProperty({ description: 'Its keys are valid only while it is active.', enum: ['active', 'deactivated'] })
  readonly status!: ServiceAccount['status'];
  @ApiProperty({ type: ActorResource, description: 'Who made it.' })
  readonly created_by!: ActorResource;
  @ApiProperty({ ...TIME, description: 'When it was made. UTC with milliseconds.' })
  readonly created_at!: string;
  @ApiProperty({ type: 'integer', description: 'Grows with every change.' })
  readonly version!: number;
}

@ApiSchema({ name: 'ServiceAccountFields' })
export class ServiceAccountDto extends InputType(ServiceAccountResource, { required: ['name', 'role'] }) {}

/** Omitted fields stay as they are. */
@ApiSchema({ name: 'ServiceAccountChanges' })
export class ServiceAccountChangesDto extends InputType(ServiceAccountResource, { kept: ['name', 'role'] }) {}

@ApiSchema({ name: 'ServiceAccountWritten' })
export class ServiceAccountWrittenResource extends IntersectionType(ServiceAccountResource, WithWarnings) {}

@ApiSchema({ name: 'ServiceAccountPage' })
export class ServiceAccountPageResource extends PageType(
  ServiceAccountResource,
  'The service accounts of this page.',
  'Send it as `cursor` for the next page.',
) {}

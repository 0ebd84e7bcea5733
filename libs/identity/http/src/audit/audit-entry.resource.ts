import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { AUDIT_TYPES } from '@tracking/contracts';
import type { AuditEntry, AuditType, AuditedChanges } from '@tracking/contracts';
import { FROM_TO, PageType, TIME } from '@tracking/http';

@ApiSchema({ name: 'AuditActor' })
class AuditActorResource {
  @ApiProperty({ description: 'What acted.', enum: ['user', 'service_account', 'system'] })
  readonly type!: AuditEntry['actor']['type'];
  @ApiProperty({ description: 'Its id; `administration` for the command line.' })
  readonly id!: string;
  @ApiProperty({ type: String, nullable: true, description: 'What it is called now.' })
  readonly name!: string | null;
}

@ApiSchema({ name: 'AuditTarget' })
class AuditTargetResource {
  @ApiProperty({ description: 'What was changed.', example: 'api_key' })
  readonly type!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Its id; null of many at once, and where the outcome is unknown and it was only being made.',
  })
  readonly id!: string | null;
}

@ApiSchema({ name: 'AuditEntry' })
export class AuditEntryResource implements AuditEntry {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'aud_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({ ...TIME, description: 'When the change was accepted. UTC with milliseconds.' })
  readonly at!: string;
  @ApiProperty({ type: AuditActorResource, description: 'Who changed it.' })
  readonly actor!: AuditActorResource;
  @ApiProperty({ description: 'What was done.', enum: AUDIT_TYPES, example: 'api_key.revoked' })
  readonly type!: AuditType;
  @ApiProperty({ type: AuditTargetResource, description: 'What it was done to.' })
  readonly target!: AuditTargetResource;
  @ApiProperty({
    type: 'object',
    description: 'By field, `from` what and `to` what; never a secret.',
    additionalProperties: FROM_TO,
  })
  readonly changes!: AuditedChanges;
  @ApiProperty({
    description: '`unknown`: the process ended before it knew whether the change was made.',
    enum: ['done', 'unknown'],
  })
  readonly outcome!: AuditEntry['outcome'];
  @ApiProperty({ description: 'The request that did it.' })
  readonly request_id!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Where the request came from; null for the command line.' })
  readonly address!: string | null;
}

@ApiSchema({ name: 'AuditLogPage' })
export class AuditLogPageResource extends PageType(AuditEntryResource, 'The entries of this page.') {}

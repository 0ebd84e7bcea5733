import { ApiSchema } from '@nestjs/swagger';
import { AUDIT_TYPES } from '@tracking/contracts';
import type { AuditEntry, AuditType, AuditedChanges, Page } from '@tracking/contracts';
import { FROM_TO, Shown, ShownTime } from '@tracking/http';

@ApiSchema({ name: 'AuditActor' })
class AuditActorResource {
  @Shown(String, 'What acted.', { enum: ['user', 'service_account', 'system'] })
  readonly type!: AuditEntry['actor']['type'];
  @Shown(String, 'Its id; `administration` for the command line.')
  readonly id!: string;
  @Shown(String, 'What it is called now.', { nullable: true })
  readonly name!: string | null;
}

@ApiSchema({ name: 'AuditTarget' })
class AuditTargetResource {
  @Shown(String, 'What was changed.', { example: 'api_key' })
  readonly type!: string;
  @Shown(String, 'Its id; null of many at once, and where the outcome is unknown and it was only being made.', {
    nullable: true,
  })
  readonly id!: string | null;
}

@ApiSchema({ name: 'AuditEntry' })
export class AuditEntryResource implements AuditEntry {
  @Shown(String, 'Service-assigned identifier.', { example: 'aud_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ShownTime('When the change was accepted.')
  readonly at!: string;
  @Shown(AuditActorResource, 'Who changed it.')
  readonly actor!: AuditActorResource;
  @Shown(String, 'What was done.', { enum: [...AUDIT_TYPES], example: 'api_key.revoked' })
  readonly type!: AuditType;
  @Shown(AuditTargetResource, 'What it was done to.')
  readonly target!: AuditTargetResource;
  @Shown('object', 'By field, `from` what and `to` what; never a secret.', { additionalProperties: FROM_TO })
  readonly changes!: AuditedChanges;
  @Shown(String, '`unknown`: the process ended before it knew whether the change was made.', {
    enum: ['done', 'unknown'],
  })
  readonly outcome!: AuditEntry['outcome'];
  @Shown(String, 'The request that did it.')
  readonly request_id!: string;
  @Shown(String, 'Where the request came from; null for the command line.', { nullable: true })
  readonly address!: string | null;
}

@ApiSchema({ name: 'AuditLogPage' })
export class AuditLogPageResource implements Page<AuditEntry> {
  @Shown([AuditEntryResource], 'The entries of this page.')
  readonly data!: AuditEntryResource[];
  @Shown(String, 'Send it as `cursor` for the next page, with the same filters.', { nullable: true })
  readonly next_cursor!: string | null;
  @Shown(Boolean, 'Whether there is a next page.')
  readonly has_more!: boolean;
}

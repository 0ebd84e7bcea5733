import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiProperty, ApiResponse, ApiSchema, ApiTags } from '@nestjs/swagger';
import {
  AUDIT_TYPES,
  type AuditedChanges,
  type AuditEntry,
  type AuditType,
  type Page,
  type Scope,
} from '@tracking/contracts';
import {
  type AuditedByRequest,
  CurrentScope,
  Cursors,
  FROM_TO,
  Operation,
  PageDto,
  PageType,
  QueryOneOf,
  QueryText,
  QueryTime,
  recordPage,
  TIME,
} from '@tracking/http';
import type { AuditFilter, Identity } from '@tracking/identity';
import { IDENTITY, type IdentityHttpDependencies } from './dependencies.ts';

class ListAuditLogDto extends PageDto {
  @QueryText({
    description: 'Only changes by this user or service account, by its id; `administration` is the command line.',
    example: 'usr_5f3c2k7qv3n5xw6yz2aabbccdd',
  })
  actor?: string;

  @QueryOneOf(AUDIT_TYPES, { description: 'Only changes of this type.', example: 'api_key.revoked' })
  type?: AuditType;

  @QueryTime({ description: 'Only changes at this time or later.' })
  from?: string;

  @QueryTime({ description: 'Only changes at this time or earlier.' })
  to?: string;
}

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
class AuditEntryResource implements AuditEntry {
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
class AuditLogPageResource extends PageType(AuditEntryResource, 'The entries of this page.') {}

@ApiTags('Audit log')
@Controller('v1/audit_log')
export class AuditLogController {
  constructor(
    @Inject(IDENTITY) private readonly identity: IdentityHttpDependencies['identity'],
    @Inject(Cursors) private readonly cursors: Cursors,
  ) {}

  @Get()
  @Operation('listAuditLog', {
    summary:
      'List changes to keys, users, service accounts, sessions, webhook endpoints and settings, secrets that were shown, and deliveries that were replayed or discarded, the newest first',
    query: ListAuditLogDto,
  })
  @ApiResponse({ status: 200, description: 'A page of entries.', type: AuditLogPageResource })
  async list(@Query() query: ListAuditLogDto, @CurrentScope() scope: Scope): Promise<Page<AuditEntry>> {
    const filter = auditFilter(query);
    const listing = { list: 'audit log', scope, filter: { ...filter }, sort: '-at' };
    return recordPage(query, listing, this.cursors, (asked) =>
      this.identity.auditLog.list(scope.workspace_id, { filter, ...asked }),
    );
  }
}

function auditFilter({ actor, type, from, to }: ListAuditLogDto): AuditFilter {
  return { ...(actor && { actor }), ...(type && { type }), ...(from && { from }), ...(to && { to }) };
}

/** Finds the actor of a request of the public API: its principal, or the user of the one-time link in its path. */
export function auditedByClient({ links }: Pick<Identity, 'links'>): AuditedByRequest {
  return async (request) => {
    const { principal, ip: address } = request;
    if (principal) return { workspace_id: principal.workspace_id, actor: principal.actor, address };
    const { token } = request.params as { readonly token?: string };
    const holder = token === undefined ? undefined : await links.holder(token);
    if (!holder) return undefined;
    const { workspace_id, user_id, purpose } = holder;
    const type = purpose === 'password_reset' ? 'user.password_changed' : 'user.joined';
    return { workspace_id, actor: { type: 'user', id: user_id }, address, type };
  };
}

import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiProperty, ApiResponse, ApiSchema, ApiTags } from '@nestjs/swagger';
import {
  AUDIT_TYPES,
  type AuditedChanges,
  type AuditEntry,
  type AuditType,
  type Page,
  type WorkspaceScope,
} from '@tracking/contracts';
import {
  type AuditedByRequest,
  InjectWorkspaceScope,
  PageCursorCodec,
  CHANGE_SCHEMA,
  DeclareApiOperation,
  PageDto,
  createPageResourceClass,
  EnumListQueryProperty,
  TextQueryProperty,
  TimeQueryProperty,
  readListPageByTextPosition,
  selectKnownValuesOfCommaSeparatedList,
  RESPONSE_TIME_SCHEMA,
} from '@tracking/http';
import type { AuditFilter, IdentityServices } from '@tracking/identity';
import { IDENTITY_INJECTION_TOKEN, type IdentityHttpDependencies } from './dependencies.ts';

class ListAuditLogDto extends PageDto {
  @TextQueryProperty({
    description:
      'Only changes by the user or service account with this id; `administration` stands for the command line.',
    example: 'usr_5f3c2k7qv3n5xw6yz2aabbccdd',
  })
  actor?: string;

  @EnumListQueryProperty(AUDIT_TYPES, {
    description: 'Only changes of these types, separated by commas.',
    example: 'api_key.revoked',
  })
  type?: string;

  @TimeQueryProperty({ description: 'Only changes at this time or later.' })
  from?: string;

  @TimeQueryProperty({ description: 'Only changes at this time or earlier.' })
  to?: string;
}

@ApiSchema({ name: 'AuditActor' })
class AuditActorResource {
  @ApiProperty({ description: 'Kind of actor.', enum: ['user', 'service_account', 'system'] })
  readonly type!: AuditEntry['actor']['type'];
  @ApiProperty({ description: 'Id of the actor; `administration` for the command line.' })
  readonly id!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Current name of the actor.' })
  readonly name!: string | null;
}

@ApiSchema({ name: 'AuditTarget' })
class AuditTargetResource {
  @ApiProperty({ description: 'Kind of the changed resource.', example: 'api_key' })
  readonly type!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Id of the changed resource. Null if the change concerns several resources, or if the outcome of a creation is unknown.',
  })
  readonly id!: string | null;
}

@ApiSchema({ name: 'AuditEntry' })
class AuditEntryResource implements AuditEntry {
  @ApiProperty({ description: 'Service-assigned identifier.', example: 'aud_5f3c2k7qv3n5xw6yz2aabbccdd' })
  readonly id!: string;
  @ApiProperty({
    ...RESPONSE_TIME_SCHEMA,
    description: 'Time at which the change was accepted. UTC with milliseconds.',
  })
  readonly at!: string;
  @ApiProperty({
    type: AuditActorResource,
    description:
      'Actor of the change; for `session.refused`, the user with the e-mail address of the refused sign-in. The sender of the request may be another person.',
  })
  readonly actor!: AuditActorResource;
  @ApiProperty({ description: 'Type of the change.', enum: AUDIT_TYPES, example: 'api_key.revoked' })
  readonly type!: AuditType;
  @ApiProperty({ type: AuditTargetResource, description: 'Changed resource.' })
  readonly target!: AuditTargetResource;
  @ApiProperty({
    type: 'object',
    description: 'Old and new value (`from`, `to`) of each changed field, without secrets.',
    additionalProperties: CHANGE_SCHEMA,
  })
  readonly changes!: AuditedChanges;
  @ApiProperty({
    description: '`unknown`: the process ended before the outcome of the change was recorded.',
    enum: ['done', 'unknown'],
  })
  readonly outcome!: AuditEntry['outcome'];
  @ApiProperty({ description: 'Id of the request that made the change.' })
  readonly request_id!: string;
  @ApiProperty({ type: String, nullable: true, description: 'IP address of the client; null for the command line.' })
  readonly address!: string | null;
}

@ApiSchema({ name: 'AuditLogPage' })
class AuditLogPageResource extends createPageResourceClass(AuditEntryResource, 'The entries of this page.') {}

@ApiTags('Audit log')
@Controller('v1/audit_log')
export class AuditLogController {
  constructor(
    @Inject(IDENTITY_INJECTION_TOKEN) private readonly identity: IdentityHttpDependencies['identity'],
    @Inject(PageCursorCodec) private readonly cursors: PageCursorCodec,
  ) {}

  @Get()
  @DeclareApiOperation('listAuditLog', {
    summary: 'List audit log entries, newest first',
    query: ListAuditLogDto,
  })
  @ApiResponse({ status: 200, description: 'A page of entries.', type: AuditLogPageResource })
  async listAuditEntries(
    @Query() query: ListAuditLogDto,
    @InjectWorkspaceScope() scope: WorkspaceScope,
  ): Promise<Page<AuditEntry>> {
    const filter = createAuditFilter(query);
    const listing = { list: 'audit log', scope, filter: { ...filter }, sort: '-at' };
    return readListPageByTextPosition(query, listing, this.cursors, (asked) =>
      this.identity.auditLog.listAuditEntries(scope.workspace_id, { filter, ...asked }),
    );
  }
}

function createAuditFilter({ actor, type, from, to }: ListAuditLogDto): AuditFilter {
  return {
    ...(actor && { actor }),
    ...(type && { types: selectKnownValuesOfCommaSeparatedList(AUDIT_TYPES, type) }),
    ...(from && { from }),
    ...(to && { to }),
  };
}

/**
 * Returns a function that finds the actor of a request of the public API: its principal, or the user of the one-time
 * link in its path.
 */
export function createClientAuditActorFinder({ links }: Pick<IdentityServices, 'links'>): AuditedByRequest {
  return async (request) => {
    const { principal, ip: address } = request;
    if (principal) return { workspace_id: principal.workspace_id, actor: principal.actor, address };
    const { token } = request.params as { readonly token?: string };
    const holder = token === undefined ? undefined : await links.findHolderOfOneTimeLink(token);
    if (!holder) return undefined;
    const { workspace_id, user_id, purpose } = holder;
    const type = purpose === 'password_reset' ? 'user.password_changed' : 'user.joined';
    return { workspace_id, actor: { type: 'user', id: user_id }, address, type };
  };
}

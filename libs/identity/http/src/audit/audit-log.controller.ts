import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { AuditEntry, Page, Scope } from '@tracking/contracts';
import { CurrentScope, Cursors, Operation, recordPage } from '@tracking/http';
import type { IdentityHttpDependencies } from '../dependencies.ts';
import { IDENTITY } from '../dependencies.ts';
import { AuditLogPageResource } from './audit-entry.resource.ts';
import { ListAuditLogDto, auditFilter } from './list-audit-log.dto.ts';

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

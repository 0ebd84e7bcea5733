import { Controller, Get, HttpCode, Inject, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page, WorkspaceScope, ServiceAccount, Warning } from '@tracking/contracts';
import {
  RecordInAuditLog,
  BodyPipe,
  ScopeOfRequest,
  Cursors,
  NO_BODY_PIPE,
  PublicRoute,
  PageDto,
  RequestBody,
  WriteResponder,
  formatEtag,
  readListPageByTextPosition,
  ErrorResponse,
} from '@tracking/http';
import type { ReadBody, WriteResponse } from '@tracking/http';
import type { IdentityCommand } from '@tracking/identity';
import type { FastifyReply } from 'fastify';
import type { IdentityHttpDependencies } from './dependencies.ts';
import { IdentityCommandOf } from './identity-command-of.ts';
import {
  ServiceAccountChangesDto,
  ServiceAccountDto,
  ServiceAccountPageResource,
  ServiceAccountResource,
  ServiceAccountWrittenResource,
} from './service-account.resource.ts';
import { IDENTITY_TOKEN } from './dependencies.ts';

const AccountNotFoundResponse = () => ErrorResponse(404, 'No such service account in this workspace.');
const ACCOUNT_BODY_PIPE = new BodyPipe(ServiceAccountDto, ServiceAccountWrittenResource);
const ACCOUNT_CHANGES_BODY_PIPE = new BodyPipe(ServiceAccountChangesDto, ServiceAccountWrittenResource);

@ApiTags('Service accounts')
@Controller('v1/service_accounts')
export class ServiceAccountsController {
  constructor(
    @Inject(IDENTITY_TOKEN) private readonly identity: IdentityHttpDependencies['identity'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
    @Inject(Cursors) private readonly cursors: Cursors,
  ) {}

  @Post()
  @RecordInAuditLog('service_account.created')
  @PublicRoute('createServiceAccount', { summary: 'Create a service account', body: ServiceAccountDto })
  @ApiResponse({
    status: 201,
    description: 'The created service account. It has no keys yet.',
    type: ServiceAccountWrittenResource,
  })
  async createAccount(
    @RequestBody(ACCOUNT_BODY_PIPE) { value: { name, role }, warnings }: ReadBody<ServiceAccountDto>,
    @IdentityCommandOf() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ServiceAccount>> {
    const change = await this.identity.serviceAccounts.createAccount(command, { name, role });
    return this.responder.respondToChange(reply, warnings, change, `/v1/service_accounts/${change.after.id}`);
  }

  @Get()
  @PublicRoute('listServiceAccounts', { summary: 'List service accounts, newest first', query: PageDto })
  @ApiResponse({ status: 200, description: 'A page of service accounts.', type: ServiceAccountPageResource })
  async listAccounts(@Query() query: PageDto, @ScopeOfRequest() scope: WorkspaceScope): Promise<Page<ServiceAccount>> {
    const listing = { list: 'service accounts', scope, filter: {}, sort: '-created_at' };
    return readListPageByTextPosition(query, listing, this.cursors, (asked) =>
      this.identity.serviceAccounts.listAccounts(scope.workspace_id, asked),
    );
  }

  @Get(':id')
  @PublicRoute('getServiceAccount', { summary: 'Get a service account', conditional: 'read' })
  @ApiResponse({ status: 200, description: 'The service account.', type: ServiceAccountResource })
  @AccountNotFoundResponse()
  async getAccount(
    @Param('id') id: string,
    @ScopeOfRequest() { workspace_id }: WorkspaceScope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServiceAccount> {
    const account = await this.identity.serviceAccounts.getAccount(workspace_id, id);
    reply.header('ETag', formatEtag(account.version));
    return account;
  }

  @Patch(':id')
  @RecordInAuditLog('service_account.changed')
  @PublicRoute('changeServiceAccount', {
    summary: 'Change the name or role of a service account',
    description: 'A new role applies to all keys of the account within 5 seconds.',
    body: ServiceAccountChangesDto,
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The service account.', type: ServiceAccountWrittenResource })
  @AccountNotFoundResponse()
  async changeAccount(
    @Param('id') id: string,
    @RequestBody(ACCOUNT_CHANGES_BODY_PIPE) { value: changes, warnings }: ReadBody<ServiceAccountChangesDto>,
    @IdentityCommandOf() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ServiceAccount>> {
    const change = await this.identity.serviceAccounts.changeAccount(command, id, changes);
    return this.responder.respondToChange(reply, warnings, change);
  }

  @Post(':id/deactivate')
  @HttpCode(200)
  @RecordInAuditLog('service_account.deactivated')
  @PublicRoute('deactivateServiceAccount', {
    summary: 'Deactivate a service account',
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The service account.', type: ServiceAccountWrittenResource })
  @AccountNotFoundResponse()
  async deactivateAccount(
    @Param('id') id: string,
    @RequestBody(NO_BODY_PIPE) ignored: readonly Warning[],
    @IdentityCommandOf() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ServiceAccount>> {
    const change = await this.identity.serviceAccounts.deactivateAccount(command, id);
    return this.responder.respondToChange(reply, ignored, change);
  }

  @Post(':id/reactivate')
  @HttpCode(200)
  @RecordInAuditLog('service_account.reactivated')
  @PublicRoute('reactivateServiceAccount', {
    summary: 'Reactivate a service account',
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The service account.', type: ServiceAccountWrittenResource })
  @AccountNotFoundResponse()
  async reactivateAccount(
    @Param('id') id: string,
    @RequestBody(NO_BODY_PIPE) ignored: readonly Warning[],
    @IdentityCommandOf() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ServiceAccount>> {
    const change = await this.identity.serviceAccounts.reactivateAccount(command, id);
    return this.responder.respondToChange(reply, ignored, change);
  }
}

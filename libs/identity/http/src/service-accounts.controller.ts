import { Controller, Get, HttpCode, Inject, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page, WorkspaceScope, ServiceAccount, Warning } from '@tracking/contracts';
import {
  RecordInAuditLog,
  RequestBodyValidationPipe,
  InjectWorkspaceScope,
  PageCursorCodec,
  BODY_IGNORING_PIPE,
  DeclareApiOperation,
  PageDto,
  InjectRequestBody,
  WriteResponder,
  formatEtag,
  readListPageByTextPosition,
  DeclareErrorResponse,
} from '@tracking/http';
import type { RequestBodyWithWarnings, WriteResponse } from '@tracking/http';
import type { IdentityCommand } from '@tracking/identity';
import type { FastifyReply } from 'fastify';
import type { IdentityHttpDependencies } from './dependencies.ts';
import { InjectIdentityCommand } from './identity-command-of.ts';
import {
  ServiceAccountChangesDto,
  ServiceAccountDto,
  ServiceAccountPageResource,
  ServiceAccountResource,
  ServiceAccountWrittenResource,
} from './service-account.resource.ts';
import { IDENTITY_INJECTION_TOKEN } from './dependencies.ts';

const DeclareAccountNotFoundResponse = () => DeclareErrorResponse(404, 'No such service account in this workspace.');
const ACCOUNT_BODY_PIPE = new RequestBodyValidationPipe(ServiceAccountDto, ServiceAccountWrittenResource);
const ACCOUNT_CHANGES_BODY_PIPE = new RequestBodyValidationPipe(
  ServiceAccountChangesDto,
  ServiceAccountWrittenResource,
);

@ApiTags('Service accounts')
@Controller('v1/service_accounts')
export class ServiceAccountsController {
  constructor(
    @Inject(IDENTITY_INJECTION_TOKEN) private readonly identity: IdentityHttpDependencies['identity'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
    @Inject(PageCursorCodec) private readonly cursors: PageCursorCodec,
  ) {}

  @Post()
  @RecordInAuditLog('service_account.created')
  @DeclareApiOperation('createServiceAccount', { summary: 'Create a service account', body: ServiceAccountDto })
  @ApiResponse({
    status: 201,
    description: 'The created service account. It has no keys yet.',
    type: ServiceAccountWrittenResource,
  })
  async createServiceAccount(
    @InjectRequestBody(ACCOUNT_BODY_PIPE)
    { value: { name, role }, warnings }: RequestBodyWithWarnings<ServiceAccountDto>,
    @InjectIdentityCommand() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ServiceAccount>> {
    const change = await this.identity.serviceAccounts.createServiceAccount(command, { name, role });
    return this.responder.auditChangeAndRespond(reply, warnings, change, `/v1/service_accounts/${change.after.id}`);
  }

  @Get()
  @DeclareApiOperation('listServiceAccounts', { summary: 'List service accounts, newest first', query: PageDto })
  @ApiResponse({ status: 200, description: 'A page of service accounts.', type: ServiceAccountPageResource })
  async listServiceAccounts(
    @Query() query: PageDto,
    @InjectWorkspaceScope() scope: WorkspaceScope,
  ): Promise<Page<ServiceAccount>> {
    const listing = { list: 'service accounts', scope, filter: {}, sort: '-created_at' };
    return readListPageByTextPosition(query, listing, this.cursors, (asked) =>
      this.identity.serviceAccounts.listServiceAccounts(scope.workspace_id, asked),
    );
  }

  @Get(':id')
  @DeclareApiOperation('getServiceAccount', { summary: 'Get a service account', conditional: 'read' })
  @ApiResponse({ status: 200, description: 'The service account.', type: ServiceAccountResource })
  @DeclareAccountNotFoundResponse()
  async getServiceAccount(
    @Param('id') id: string,
    @InjectWorkspaceScope() { workspace_id }: WorkspaceScope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServiceAccount> {
    const account = await this.identity.serviceAccounts.getServiceAccount(workspace_id, id);
    reply.header('ETag', formatEtag(account.version));
    return account;
  }

  @Patch(':id')
  @RecordInAuditLog('service_account.changed')
  @DeclareApiOperation('changeServiceAccount', {
    summary: 'Change the name or role of a service account',
    description: 'A new role applies to all keys of the account within 5 seconds.',
    body: ServiceAccountChangesDto,
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The service account.', type: ServiceAccountWrittenResource })
  @DeclareAccountNotFoundResponse()
  async changeServiceAccount(
    @Param('id') id: string,
    @InjectRequestBody(ACCOUNT_CHANGES_BODY_PIPE)
    { value: changes, warnings }: RequestBodyWithWarnings<ServiceAccountChangesDto>,
    @InjectIdentityCommand() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ServiceAccount>> {
    const change = await this.identity.serviceAccounts.changeServiceAccount(command, id, changes);
    return this.responder.auditChangeAndRespond(reply, warnings, change);
  }

  @Post(':id/deactivate')
  @HttpCode(200)
  @RecordInAuditLog('service_account.deactivated')
  @DeclareApiOperation('deactivateServiceAccount', {
    summary: 'Deactivate a service account',
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The service account.', type: ServiceAccountWrittenResource })
  @DeclareAccountNotFoundResponse()
  async deactivateServiceAccount(
    @Param('id') id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectIdentityCommand() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ServiceAccount>> {
    const change = await this.identity.serviceAccounts.deactivateServiceAccount(command, id);
    return this.responder.auditChangeAndRespond(reply, ignored, change);
  }

  @Post(':id/reactivate')
  @HttpCode(200)
  @RecordInAuditLog('service_account.reactivated')
  @DeclareApiOperation('reactivateServiceAccount', {
    summary: 'Reactivate a service account',
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The service account.', type: ServiceAccountWrittenResource })
  @DeclareAccountNotFoundResponse()
  async reactivateServiceAccount(
    @Param('id') id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectIdentityCommand() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ServiceAccount>> {
    const change = await this.identity.serviceAccounts.reactivateServiceAccount(command, id);
    return this.responder.auditChangeAndRespond(reply, ignored, change);
  }
}

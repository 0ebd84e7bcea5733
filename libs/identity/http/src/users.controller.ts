import { Controller, Get, HttpCode, Inject, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page, WorkspaceScope, User, Warning } from '@tracking/contracts';
import {
  RecordInAuditLog,
  AuditTrail,
  RequestBodyValidationPipe,
  InjectWorkspaceScope,
  PageCursorCodec,
  formatEtag,
  BODY_IGNORING_PIPE,
  DeclareApiOperation,
  PageDto,
  type RequestBodyWithWarnings,
  readListPageByTextPosition,
  DeclareErrorResponse,
  InjectRequestBody,
  SETTINGS_INJECTION_TOKEN,
  reportChangeForAudit,
  WriteResponder,
  type WriteResponse,
} from '@tracking/http';
import type { IdentityCommand } from '@tracking/identity';
import type { FastifyReply } from 'fastify';
import { IDENTITY_INJECTION_TOKEN, type IdentityHttpDependencies } from './dependencies.ts';
import { InjectIdentityCommand } from './identity-command-of.ts';
import { createOneTimeLinkUrl } from './invitations.controller.ts';
import {
  UserChangesDto,
  UserDto,
  UserInvitedResource,
  UserPageResource,
  UserReactivatedResource,
  UserResource,
  UserWrittenResource,
} from './user.resource.ts';
import { PasswordResetDto, PasswordResetResource, resetPassword } from './password-reset.ts';

const DeclareUserNotFoundResponse = () => DeclareErrorResponse(404, 'No such user in this workspace.');
const ApiLastAdminErrorResponse = () =>
  DeclareErrorResponse(409, 'The user is the only active admin of the workspace.');
const USER_BODY_PIPE = new RequestBodyValidationPipe(UserDto, UserInvitedResource);
const PASSWORD_RESET_BODY_PIPE = new RequestBodyValidationPipe(PasswordResetDto, PasswordResetResource);
const USER_CHANGES_BODY_PIPE = new RequestBodyValidationPipe(UserChangesDto, UserWrittenResource);

@ApiTags('Users')
@Controller('v1/users')
export class UsersController {
  @Inject(AuditTrail) private readonly trail!: AuditTrail;

  constructor(
    @Inject(IDENTITY_INJECTION_TOKEN) private readonly identity: IdentityHttpDependencies['identity'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
    @Inject(PageCursorCodec) private readonly cursors: PageCursorCodec,
    @Inject(SETTINGS_INJECTION_TOKEN) private readonly settings: IdentityHttpDependencies['settings'],
  ) {}

  @Post()
  @RecordInAuditLog('user.invited')
  @DeclareApiOperation('inviteUser', { summary: 'Invite a user', body: UserDto })
  @ApiResponse({
    status: 201,
    description: 'The invited user. The response is the only one that contains the one-time link.',
    type: UserInvitedResource,
  })
  @DeclareErrorResponse(
    409,
    'A user with this e-mail address exists already. If the invitation was not accepted, `reset_password` creates a new link.',
  )
  async inviteUser(
    @InjectRequestBody(USER_BODY_PIPE) { value: { email, role }, warnings }: RequestBodyWithWarnings<UserDto>,
    @InjectIdentityCommand() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UserInvitedResource> {
    const { before, after, link } = await this.identity.users.inviteUser(command, { email, role });
    const invitation_url = createOneTimeLinkUrl(this.settings.appUrl, link.token);
    const body = { ...after, invitation_url, invitation_expires_at: link.expires_at };
    reportChangeForAudit(reply.request, { before, after: body });
    const location = `/v1/users/${after.id}`;
    return (await this.responder.respondToWrite(reply, warnings, {
      body,
      version: after.version,
      location,
    })) as UserInvitedResource;
  }

  @Get()
  @DeclareApiOperation('listUsers', { summary: 'List users, newest first', query: PageDto })
  @ApiResponse({ status: 200, description: 'A page of users.', type: UserPageResource })
  async listUsers(@Query() query: PageDto, @InjectWorkspaceScope() scope: WorkspaceScope): Promise<Page<User>> {
    const listing = { list: 'users', scope, filter: {}, sort: '-created_at' };
    return readListPageByTextPosition(query, listing, this.cursors, (asked) =>
      this.identity.users.listUsers(scope.workspace_id, asked),
    );
  }

  @Get(':id')
  @DeclareApiOperation('getUser', { summary: 'Get a user', conditional: 'read' })
  @ApiResponse({ status: 200, description: 'The user.', type: UserResource })
  @DeclareUserNotFoundResponse()
  async getUser(
    @Param('id') id: string,
    @InjectWorkspaceScope() { workspace_id }: WorkspaceScope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<User> {
    const user = await this.identity.users.getUser(workspace_id, id);
    reply.header('ETag', formatEtag(user.version));
    return user;
  }

  @Patch(':id')
  @RecordInAuditLog('user.changed')
  @DeclareApiOperation('changeUser', {
    summary: 'Change the name or role of a user',
    description: 'A new role applies to all sessions and keys of the user within 5 seconds.',
    body: UserChangesDto,
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The user.', type: UserWrittenResource })
  @DeclareUserNotFoundResponse()
  @ApiLastAdminErrorResponse()
  async changeUser(
    @Param('id') id: string,
    @InjectRequestBody(USER_CHANGES_BODY_PIPE) { value: changes, warnings }: RequestBodyWithWarnings<UserChangesDto>,
    @InjectIdentityCommand() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<User>> {
    const change = await this.identity.users.changeUser(command, id, changes);
    return this.responder.auditChangeAndRespond(reply, warnings, change);
  }

  @Post(':id/deactivate')
  @HttpCode(200)
  @RecordInAuditLog('user.deactivated')
  @DeclareApiOperation('deactivateUser', {
    summary: 'Deactivate a user: end all sessions, keys and links',
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The user.', type: UserWrittenResource })
  @DeclareUserNotFoundResponse()
  @ApiLastAdminErrorResponse()
  async deactivateUser(
    @Param('id') id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectIdentityCommand() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<User>> {
    const change = await this.identity.users.deactivateUser(command, id);
    return this.responder.auditChangeAndRespond(reply, ignored, change);
  }

  @Post(':id/reactivate')
  @HttpCode(200)
  @RecordInAuditLog('user.reactivated')
  @DeclareApiOperation('reactivateUser', {
    summary: 'Reactivate a user',
    description:
      'The user can sign in again and use keys that are still valid; ended sessions stay ended. A user who never set a password gets a new invitation link.',
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The user.', type: UserReactivatedResource })
  @DeclareUserNotFoundResponse()
  async reactivateUser(
    @Param('id') id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectIdentityCommand() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UserReactivatedResource> {
    const { before, after, link } = await this.identity.users.reactivateUser(command, id);
    reportChangeForAudit(reply.request, { before, after });
    const invitation_url = link && createOneTimeLinkUrl(this.settings.appUrl, link.token);
    const body = { ...after, invitation_url, invitation_expires_at: link?.expires_at ?? null };
    const version = after.version;
    return (await this.responder.respondToWrite(reply, ignored, { body, version })) as UserReactivatedResource;
  }

  @Post(':id/reset_password')
  @HttpCode(200)
  @RecordInAuditLog('user.password_reset_requested')
  @DeclareApiOperation('resetUserPassword', {
    summary: 'Create a password reset link',
    description:
      'Ends all sessions of the user within 5 seconds. Earlier links become invalid. The present password stays valid until the new link is used. API keys stay valid unless `revoke_api_keys` is true. For an invited user, the link is a new invitation.',
    body: PasswordResetDto,
    bodyMayBeOmitted: true,
    conditional: 'write',
  })
  @ApiResponse({
    status: 200,
    description: 'The link. The response is the only one that contains it.',
    type: PasswordResetResource,
  })
  @DeclareUserNotFoundResponse()
  @DeclareErrorResponse(409, 'The user is deactivated.')
  async resetPassword(
    @Param('id') id: string,
    @InjectRequestBody(PASSWORD_RESET_BODY_PIPE)
    { value: { revoke_api_keys }, warnings }: RequestBodyWithWarnings<PasswordResetDto>,
    @InjectIdentityCommand() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<Omit<PasswordResetResource, 'warnings'>>> {
    const { identity, trail, settings } = this;
    const { request } = reply;
    const reset = await resetPassword({ identity, trail, appUrl: settings.appUrl }, request, {
      command,
      user_id: id,
      revoke_api_keys,
      address: request.ip,
    });
    return this.responder.respondToWrite(reply, warnings, reset);
  }
}

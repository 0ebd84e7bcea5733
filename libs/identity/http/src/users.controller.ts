import { Controller, Get, HttpCode, Inject, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page, Scope, User, Warning } from '@tracking/contracts';
import {
  Audited,
  BodyPipe,
  CurrentScope,
  Cursors,
  etagOf,
  NO_BODY,
  Operation,
  PageDto,
  type ReadBody,
  recordPage,
  refusal,
  SentBody,
  SETTINGS,
  reportChange,
  WriteResponder,
  type WriteResponse,
} from '@tracking/http';
import type { IdentityCommand } from '@tracking/identity';
import type { FastifyReply } from 'fastify';
import { IDENTITY, type IdentityHttpDependencies } from './dependencies.ts';
import { IdentityCommandOf } from './identity-command-of.ts';
import { linkAddress } from './invitations.controller.ts';
import {
  PasswordResetResource,
  UserChangesDto,
  UserDto,
  UserInvitedResource,
  UserPageResource,
  UserReactivatedResource,
  UserResource,
  UserWrittenResource,
} from './user.resource.ts';

const Unknown = () => refusal(404, 'No such user in this workspace.');
const LastAdmin = () => refusal(409, 'It is the only active admin of the workspace.');
const FIELDS = new BodyPipe(UserDto, UserInvitedResource);
const CHANGES = new BodyPipe(UserChangesDto, UserWrittenResource);

@ApiTags('Users')
@Controller('v1/users')
export class UsersController {
  constructor(
    @Inject(IDENTITY) private readonly identity: IdentityHttpDependencies['identity'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
    @Inject(Cursors) private readonly cursors: Cursors,
    @Inject(SETTINGS) private readonly settings: IdentityHttpDependencies['settings'],
  ) {}

  @Post()
  @Audited('user.invited')
  @Operation('inviteUser', { summary: 'Invite a user by a one-time link', body: UserDto })
  @ApiResponse({ status: 201, description: 'Invited; the link is shown here only.', type: UserInvitedResource })
  @refusal(409, 'There is a user with this e-mail; `reset_password` makes another link for who was invited.')
  async invite(
    @SentBody(FIELDS) { value: { email, role }, warnings }: ReadBody<UserDto>,
    @IdentityCommandOf() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UserInvitedResource> {
    const { before, after, link } = await this.identity.users.invite(command, { email, role });
    const invitation_url = linkAddress(this.settings.appUrl, link.token);
    const body = { ...after, invitation_url, invitation_expires_at: link.expires_at };
    reportChange(reply.request, { before, after: body });
    const location = `/v1/users/${after.id}`;
    return (await this.responder.respond(reply, warnings, {
      body,
      version: after.version,
      location,
    })) as UserInvitedResource;
  }

  @Get()
  @Operation('listUsers', { summary: 'List users, the newest first', query: PageDto })
  @ApiResponse({ status: 200, description: 'A page of users.', type: UserPageResource })
  async list(@Query() query: PageDto, @CurrentScope() scope: Scope): Promise<Page<User>> {
    const listing = { list: 'users', scope, filter: {}, sort: '-created_at' };
    return recordPage(query, listing, this.cursors, (asked) => this.identity.users.list(scope.workspace_id, asked));
  }

  @Get(':id')
  @Operation('getUser', { summary: 'Get a user', conditional: 'read' })
  @ApiResponse({ status: 200, description: 'The user.', type: UserResource })
  @Unknown()
  async get(
    @Param('id') id: string,
    @CurrentScope() { workspace_id }: Scope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<User> {
    const user = await this.identity.users.get(workspace_id, id);
    reply.header('ETag', etagOf(user.version));
    return user;
  }

  @Patch(':id')
  @Audited('user.changed')
  @Operation('changeUser', {
    summary: 'Change a name or role',
    description: 'Another role is that of their sessions and keys, within 5 seconds.',
    body: UserChangesDto,
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The user.', type: UserWrittenResource })
  @Unknown()
  @LastAdmin()
  async change(
    @Param('id') id: string,
    @SentBody(CHANGES) { value: changes, warnings }: ReadBody<UserChangesDto>,
    @IdentityCommandOf() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<User>> {
    const change = await this.identity.users.change(command, id, changes);
    return this.responder.respondToChange(reply, warnings, change);
  }

  @Post(':id/deactivate')
  @HttpCode(200)
  @Audited('user.deactivated')
  @Operation('deactivateUser', { summary: 'End their sessions, keys and link', conditional: 'write' })
  @ApiResponse({ status: 200, description: 'The user.', type: UserWrittenResource })
  @Unknown()
  @LastAdmin()
  async deactivate(
    @Param('id') id: string,
    @SentBody(NO_BODY) ignored: readonly Warning[],
    @IdentityCommandOf() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<User>> {
    const change = await this.identity.users.deactivate(command, id);
    return this.responder.respondToChange(reply, ignored, change);
  }

  @Post(':id/reactivate')
  @HttpCode(200)
  @Audited('user.reactivated')
  @Operation('reactivateUser', {
    summary: 'Let them sign in again, with their keys; sessions stay ended',
    description: 'Who never set a password is invited again, by another link.',
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The user.', type: UserReactivatedResource })
  @Unknown()
  async reactivate(
    @Param('id') id: string,
    @SentBody(NO_BODY) ignored: readonly Warning[],
    @IdentityCommandOf() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UserReactivatedResource> {
    const { before, after, link } = await this.identity.users.reactivate(command, id);
    reportChange(reply.request, { before, after });
    const invitation_url = link && linkAddress(this.settings.appUrl, link.token);
    const body = { ...after, invitation_url, invitation_expires_at: link?.expires_at ?? null };
    const version = after.version;
    return (await this.responder.respond(reply, ignored, { body, version })) as UserReactivatedResource;
  }

  @Post(':id/reset_password')
  @HttpCode(200)
  @Audited('user.password_reset_requested')
  @Operation('resetUserPassword', {
    summary: 'Make a one-time link by which they set a password',
    description:
      'The link of before is good no more; the password of before is, until the new link is used. For who was invited and has not come yet it is another invitation.',
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The link, shown here only.', type: PasswordResetResource })
  @Unknown()
  @refusal(409, 'The user is deactivated.')
  async resetPassword(
    @Param('id') id: string,
    @SentBody(NO_BODY) ignored: readonly Warning[],
    @IdentityCommandOf() command: IdentityCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PasswordResetResource> {
    const { before, after, link } = await this.identity.users.resetPassword(command, id);
    reportChange(reply.request, { before, after });
    const body = { reset_url: linkAddress(this.settings.appUrl, link.token), expires_at: link.expires_at };
    const { warnings } = await this.responder.respond(reply, ignored, { body, version: after.version });
    return { ...body, warnings: [...warnings] };
  }
}

import { Body, Controller, Get, HttpCode, Inject, Post, Query, Req } from '@nestjs/common';
import { USER_ROLES } from '@tracking/contracts';
import type { CreatedUser, PasswordResetLinkResponse, Role, User, UserToCreate } from '@tracking/contracts';
import {
  RecordInAuditLog,
  AuditTrail,
  InjectCommandIdentity,
  EnumProperty,
  PasswordProperty,
  reportChangeForAudit,
  TextProperty,
} from '@tracking/http';
import type { CommandIdAndTime } from '@tracking/http';
import { createOneTimeLinkUrl, resetPassword, RevokeApiKeysProperty } from '@tracking/identity-http';
import type { FastifyRequest } from 'fastify';
import { APP_URL_INJECTION_TOKEN, IDENTITY_INJECTION_TOKEN } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { OperatorPrincipalFactory } from './operator.ts';
import { InWorkspaceDto, OperatorBodyPipe, DeclareQueryAndBodyLimit, wrapInListResponse } from './routes.ts';
import type { ListResponse } from './routes.ts';

class NamedUserDto extends InWorkspaceDto {
  // Stored addresses may have characters that new ones must not have. The command that creates a user checks the address.
  @TextProperty({ description: 'E-mail address of the user.' })
  email!: string;
}
class ResetPasswordDto extends NamedUserDto {
  @RevokeApiKeysProperty()
  revoke_api_keys?: boolean | null;
}
class UserRoleDto extends NamedUserDto {
  @EnumProperty(USER_ROLES, { description: 'Role of the user.' })
  role!: Role;
}
class CreateUserDto extends UserRoleDto implements UserToCreate {
  @PasswordProperty({
    description:
      'Password of the user. With a password, the user is active immediately; without a password, the user is invited.',
    required: false,
  })
  password?: string;
}

/** Users of workspaces. */
@Controller('administration/users')
export class UsersController {
  constructor(
    @Inject(IDENTITY_INJECTION_TOKEN) private readonly identity: AdministrationDependencies['identity'],
    @Inject(OperatorPrincipalFactory) private readonly operators: OperatorPrincipalFactory,
    @Inject(APP_URL_INJECTION_TOKEN) private readonly appUrl: AdministrationDependencies['appUrl'],
    @Inject(AuditTrail) private readonly trail: AuditTrail,
  ) {}

  /** Without a password, the response contains an invitation. */
  @Post()
  @DeclareQueryAndBodyLimit()
  @RecordInAuditLog('user.created')
  async createUser(
    @Body(new OperatorBodyPipe(CreateUserDto)) { workspace, email, role, password }: CreateUserDto,
    @InjectCommandIdentity() identified: CommandIdAndTime,
    @Req() request: FastifyRequest,
  ): Promise<CreatedUser> {
    const command = await this.operators.createIdentityCommandByOperator(identified, workspace);
    if (password !== undefined) {
      const created = await this.identity.users.createUser(command, { email, role, password });
      reportChangeForAudit(request, created);
      return { ...created.after, invitation_url: null, invitation_expires_at: null };
    }
    const { link, ...invited } = await this.identity.users.inviteUser(command, { email, role });
    reportChangeForAudit(request, invited);
    const invitation_url = createOneTimeLinkUrl(this.appUrl, link.token);
    return { ...invited.after, invitation_url, invitation_expires_at: link.expires_at };
  }

  @Get()
  @DeclareQueryAndBodyLimit({ query: InWorkspaceDto })
  async listUsers(@Query() { workspace }: InWorkspaceDto): Promise<ListResponse<User>> {
    const { id } = await this.operators.findWorkspaceByNameOrThrow(workspace);
    return wrapInListResponse(await this.identity.users.listWorkspaceUsers(id));
  }

  @Post('set_role')
  @DeclareQueryAndBodyLimit()
  @HttpCode(200)
  @RecordInAuditLog('user.changed')
  async setRole(
    @Body(new OperatorBodyPipe(UserRoleDto)) { workspace, email, role }: UserRoleDto,
    @InjectCommandIdentity() identified: CommandIdAndTime,
    @Req() request: FastifyRequest,
  ): Promise<User> {
    const command = await this.operators.createIdentityCommandByOperator(identified, workspace);
    const { id } = await this.identity.users.findUserByEmail(command.workspace_id, email);
    const changed = await this.identity.users.changeUser(command, id, { role });
    reportChangeForAudit(request, changed);
    return changed.after;
  }

  @Post('deactivate')
  @DeclareQueryAndBodyLimit()
  @HttpCode(200)
  @RecordInAuditLog('user.deactivated')
  async deactivateUser(
    @Body(new OperatorBodyPipe(NamedUserDto)) { workspace, email }: NamedUserDto,
    @InjectCommandIdentity() identified: CommandIdAndTime,
    @Req() request: FastifyRequest,
  ): Promise<User> {
    const command = await this.operators.createIdentityCommandByOperator(identified, workspace);
    const { id } = await this.identity.users.findUserByEmail(command.workspace_id, email);
    const changed = await this.identity.users.deactivateUser(command, id);
    reportChangeForAudit(request, changed);
    return changed.after;
  }

  @Post('reset_password')
  @DeclareQueryAndBodyLimit()
  @HttpCode(200)
  @RecordInAuditLog('user.password_reset_requested')
  async resetPassword(
    @Body(new OperatorBodyPipe(ResetPasswordDto)) { workspace, email, revoke_api_keys }: ResetPasswordDto,
    @InjectCommandIdentity() identified: CommandIdAndTime,
    @Req() request: FastifyRequest,
  ): Promise<PasswordResetLinkResponse> {
    const command = await this.operators.createIdentityCommandByOperator(identified, workspace);
    const { id: user_id } = await this.identity.users.findUserByEmail(command.workspace_id, email);
    const { identity, trail, appUrl } = this;
    const reset = { command, user_id, revoke_api_keys, address: null };
    return (await resetPassword({ identity, trail, appUrl }, request, reset)).body;
  }
}

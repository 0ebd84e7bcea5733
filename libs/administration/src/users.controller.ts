import { Body, Controller, Get, HttpCode, Inject, Post, Query, Req } from '@nestjs/common';
import { USER_ROLES } from '@tracking/contracts';
import type { CreatedUser, PasswordReset, Role, User, UserToCreate } from '@tracking/contracts';
import {
  RecordInAuditLog,
  AuditTrail,
  CurrentCommandIdentity,
  EnumField,
  PasswordField,
  auditChange,
  TextField,
} from '@tracking/http';
import type { CommandIdentity } from '@tracking/http';
import { createLinkUrl, resetPassword, RevokeApiKeysField } from '@tracking/identity-http';
import type { FastifyRequest } from 'fastify';
import { APP_URL_TOKEN, IDENTITY_TOKEN } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { Operators } from './operator.ts';
import { InWorkspaceDto, InputPipe, DeclareRouteInput, createListResponse } from './routes.ts';
import type { ListResponse } from './routes.ts';

class NamedUserDto extends InWorkspaceDto {
  // Stored addresses may have characters that new ones must not have. The command that creates a user checks the address.
  @TextField({ description: 'E-mail address of the user.' })
  email!: string;
}
class ResetPasswordDto extends NamedUserDto {
  @RevokeApiKeysField()
  revoke_api_keys?: boolean | null;
}
class UserRoleDto extends NamedUserDto {
  @EnumField(USER_ROLES, { description: 'Role of the user.' })
  role!: Role;
}
class CreateUserDto extends UserRoleDto implements UserToCreate {
  @PasswordField({
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
    @Inject(IDENTITY_TOKEN) private readonly identity: AdministrationDependencies['identity'],
    @Inject(Operators) private readonly operators: Operators,
    @Inject(APP_URL_TOKEN) private readonly appUrl: AdministrationDependencies['appUrl'],
    @Inject(AuditTrail) private readonly trail: AuditTrail,
  ) {}

  /** Without a password, the response contains an invitation. */
  @Post()
  @DeclareRouteInput()
  @RecordInAuditLog('user.created')
  async createUser(
    @Body(new InputPipe(CreateUserDto)) { workspace, email, role, password }: CreateUserDto,
    @CurrentCommandIdentity() identified: CommandIdentity,
    @Req() request: FastifyRequest,
  ): Promise<CreatedUser> {
    const command = await this.operators.createCommand(identified, workspace);
    if (password !== undefined) {
      const created = await this.identity.users.createUser(command, { email, role, password });
      auditChange(request, created);
      return { ...created.after, invitation_url: null, invitation_expires_at: null };
    }
    const { link, ...invited } = await this.identity.users.inviteUser(command, { email, role });
    auditChange(request, invited);
    const invitation_url = createLinkUrl(this.appUrl, link.token);
    return { ...invited.after, invitation_url, invitation_expires_at: link.expires_at };
  }

  @Get()
  @DeclareRouteInput({ query: InWorkspaceDto })
  async listUsers(@Query() { workspace }: InWorkspaceDto): Promise<ListResponse<User>> {
    const { id } = await this.operators.findWorkspace(workspace);
    return createListResponse(await this.identity.users.listWorkspaceUsers(id));
  }

  @Post('set_role')
  @DeclareRouteInput()
  @HttpCode(200)
  @RecordInAuditLog('user.changed')
  async setRole(
    @Body(new InputPipe(UserRoleDto)) { workspace, email, role }: UserRoleDto,
    @CurrentCommandIdentity() identified: CommandIdentity,
    @Req() request: FastifyRequest,
  ): Promise<User> {
    const command = await this.operators.createCommand(identified, workspace);
    const { id } = await this.identity.users.findByAddress(command.workspace_id, email);
    const changed = await this.identity.users.changeUser(command, id, { role });
    auditChange(request, changed);
    return changed.after;
  }

  @Post('deactivate')
  @DeclareRouteInput()
  @HttpCode(200)
  @RecordInAuditLog('user.deactivated')
  async deactivateUser(
    @Body(new InputPipe(NamedUserDto)) { workspace, email }: NamedUserDto,
    @CurrentCommandIdentity() identified: CommandIdentity,
    @Req() request: FastifyRequest,
  ): Promise<User> {
    const command = await this.operators.createCommand(identified, workspace);
    const { id } = await this.identity.users.findByAddress(command.workspace_id, email);
    const changed = await this.identity.users.deactivateUser(command, id);
    auditChange(request, changed);
    return changed.after;
  }

  @Post('reset_password')
  @DeclareRouteInput()
  @HttpCode(200)
  @RecordInAuditLog('user.password_reset_requested')
  async resetPassword(
    @Body(new InputPipe(ResetPasswordDto)) { workspace, email, revoke_api_keys }: ResetPasswordDto,
    @CurrentCommandIdentity() identified: CommandIdentity,
    @Req() request: FastifyRequest,
  ): Promise<PasswordReset> {
    const command = await this.operators.createCommand(identified, workspace);
    const { id: user_id } = await this.identity.users.findByAddress(command.workspace_id, email);
    const { identity, trail, appUrl } = this;
    const reset = { command, user_id, revoke_api_keys, address: null };
    return (await resetPassword({ identity, trail, appUrl }, request, reset)).body;
  }
}

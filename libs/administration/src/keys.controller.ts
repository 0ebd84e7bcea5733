import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import { ENVIRONMENTS, USER_ROLES } from '@tracking/contracts';
import type { ApiKey, Environment, KeyOwner, KeyToCreate, CreatedApiKeyWithSecret, Role } from '@tracking/contracts';
import {
  AuditTrail,
  RecordInAuditLog,
  InjectCommandIdentity,
  EnumProperty,
  TextProperty,
  createFieldError,
  createInvalidRequestError,
  reportChangeForAudit,
} from '@tracking/http';
import type { CommandIdAndTime } from '@tracking/http';
import { ACCESS_TO_ALL_KEYS } from '@tracking/identity';
import type { IdentityCommand } from '@tracking/identity';
import type { FastifyRequest } from 'fastify';
import { IDENTITY_INJECTION_TOKEN } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { OperatorPrincipalFactory } from './operator.ts';
import { InWorkspaceDto, OperatorBodyPipe, DeclareQueryAndBodyLimit, wrapInListResponse } from './routes.ts';
import type { ListResponse } from './routes.ts';

class CreateApiKeyDto extends InWorkspaceDto implements KeyToCreate {
  @TextProperty({ description: 'Purpose of the key, in your words.' })
  name!: string;

  @EnumProperty(ENVIRONMENTS, { description: 'Environment of the key.' })
  environment!: Environment;

  @EnumProperty(USER_ROLES, {
    description: 'Role of the service account that is created for the key; either `role` or `user` is required.',
    nullable: true,
  })
  role?: Role;

  @TextProperty({ description: 'E-mail address of the user that owns the key.', nullable: true })
  user?: string;
}

/** API keys of workspaces. */
@Controller('administration/keys')
export class KeysController {
  constructor(
    @Inject(IDENTITY_INJECTION_TOKEN) private readonly identity: AdministrationDependencies['identity'],
    @Inject(OperatorPrincipalFactory) private readonly operators: OperatorPrincipalFactory,
    @Inject(AuditTrail) private readonly trail: AuditTrail,
  ) {}

  /** Only this response contains the key itself. */
  @Post()
  @DeclareQueryAndBodyLimit()
  @RecordInAuditLog('api_key.created')
  async createKey(
    @Body(new OperatorBodyPipe(CreateApiKeyDto)) input: CreateApiKeyDto,
    @InjectCommandIdentity() identified: CommandIdAndTime,
    @Req() request: FastifyRequest,
  ): Promise<CreatedApiKeyWithSecret> {
    const { workspace, name, environment } = input;
    const command = await this.operators.createIdentityCommandByOperator(identified, workspace);
    const owner = await this.findOrCreateKeyOwner(input, command, request);
    const created = await this.identity.keys.createKey(command, ACCESS_TO_ALL_KEYS, { name, environment, owner });
    reportChangeForAudit(request, created);
    return created.after;
  }

  @Get()
  @DeclareQueryAndBodyLimit({ query: InWorkspaceDto })
  async listKeys(@Query() { workspace }: InWorkspaceDto): Promise<ListResponse<ApiKey>> {
    const { id } = await this.operators.findWorkspaceByNameOrThrow(workspace);
    return wrapInListResponse(await this.identity.keys.listWorkspaceKeys(id));
  }

  @Post(':id/revoke')
  @DeclareQueryAndBodyLimit()
  @HttpCode(200)
  @RecordInAuditLog('api_key.revoked')
  async revokeKey(
    @Param('id') id: string,
    @Body(new OperatorBodyPipe(InWorkspaceDto)) { workspace }: InWorkspaceDto,
    @InjectCommandIdentity() identified: CommandIdAndTime,
    @Req() request: FastifyRequest,
  ): Promise<ApiKey> {
    const revoked = await this.identity.keys.revokeKey(
      await this.operators.createIdentityCommandByOperator(identified, workspace),
      ACCESS_TO_ALL_KEYS,
      id,
    );
    reportChangeForAudit(request, revoked);
    return revoked.after;
  }

  /** @throws RequestError unless exactly one owner is named; DomainError if there is no such user */
  private async findOrCreateKeyOwner(
    { name, role, user }: CreateApiKeyDto,
    command: IdentityCommand,
    request: FastifyRequest,
  ): Promise<KeyOwner> {
    if (Boolean(role) === Boolean(user)) {
      throw createInvalidRequestError(
        createFieldError('role', role ? 'invalid_value' : 'required', 'Either role or user is required.'),
      );
    }
    if (user) return { type: 'user', id: (await this.identity.users.findUserByEmail(command.workspace_id, user)).id };
    // Create the account before its key, so that a crash never leaves a key without an owner.
    return {
      type: 'service_account',
      id: await this.createServiceAccount({ name, role: role as Role }, command, request),
    };
  }

  /**
   * Creates a service account with an audit entry of its own, because the account stays even if creating the key fails.
   */
  private createServiceAccount(
    fields: { readonly name: string; readonly role: Role },
    command: IdentityCommand,
    request: FastifyRequest,
  ): Promise<string> {
    const { workspace_id, actor } = command;
    const by = { workspace_id, actor, address: null };
    const entry = { type: 'service_account.created', by, target: null, part: 'service account' } as const;
    return this.trail.runAudited(request, entry, async () => {
      const made = await this.identity.serviceAccounts.createServiceAccount(command, fields);
      reportChangeForAudit(request, made);
      return made.after.id;
    });
  }
}

import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { ENVIRONMENTS, ROLES } from '@tracking/contracts';
import type { Actor, ApiKey, Environment, NewApiKey, Role } from '@tracking/contracts';
import { OneOf, Text } from '../validation/fields.ts';
import { Takes } from './takes.ts';
import { IDENTITY } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { listAnswer } from './list-answer.ts';
import type { ListAnswer } from './list-answer.ts';
import { InputPipe } from './input.pipe.ts';
import { workspaceNamed } from './workspace-named.ts';

class InWorkspaceDto {
  @Text({ description: 'Name of the workspace.', required: true })
  workspace!: string;
}
class CreateKeyDto extends InWorkspaceDto {
  @Text({ description: 'What the key is for.', required: true })
  name!: string;

  @OneOf(ENVIRONMENTS, { description: 'What the key sees.', required: true })
  environment!: Environment;

  @OneOf(ROLES, { description: 'Role of the service account that is made for the key.', required: true })
  role!: Role;
}

/** Whoever may open the socket owns the data: operators are not told apart. */
const OPERATOR: Actor = { type: 'system', id: 'administration' };

@Controller('administration/keys')
export class KeysController {
  constructor(@Inject(IDENTITY) private readonly identity: AdministrationDependencies['identity']) {}

  /** The one answer that holds a key. */
  @Post()
  @Takes()
  async create(@Body(new InputPipe(CreateKeyDto)) input: CreateKeyDto): Promise<NewApiKey> {
    const { workspace, name, environment, role } = input;
    const workspace_id = await this.workspaceId(workspace);
    return this.identity.keys.create({ workspace_id, name, environment, role, created_by: OPERATOR });
  }

  @Get()
  @Takes({ query: InWorkspaceDto })
  async list(@Query() { workspace }: InWorkspaceDto): Promise<ListAnswer<ApiKey>> {
    return listAnswer(await this.identity.keys.list(await this.workspaceId(workspace)));
  }

  @Post(':id/revoke')
  @Takes()
  @HttpCode(200)
  async revoke(
    @Param('id') id: string,
    @Body(new InputPipe(InWorkspaceDto)) { workspace }: InWorkspaceDto,
  ): Promise<ApiKey> {
    return this.identity.keys.revoke(await this.workspaceId(workspace), id);
  }

  private async workspaceId(name: string): Promise<string> {
    return (await workspaceNamed(this.identity, name)).id;
  }
}

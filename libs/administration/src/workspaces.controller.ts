import { Body, Controller, Get, Inject, Post } from '@nestjs/common';
import type { Workspace } from '@tracking/contracts';
import { CurrentCommandIdentity, Text } from '@tracking/http';
import type { CommandIdentity } from '@tracking/http';
import { IDENTITY } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { InputPipe, AcceptsInput, createListAnswer } from './routes.ts';
import type { ListAnswer } from './routes.ts';

class CreateWorkspaceDto {
  @Text({ description: 'Unique name of the workspace, regardless of case.' })
  name!: string;
}

@Controller('administration/workspaces')
export class WorkspacesController {
  constructor(@Inject(IDENTITY) private readonly identity: AdministrationDependencies['identity']) {}

  @Post()
  @AcceptsInput()
  create(
    @Body(new InputPipe(CreateWorkspaceDto)) { name }: CreateWorkspaceDto,
    @CurrentCommandIdentity() { id }: CommandIdentity,
  ): Promise<Workspace> {
    return this.identity.workspaces.create(name, id);
  }

  @Get()
  @AcceptsInput()
  async list(): Promise<ListAnswer<Workspace>> {
    return createListAnswer(await this.identity.workspaces.list());
  }
}

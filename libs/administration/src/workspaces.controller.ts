import { Body, Controller, Get, Inject, Post } from '@nestjs/common';
import type { Workspace } from '@tracking/contracts';
import { CurrentCommandIdentity, Text } from '@tracking/http';
import type { CommandIdentity } from '@tracking/http';
import { IDENTITY_TOKEN } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { InputPipe, AcceptsInput, createListAnswer } from './routes.ts';
import type { ListResponse } from './routes.ts';

class CreateWorkspaceDto {
  @Text({ description: 'Unique name of the workspace, regardless of case.' })
  name!: string;
}

@Controller('administration/workspaces')
export class WorkspacesController {
  constructor(@Inject(IDENTITY_TOKEN) private readonly identity: AdministrationDependencies['identity']) {}

  @Post()
  @AcceptsInput()
  createWorkspace(
    @Body(new InputPipe(CreateWorkspaceDto)) { name }: CreateWorkspaceDto,
    @CurrentCommandIdentity() { id }: CommandIdentity,
  ): Promise<Workspace> {
    return this.identity.workspaces.createWorkspace(name, id);
  }

  @Get()
  @AcceptsInput()
  async listWorkspaces(): Promise<ListResponse<Workspace>> {
    return createListAnswer(await this.identity.workspaces.listWorkspaces());
  }
}

import { Body, Controller, Get, Inject, Post } from '@nestjs/common';
import type { Workspace } from '@tracking/contracts';
import { CurrentCommandIdentity, TextField } from '@tracking/http';
import type { CommandIdentity } from '@tracking/http';
import { IDENTITY_TOKEN } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { InputPipe, DeclareRouteInput, createListResponse } from './routes.ts';
import type { ListResponse } from './routes.ts';

class CreateWorkspaceDto {
  @TextField({ description: 'Unique name of the workspace, regardless of case.' })
  name!: string;
}

@Controller('administration/workspaces')
export class WorkspacesController {
  constructor(@Inject(IDENTITY_TOKEN) private readonly identity: AdministrationDependencies['identity']) {}

  @Post()
  @DeclareRouteInput()
  createWorkspace(
    @Body(new InputPipe(CreateWorkspaceDto)) { name }: CreateWorkspaceDto,
    @CurrentCommandIdentity() { id }: CommandIdentity,
  ): Promise<Workspace> {
    return this.identity.workspaces.createWorkspace(name, id);
  }

  @Get()
  @DeclareRouteInput()
  async listWorkspaces(): Promise<ListResponse<Workspace>> {
    return createListResponse(await this.identity.workspaces.listWorkspaces());
  }
}

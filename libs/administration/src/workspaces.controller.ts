import { Body, Controller, Get, Inject, Post } from '@nestjs/common';
import type { Workspace } from '@tracking/contracts';
import { InjectCommandIdentity, TextProperty } from '@tracking/http';
import type { CommandIdAndTime } from '@tracking/http';
import { IDENTITY_INJECTION_TOKEN } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { OperatorBodyPipe, DeclareQueryAndBodyLimit, wrapInListResponse } from './routes.ts';
import type { ListResponse } from './routes.ts';

class CreateWorkspaceDto {
  @TextProperty({ description: 'Unique name of the workspace, regardless of case.' })
  name!: string;
}

@Controller('administration/workspaces')
export class WorkspacesController {
  constructor(@Inject(IDENTITY_INJECTION_TOKEN) private readonly identity: AdministrationDependencies['identity']) {}

  @Post()
  @DeclareQueryAndBodyLimit()
  createWorkspace(
    @Body(new OperatorBodyPipe(CreateWorkspaceDto)) { name }: CreateWorkspaceDto,
    @InjectCommandIdentity() { id }: CommandIdAndTime,
  ): Promise<Workspace> {
    return this.identity.workspaces.createWorkspace(name, id);
  }

  @Get()
  @DeclareQueryAndBodyLimit()
  async listWorkspaces(): Promise<ListResponse<Workspace>> {
    return wrapInListResponse(await this.identity.workspaces.listWorkspaces());
  }
}

import { Body, Controller, Get, Inject, Post } from '@nestjs/common';
import type { Workspace } from '@tracking/contracts';
import { Text } from '../validation/fields.ts';
import { Takes } from './takes.ts';
import { ADMINISTRATION } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { listAnswer } from './list-answer.ts';
import type { ListAnswer } from './list-answer.ts';
import { readInput } from './read-input.ts';

class CreateWorkspaceDto {
  @Text({ description: 'Unique, whatever its case.', required: true })
  name!: string;
}

@Controller('administration/workspaces')
export class WorkspacesController {
  constructor(@Inject(ADMINISTRATION) private readonly dependencies: AdministrationDependencies) {}

  @Post()
  @Takes()
  create(@Body() body: unknown): Promise<Workspace> {
    return this.dependencies.identity.workspaces.create(readInput(CreateWorkspaceDto, body).name);
  }

  @Get()
  @Takes()
  async list(): Promise<ListAnswer<Workspace>> {
    return listAnswer(await this.dependencies.identity.workspaces.list());
  }
}

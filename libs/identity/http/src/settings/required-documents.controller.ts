import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Scope, WorkspaceSettings } from '@tracking/contracts';
import { CurrentScope, etagOf, Operation } from '@tracking/http';
import type { FastifyReply } from 'fastify';
import type { IdentityHttpDependencies } from '../dependencies.ts';
import { WORKSPACE_SETTINGS } from '../dependencies.ts';
import { RequiredDocumentsResource } from './settings.resource.ts';

/** What of the settings concerns everybody who works with documents, also those who may not see the others. */
@ApiTags('Documents')
@Controller('v1/required_documents')
export class RequiredDocumentsController {
  constructor(@Inject(WORKSPACE_SETTINGS) private readonly settings: IdentityHttpDependencies['workspaceSettings']) {}

  @Get()
  @Operation('getRequiredDocuments', {
    summary: 'Get which documents a shipment of each mode needs',
    description: 'As the settings of the workspace say.',
    conditional: 'read',
  })
  @ApiResponse({ status: 200, description: 'By mode.', type: RequiredDocumentsResource })
  async get(
    @CurrentScope() { workspace_id }: Scope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Pick<WorkspaceSettings, 'required_documents' | 'version'>> {
    const { required_documents, version } = await this.settings.get(workspace_id);
    reply.header('ETag', etagOf(version));
    return { required_documents, version };
  }
}

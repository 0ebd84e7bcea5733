import { Controller, Get, Inject, Req } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { WorkspaceScope } from '@tracking/contracts';
import type { StorageUsage } from '@tracking/documents';
import { InjectWorkspaceScope, DeclareApiOperation, ReadYourWrites } from '@tracking/http';
import type { ReadModelName } from '@tracking/read-models';
import type { FastifyRequest } from 'fastify';
import { DocumentStorage } from './document-storage.ts';
import { StorageResource } from './document.resource.ts';

/** The storage of the workspace for documents. */
@ApiTags('Documents')
@Controller('v1/storage')
export class StorageController {
  constructor(
    @Inject(DocumentStorage) private readonly storage: DocumentStorage,
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites<ReadModelName>,
  ) {}

  @Get()
  @DeclareApiOperation('getStorage', {
    summary: 'Get the storage used by documents',
    description: 'The documents of both environments of the workspace share one quota.',
    readsYourWrites: true,
  })
  @ApiResponse({ status: 200, description: 'The used bytes and the quota.', type: StorageResource })
  async getStorageUsage(
    @InjectWorkspaceScope() { workspace_id }: WorkspaceScope,
    @Req() request: FastifyRequest,
  ): Promise<StorageUsage> {
    await this.readYourWrites.waitForReadModel('documents', request);
    return this.storage.readStorageUsage(workspace_id);
  }
}

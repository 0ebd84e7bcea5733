import { Controller, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import type { ReadModelStatus } from '@tracking/contracts';
import { RequestError } from '@tracking/http';
import { UnknownReadModelError } from '@tracking/read-models';
import { READ_MODELS_INJECTION_TOKEN } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { DeclareQueryAndBodyLimit, wrapInListResponse } from './routes.ts';
import type { ListResponse } from './routes.ts';

/** Read models and their rebuilds. */
@Controller('administration/read_models')
export class ReadModelsController {
  constructor(
    @Inject(READ_MODELS_INJECTION_TOKEN) private readonly readModels: AdministrationDependencies['readModels'],
  ) {}

  @Get()
  @DeclareQueryAndBodyLimit()
  async listReadModels(): Promise<ListResponse<ReadModelStatus>> {
    return wrapInListResponse(await this.readModels.listReadModelStates());
  }

  /** Responds as soon as the rebuild is stored; `GET /administration/read_models` shows its progress. */
  @Post(':name/rebuild')
  @DeclareQueryAndBodyLimit()
  @HttpCode(202)
  async rebuildReadModel(@Param('name') name: string): Promise<{ readonly name: string; readonly generation: number }> {
    try {
      return await this.readModels.rebuild(name);
    } catch (error) {
      if (error instanceof UnknownReadModelError) throw new RequestError('not_found', error.message);
      throw error;
    }
  }
}

import { Controller, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import type { ParkedRetry, ParkedShipment, ReadModelStatus } from '@tracking/contracts';
import { UnknownReadModel } from '@tracking/read-models';
import { RequestError, notFound } from '../errors/request-error.ts';
import { ADMINISTRATION } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { listAnswer } from './list-answer.ts';
import type { ListAnswer } from './list-answer.ts';

@Controller('administration')
export class ReadModelsController {
  constructor(@Inject(ADMINISTRATION) private readonly dependencies: AdministrationDependencies) {}

  @Get('read_models')
  async list(): Promise<ListAnswer<ReadModelStatus>> {
    return listAnswer(await this.dependencies.readModels.list());
  }

  /** Answers as soon as the rebuild is sure to happen; `GET /administration/read_models` tells how far it is. */
  @Post('read_models/:name/rebuild')
  @HttpCode(202)
  async rebuild(@Param('name') name: string): Promise<{ readonly name: string; readonly generation: number }> {
    try {
      return await this.dependencies.readModels.rebuild(name);
    } catch (error) {
      if (error instanceof UnknownReadModel) throw new RequestError('not_found', error.message);
      throw error;
    }
  }

  @Get('parked')
  async parked(): Promise<ListAnswer<ParkedShipment>> {
    const parked = await this.dependencies.readModels.parked();
    return listAnswer(
      parked.map(({ id, read_model, generation, stream, revision, event_type, error, parked_at, attempts }) => {
        return { id, read_model, generation, stream, revision, event_type, error, parked_at, attempts };
      }),
    );
  }

  /** Waits some seconds for what comes of it. */
  @Post('parked/:id/retry')
  @HttpCode(200)
  async retry(@Param('id') id: string): Promise<ParkedRetry> {
    const outcome = await this.dependencies.readModels.retryParked(id);
    if (outcome === 'not_found') throw notFound('parked shipment');
    return { id, outcome };
  }
}

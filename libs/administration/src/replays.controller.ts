import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import { DEFAULT_PAGE_SIZE, ENVIRONMENTS } from '@tracking/contracts';
import type { Environment } from '@tracking/contracts';
import { QueryOneOf, QueryText } from '@tracking/http';
import { ListReplaysDto, ReplayFilterDto, replayFilter } from '@tracking/webhooks-http';
import type { FastifyRequest } from 'fastify';
import { InputPipe } from './input.pipe.ts';
import { ReplayOperations } from './operated-replays.ts';
import type { OperatedReplay, OperatedReplays } from './operated-replays.ts';
import { IN_ENVIRONMENT, IN_WORKSPACE, WhereDto } from './operated-scopes.ts';
import { placeOf } from './place.ts';
import { Takes } from './takes.ts';

class OperatedReplaysDto extends ListReplaysDto {
  @QueryText(IN_WORKSPACE)
  workspace?: string;

  @QueryOneOf(ENVIRONMENTS, IN_ENVIRONMENT)
  environment?: Environment;
}
class OperatedReplayDto extends ReplayFilterDto {
  @QueryText(IN_WORKSPACE)
  workspace?: string;

  @QueryOneOf(ENVIRONMENTS, IN_ENVIRONMENT)
  environment?: Environment;
}

@Controller('administration')
export class ReplaysController {
  constructor(@Inject(ReplayOperations) private readonly replays: ReplayOperations) {}

  @Get('replays')
  @Takes({ query: OperatedReplaysDto })
  list(@Query() query: OperatedReplaysDto): Promise<OperatedReplays> {
    const { endpoint_id, limit, cursor } = query;
    const most = limit === undefined ? DEFAULT_PAGE_SIZE : Number(limit);
    return this.replays.list(query, { endpoint_id, limit: most, after: placeOf(cursor) });
  }

  @Get('replays/:id')
  @Takes({ query: WhereDto })
  get(@Query() where: WhereDto, @Param('id') id: string): Promise<OperatedReplay> {
    return this.replays.get(where, id);
  }

  @Post('webhook_endpoints/:id/replay')
  @Takes()
  @HttpCode(202)
  create(
    @Param('id') id: string,
    @Body(new InputPipe(OperatedReplayDto)) which: OperatedReplayDto,
    @Req() request: FastifyRequest,
  ): Promise<OperatedReplay> {
    return this.replays.create(which, id, replayFilter(which), request);
  }

  @Post('replays/:id/cancel')
  @Takes()
  @HttpCode(200)
  cancel(
    @Param('id') id: string,
    @Body(new InputPipe(WhereDto)) where: WhereDto,
    @Req() request: FastifyRequest,
  ): Promise<OperatedReplay> {
    return this.replays.change('cancel', where, id, request);
  }

  @Post('replays/:id/resume')
  @Takes()
  @HttpCode(200)
  resume(
    @Param('id') id: string,
    @Body(new InputPipe(WhereDto)) where: WhereDto,
    @Req() request: FastifyRequest,
  ): Promise<OperatedReplay> {
    return this.replays.change('resume', where, id, request);
  }
}

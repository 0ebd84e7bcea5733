import { Body, Controller, Get, HttpCode, Inject, Post, Query, Req } from '@nestjs/common';
import { ENVIRONMENTS } from '@tracking/contracts';
import type { Environment } from '@tracking/contracts';
import { QueryOneOf, QueryText } from '@tracking/http';
import { DeadLetterSummaryDto, DeadLettersDto, settleFilter, summaryFilter } from '@tracking/webhooks-http';
import type { FastifyRequest } from 'fastify';
import { InputPipe } from './input.pipe.ts';
import { OperatedDeadLetters } from './operated-dead-letters.ts';
import type { OperatedSettlement, OperatedSummary } from './operated-dead-letters.ts';
import { IN_ENVIRONMENT, IN_WORKSPACE } from './operated-scopes.ts';
import { Takes } from './takes.ts';

class OperatedSummaryDto extends DeadLetterSummaryDto {
  @QueryText(IN_WORKSPACE)
  workspace?: string;

  @QueryOneOf(ENVIRONMENTS, IN_ENVIRONMENT)
  environment?: Environment;
}
class OperatedDeadLettersDto extends DeadLettersDto {
  @QueryText(IN_WORKSPACE)
  workspace?: string;

  @QueryOneOf(ENVIRONMENTS, IN_ENVIRONMENT)
  environment?: Environment;
}

@Controller('administration/dead_letters')
export class DeadLettersController {
  constructor(@Inject(OperatedDeadLetters) private readonly deadLetters: OperatedDeadLetters) {}

  @Get('summary')
  @Takes({ query: OperatedSummaryDto })
  summary(@Query() query: OperatedSummaryDto): Promise<OperatedSummary> {
    return this.deadLetters.summary(query, summaryFilter(query));
  }

  /** A job for each endpoint that has such. */
  @Post('replay')
  @Takes()
  @HttpCode(202)
  replay(
    @Body(new InputPipe(OperatedDeadLettersDto)) which: OperatedDeadLettersDto,
    @Req() request: FastifyRequest,
  ): Promise<OperatedSettlement> {
    return this.deadLetters.settle('replay', which, settleFilter(which), request);
  }

  @Post('discard')
  @Takes()
  @HttpCode(202)
  discard(
    @Body(new InputPipe(OperatedDeadLettersDto)) which: OperatedDeadLettersDto,
    @Req() request: FastifyRequest,
  ): Promise<OperatedSettlement> {
    return this.deadLetters.settle('discard', which, settleFilter(which), request);
  }
}

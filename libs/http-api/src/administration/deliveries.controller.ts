import { Body, Controller, Get, HttpCode, Inject, Param, Post, Req } from '@nestjs/common';
import { DEFAULT_PAGE_SIZE, ENVIRONMENTS } from '@tracking/contracts';
import type { Environment } from '@tracking/contracts';
import type { DeadLetterAnswer, DeliveryFilter, WebhookDeliveryDetail } from '@tracking/webhooks';
import type { FastifyRequest } from 'fastify';
import { invalidRequest } from '../errors/request-error.ts';
import { QueryOneOf, QueryText, QueryTime, TextList } from '../validation/fields.ts';
import { parametersOf } from '../validation/parameters.ts';
import { Takes } from './takes.ts';
import { parseTimestamp } from '../validation/timestamp.ts';
import { ListDeliveriesDto, deliveryFilter } from '../webhooks/list-deliveries.dto.ts';
import { OperatedDeliveries } from './operated-deliveries.ts';
import type { Operated } from './operated-deliveries.ts';
import { readInput } from './read-input.ts';

const WORKSPACE = { description: 'Name of the workspace; all of them without one.' };
const ENVIRONMENT = { description: 'One environment; both without one.' };
/** Dead letters that are settled in one request: few enough that its answer does not take long. */
const MOST_AT_ONCE = 200;

class WhereDto {
  @QueryText(WORKSPACE)
  workspace?: string;

  @QueryOneOf(ENVIRONMENTS, ENVIRONMENT)
  environment?: Environment;
}
class OperatedListDto extends ListDeliveriesDto {
  @QueryText(WORKSPACE)
  workspace?: string;

  @QueryOneOf(ENVIRONMENTS, ENVIRONMENT)
  environment?: Environment;

  @QueryTime({ description: 'Only those of events created at this time or later.' })
  since?: string;

  @QueryTime({ description: 'Only those of events created at this time or earlier.' })
  until?: string;
}
class DeadLettersDto extends WhereDto {
  @TextList(MOST_AT_ONCE, { description: 'Ids of the deliveries.', required: true })
  ids!: string[];
}

@Controller('administration')
export class DeliveriesController {
  constructor(@Inject(OperatedDeliveries) private readonly deliveries: OperatedDeliveries) {}

  @Get('deliveries')
  @Takes({ query: OperatedListDto })
  async list(@Req() request: FastifyRequest): Promise<{
    readonly data: readonly Operated[];
    readonly workspaces: readonly string[];
    readonly next_cursor: string | null;
  }> {
    const { workspace, environment, since, until, limit, cursor, ...wanted } = parametersOf(OperatedListDto, request);
    const [from, to] = [since && parseTimestamp(since), until && parseTimestamp(until)];
    const filter: DeliveryFilter = {
      ...deliveryFilter(wanted),
      ...(from && { since: from }),
      ...(to && { until: to }),
    };
    const most = limit === undefined ? DEFAULT_PAGE_SIZE : Number(limit);
    const { items, next, workspaces } = await this.deliveries.list(
      { workspace, environment },
      filter,
      most,
      placeOf(cursor),
    );
    return { data: items, workspaces, next_cursor: next && next.join(' ') };
  }

  @Get('deliveries/:id')
  @Takes({ query: WhereDto })
  async get(@Req() request: FastifyRequest, @Param('id') id: string): Promise<Operated<WebhookDeliveryDetail>> {
    return this.deliveries.get(parametersOf(WhereDto, request), id);
  }

  /** Answers before the attempt. */
  @Post('deliveries/:id/retry')
  @Takes()
  @HttpCode(202)
  async retry(@Param('id') id: string, @Body() body: unknown): Promise<Operated> {
    return this.deliveries.retry(readInput(WhereDto, body), id);
  }

  @Post('dead_letters/replay')
  @Takes()
  @HttpCode(200)
  async replay(@Body() body: unknown): Promise<DeadLetterAnswer> {
    const { ids, ...where } = readInput(DeadLettersDto, body);
    return this.deliveries.settleDeadLetters('replay', where, ids);
  }

  @Post('dead_letters/discard')
  @Takes()
  @HttpCode(200)
  async discard(@Body() body: unknown): Promise<DeadLetterAnswer> {
    const { ids, ...where } = readInput(DeadLettersDto, body);
    return this.deliveries.settleDeadLetters('discard', where, ids);
  }
}

/** Nobody but the operator's own tool sends it, so it is neither sealed nor bound to its filters. */
function placeOf(cursor: string | undefined): readonly string[] | undefined {
  const place = cursor?.split(' ');
  if (place === undefined || place.length === 2) return place;
  throw invalidRequest([{ param: 'cursor', code: 'invalid_cursor', message: 'Must be a next_cursor of this list.' }]);
}

import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { DEFAULT_PAGE_SIZE, ENVIRONMENTS } from '@tracking/contracts';
import type { Environment } from '@tracking/contracts';
import type { DeadLetterAnswer, DeliveryFilter, WebhookDeliveryDetail } from '@tracking/webhooks';
import type { CommandIdentity } from '../server/command-identity.ts';
import { Identified } from '../server/request-decorators.ts';
import { invalidRequest } from '../errors/request-error.ts';
import { QueryOneOf, QueryText, QueryTime, TextList } from '../validation/fields.ts';
import { Takes } from './takes.ts';
import { parseTimestamp } from '../validation/timestamp.ts';
import { ListDeliveriesDto, deliveryFilter } from '../webhooks/list-deliveries.dto.ts';
import { OperatedDeliveries } from './operated-deliveries.ts';
import type { Operated } from './operated-deliveries.ts';
import { InputPipe } from './input.pipe.ts';

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
  async list(@Query() query: OperatedListDto): Promise<{
    readonly data: readonly Operated[];
    readonly workspaces: readonly string[];
    readonly next_cursor: string | null;
  }> {
    const { workspace, environment, since, until, limit, cursor, ...wanted } = query;
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
  async get(@Query() where: WhereDto, @Param('id') id: string): Promise<Operated<WebhookDeliveryDetail>> {
    return this.deliveries.get(where, id);
  }

  /** Answers before the attempt. */
  @Post('deliveries/:id/retry')
  @Takes()
  @HttpCode(202)
  async retry(
    @Param('id') id: string,
    @Body(new InputPipe(WhereDto)) where: WhereDto,
    @Identified() identity: CommandIdentity,
  ): Promise<Operated> {
    return this.deliveries.retry(where, id, identity);
  }

  @Post('dead_letters/replay')
  @Takes()
  @HttpCode(200)
  async replay(
    @Body(new InputPipe(DeadLettersDto)) which: DeadLettersDto,
    @Identified() identity: CommandIdentity,
  ): Promise<DeadLetterAnswer> {
    return this.deliveries.settleDeadLetters('replayDeadLetters', which, identity);
  }

  @Post('dead_letters/discard')
  @Takes()
  @HttpCode(200)
  async discard(
    @Body(new InputPipe(DeadLettersDto)) which: DeadLettersDto,
    @Identified() identity: CommandIdentity,
  ): Promise<DeadLetterAnswer> {
    return this.deliveries.settleDeadLetters('discardDeadLetters', which, identity);
  }
}

/** Nobody but the operator's own tool sends it, so it is neither sealed nor bound to its filters. */
function placeOf(cursor: string | undefined): readonly string[] | undefined {
  const place = cursor?.split(' ');
  if (place === undefined || place.length === 2) return place;
  throw invalidRequest([{ param: 'cursor', code: 'invalid_cursor', message: 'Must be a next_cursor of this list.' }]);
}

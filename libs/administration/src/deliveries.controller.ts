import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { DEFAULT_PAGE_SIZE, ENVIRONMENTS } from '@tracking/contracts';
import type { Environment } from '@tracking/contracts';
import { Identified, QueryOneOf, QueryText } from '@tracking/http';
import type { CommandIdentity } from '@tracking/http';
import type { WebhookDelivery, WebhookDeliveryDetail } from '@tracking/webhooks';
import { deliveryFilter, ListDeliveriesDto } from '@tracking/webhooks-http';
import { Takes } from './takes.ts';
import { OperatedDeliveries } from './operated-deliveries.ts';
import type { Operated } from './operated-scopes.ts';
import { InputPipe } from './input.pipe.ts';
import { IN_ENVIRONMENT, IN_WORKSPACE, WhereDto } from './operated-scopes.ts';
import { placeOf } from './place.ts';

class OperatedListDto extends ListDeliveriesDto {
  @QueryText(IN_WORKSPACE)
  workspace?: string;

  @QueryOneOf(ENVIRONMENTS, IN_ENVIRONMENT)
  environment?: Environment;
}

@Controller('administration')
export class DeliveriesController {
  constructor(@Inject(OperatedDeliveries) private readonly deliveries: OperatedDeliveries) {}

  @Get('deliveries')
  @Takes({ query: OperatedListDto })
  async list(@Query() query: OperatedListDto): Promise<{
    readonly data: readonly Operated<WebhookDelivery>[];
    readonly workspaces: readonly string[];
    readonly next_cursor: string | null;
  }> {
    const { workspace, environment, limit, cursor, ...wanted } = query;
    const most = limit === undefined ? DEFAULT_PAGE_SIZE : Number(limit);
    const { items, next, workspaces } = await this.deliveries.list(
      { workspace, environment },
      deliveryFilter(wanted),
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
  ): Promise<Operated<WebhookDelivery>> {
    return this.deliveries.retry(where, id, identity);
  }
}

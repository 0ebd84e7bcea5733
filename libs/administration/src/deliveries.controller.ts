import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { IntersectionType } from '@nestjs/swagger';
import { CurrentCommandIdentity, parsePageLimit } from '@tracking/http';
import type { CommandIdentity } from '@tracking/http';
import type { WebhookDelivery, WebhookDeliveryDetail } from '@tracking/webhooks';
import { ListDeliveriesDto, toDeliveryFilter } from '@tracking/webhooks-http';
import { WEBHOOKS } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { Operators, addScope, toScope } from './operator.ts';
import type { ScopeResults, Owned } from './operator.ts';
import { InputPipe, AcceptsInput, WhereDto, parseCursor } from './routes.ts';

class ListWhereDto extends IntersectionType(ListDeliveriesDto, WhereDto) {}

/** Webhook deliveries of all workspaces. */
@Controller('administration/deliveries')
export class DeliveriesController {
  constructor(
    @Inject(Operators) private readonly operators: Operators,
    @Inject(WEBHOOKS) private readonly webhooks: NonNullable<AdministrationDependencies['webhooks']>,
  ) {}

  @Get()
  @AcceptsInput({ query: ListWhereDto })
  async list(
    @Query() { workspace, environment, limit: requestedLimit, cursor, ...wanted }: ListWhereDto,
  ): Promise<ScopeResults<WebhookDelivery> & { readonly next_cursor: string | null }> {
    const principal = await this.operators.principal({ workspace, environment });
    const limit = parsePageLimit(requestedLimit);
    const filter = toDeliveryFilter(wanted);
    const after = parseCursor(cursor);
    return principal.findNewest(limit, (scope) =>
      this.webhooks.deliveries.list({ scopes: [scope], filter, limit, ...(after && { after }) }),
    );
  }

  @Get(':id')
  @AcceptsInput({ query: WhereDto })
  async get(@Query() where: WhereDto, @Param('id') delivery_id: string): Promise<Owned<WebhookDeliveryDetail>> {
    const { scope, found } = await this.find(where, delivery_id);
    return addScope(found, scope);
  }

  /** Requests an attempt. The response does not wait for it. */
  @Post(':id/retry')
  @AcceptsInput()
  @HttpCode(202)
  async retry(
    @Param('id') delivery_id: string,
    @Body(new InputPipe(WhereDto)) where: WhereDto,
    @CurrentCommandIdentity() identity: CommandIdentity,
  ): Promise<Owned<WebhookDelivery>> {
    const { scope } = await this.find(where, delivery_id);
    const command = { ...identity, ...toScope(scope), delivery_id };
    return addScope(await this.webhooks.deliveries.retry(command), scope);
  }

  private async find(where: WhereDto, delivery_id: string) {
    const principal = await this.operators.principal(where);
    return principal.find('delivery', (scope) => this.webhooks.deliveries.get({ scopes: [scope], delivery_id }));
  }
}

import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { IntersectionType } from '@nestjs/swagger';
import { InjectCommandIdentity, parsePageLimit } from '@tracking/http';
import type { CommandIdAndTime } from '@tracking/http';
import type { WebhookDelivery, DetailedWebhookDelivery } from '@tracking/webhooks';
import { ListDeliveriesDto, toDeliveryFilter } from '@tracking/webhooks-http';
import { WEBHOOKS_INJECTION_TOKEN } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { OperatorPrincipalFactory, addScopeToResource, toScopeWithoutWorkspaceName } from './operator.ts';
import type { ResultsOfSearchedWorkspaces, Owned } from './operator.ts';
import { OperatorBodyPipe, DeclareQueryAndBodyLimit, ScopeQueryDto, parseCursor } from './routes.ts';

class ListDeliveriesQueryDto extends IntersectionType(ListDeliveriesDto, ScopeQueryDto) {}

/** Webhook deliveries of all workspaces. */
@Controller('administration/deliveries')
export class DeliveriesController {
  constructor(
    @Inject(OperatorPrincipalFactory) private readonly operators: OperatorPrincipalFactory,
    @Inject(WEBHOOKS_INJECTION_TOKEN) private readonly webhooks: NonNullable<AdministrationDependencies['webhooks']>,
  ) {}

  @Get()
  @DeclareQueryAndBodyLimit({ query: ListDeliveriesQueryDto })
  async listDeliveries(
    @Query() { workspace, environment, limit: requestedLimit, cursor, ...wanted }: ListDeliveriesQueryDto,
  ): Promise<ResultsOfSearchedWorkspaces<WebhookDelivery> & { readonly next_cursor: string | null }> {
    const principal = await this.operators.createOperatorPrincipal({ workspace, environment });
    const limit = parsePageLimit(requestedLimit);
    const filter = toDeliveryFilter(wanted);
    const after = parseCursor(cursor);
    return principal.findNewestEntriesOfAllScopes(limit, (scope) =>
      this.webhooks.deliveries.list({ scopes: [scope], filter, limit, ...(after && { after }) }),
    );
  }

  @Get(':id')
  @DeclareQueryAndBodyLimit({ query: ScopeQueryDto })
  async getDelivery(
    @Query() where: ScopeQueryDto,
    @Param('id') delivery_id: string,
  ): Promise<Owned<DetailedWebhookDelivery>> {
    const { scope, found } = await this.findDelivery(where, delivery_id);
    return addScopeToResource(found, scope);
  }

  /** Requests an attempt. The response does not wait for it. */
  @Post(':id/retry')
  @DeclareQueryAndBodyLimit()
  @HttpCode(202)
  async retryDelivery(
    @Param('id') delivery_id: string,
    @Body(new OperatorBodyPipe(ScopeQueryDto)) where: ScopeQueryDto,
    @InjectCommandIdentity() identity: CommandIdAndTime,
  ): Promise<Owned<WebhookDelivery>> {
    const { scope } = await this.findDelivery(where, delivery_id);
    const command = { ...identity, ...toScopeWithoutWorkspaceName(scope), delivery_id };
    return addScopeToResource(await this.webhooks.deliveries.retry(command), scope);
  }

  private async findDelivery(where: ScopeQueryDto, delivery_id: string) {
    const principal = await this.operators.createOperatorPrincipal(where);
    return principal.findResourceInAllScopes('delivery', (scope) =>
      this.webhooks.deliveries.get({ scopes: [scope], delivery_id }),
    );
  }
}

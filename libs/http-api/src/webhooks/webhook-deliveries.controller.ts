import { Controller, Get, HttpCode, Inject, Param, Post, Req } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page } from '@tracking/contracts';
import type { DeliveryCommand, WebhookDelivery, WebhookDeliveryDetail } from '@tracking/webhooks';
import type { FastifyRequest } from 'fastify';
import { DEPENDENCIES } from '../dependencies.ts';
import type { HttpApiDependencies } from '../dependencies.ts';
import { Requires, refusal } from '../docs/requires.ts';
import { Cursors } from '../paging/cursors.ts';
import { page } from '../paging/page.ts';
import { scopeOf } from '../server/request.ts';
import { readQuery } from '../validation/read-query.ts';
import { DeliveryDetailResource, DeliveryPageResource, DeliveryResource } from './delivery.resource.ts';
import { ListDeliveriesDto, deliveryFilter } from './list-deliveries.dto.ts';
import { WEBHOOKS, webhookCommand } from './webhooks.ts';
import type { WebhooksService } from './webhooks.ts';

const Unknown = () => refusal(404, 'No such delivery in this workspace and environment.');

@ApiTags('Webhook deliveries')
@Controller('v1/webhook_deliveries')
export class WebhookDeliveriesController {
  constructor(
    @Inject(DEPENDENCIES) private readonly dependencies: HttpApiDependencies,
    @Inject(WEBHOOKS) private readonly webhooks: WebhooksService,
    @Inject(Cursors) private readonly cursors: Cursors,
  ) {}

  @Get()
  @Requires('webhooks:manage')
  @ApiOperation({ summary: 'List deliveries, the newest first', operationId: 'listWebhookDeliveries' })
  @ApiQuery({ type: ListDeliveriesDto })
  @ApiResponse({ status: 200, description: 'A page of deliveries.', type: DeliveryPageResource })
  @refusal(400, 'A parameter is not valid, or the cursor came with others.')
  async list(@Req() request: FastifyRequest): Promise<Page<WebhookDelivery>> {
    const query = readQuery(ListDeliveriesDto, request);
    const scope = scopeOf(request);
    const filter = deliveryFilter(query);
    return page(
      query,
      { list: 'webhook deliveries', scope, filter: { ...filter }, sort: '-created_at' },
      this.cursors,
      (limit, after) =>
        this.webhooks.deliveries.list({
          scopes: [scope],
          filter,
          limit,
          ...(after && { after: after.map(String) }),
        }),
      (delivery) => delivery,
    );
  }

  @Get(':id')
  @Requires('webhooks:manage')
  @ApiOperation({ summary: 'Get a delivery with every attempt', operationId: 'getWebhookDelivery' })
  @ApiResponse({ status: 200, description: 'The delivery.', type: DeliveryDetailResource })
  @Unknown()
  async get(@Req() request: FastifyRequest, @Param('id') delivery_id: string): Promise<WebhookDeliveryDetail> {
    return this.webhooks.deliveries.get({ scopes: [scopeOf(request)], delivery_id });
  }

  @Post(':id/retry')
  @HttpCode(202)
  @Requires('webhooks:manage')
  @ApiOperation({ summary: 'Attempt it once, beside its schedule', operationId: 'retryWebhookDelivery' })
  @ApiResponse({
    status: 202,
    description: 'The delivery as it is before the attempt; get it for its outcome.',
    type: DeliveryResource,
  })
  @Unknown()
  @refusal(409, 'The endpoint is not enabled.')
  async retry(@Req() request: FastifyRequest, @Param('id') id: string): Promise<WebhookDelivery> {
    return this.webhooks.deliveries.retry(this.command(request, id));
  }

  @Post(':id/discard')
  @HttpCode(200)
  @Requires('webhooks:manage')
  @ApiOperation({ summary: 'Send it no more', operationId: 'discardWebhookDelivery' })
  @ApiResponse({ status: 200, description: 'The delivery.', type: DeliveryResource })
  @Unknown()
  @refusal(409, 'It succeeded already.')
  async discard(@Req() request: FastifyRequest, @Param('id') id: string): Promise<WebhookDelivery> {
    return this.webhooks.deliveries.discard(this.command(request, id));
  }

  private command(request: FastifyRequest, delivery_id: string): DeliveryCommand {
    return { ...webhookCommand(request, this.dependencies.clock), delivery_id };
  }
}

import { Controller, Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page } from '@tracking/contracts';
import type { WebhookDelivery, WebhookDeliveryDetail } from '@tracking/webhooks';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Operation, refusal } from '../operations/operation.ts';
import { Cursors } from '../paging/cursors.ts';
import { page } from '../paging/page.ts';
import { scopeOf } from '../server/request.ts';
import { parametersOf } from '../validation/parameters.ts';
import { DeliveryDetailResource, DeliveryPageResource, DeliveryWrittenResource } from './delivery.resource.ts';
import { ListDeliveriesDto, deliveryFilter } from './list-deliveries.dto.ts';
import { WEBHOOKS, WebhookWrites } from './webhooks.ts';
import type { WebhooksService, WithWarnings } from './webhooks.ts';

const Unknown = () => refusal(404, 'No such delivery in this workspace and environment.');

@ApiTags('Webhook deliveries')
@Controller('v1/webhook_deliveries')
export class WebhookDeliveriesController {
  constructor(
    @Inject(WEBHOOKS) private readonly webhooks: WebhooksService,
    @Inject(WebhookWrites) private readonly writes: WebhookWrites,
    @Inject(Cursors) private readonly cursors: Cursors,
  ) {}

  @Get()
  @Operation('listWebhookDeliveries', { summary: 'List deliveries, the newest first', query: ListDeliveriesDto })
  @ApiResponse({ status: 200, description: 'A page of deliveries.', type: DeliveryPageResource })
  async list(@Req() request: FastifyRequest): Promise<Page<WebhookDelivery>> {
    const query = parametersOf(ListDeliveriesDto, request);
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
  @Operation('getWebhookDelivery', { summary: 'Get a delivery with every attempt' })
  @ApiResponse({ status: 200, description: 'The delivery.', type: DeliveryDetailResource })
  @Unknown()
  async get(@Req() request: FastifyRequest, @Param('id') delivery_id: string): Promise<WebhookDeliveryDetail> {
    return this.webhooks.deliveries.get({ scopes: [scopeOf(request)], delivery_id });
  }

  @Post(':id/retry')
  @HttpCode(202)
  @Operation('retryWebhookDelivery', { summary: 'Attempt it once, beside its schedule' })
  @ApiResponse({
    status: 202,
    description: 'The delivery as it is before the attempt; get it for its outcome.',
    type: DeliveryWrittenResource,
  })
  @Unknown()
  @refusal(409, 'The endpoint is not enabled.')
  async retry(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('id') delivery_id: string,
  ): Promise<WithWarnings<WebhookDelivery>> {
    return this.writes.write(request, reply, (command) => this.webhooks.deliveries.retry({ ...command, delivery_id }));
  }

  @Post(':id/discard')
  @HttpCode(200)
  @Operation('discardWebhookDelivery', { summary: 'Send it no more' })
  @ApiResponse({ status: 200, description: 'The delivery.', type: DeliveryWrittenResource })
  @Unknown()
  @refusal(409, 'It succeeded already.')
  async discard(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('id') delivery_id: string,
  ): Promise<WithWarnings<WebhookDelivery>> {
    return this.writes.write(request, reply, (command) =>
      this.webhooks.deliveries.discard({ ...command, delivery_id }),
    );
  }
}

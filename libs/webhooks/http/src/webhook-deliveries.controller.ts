import { Controller, Get, HttpCode, Inject, Param, Post, Query, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page, WorkspaceScope, Warning } from '@tracking/contracts';
import {
  RecordInAuditLog,
  InjectWorkspaceScope,
  PageCursorCodec,
  formatEtag,
  BODY_IGNORING_PIPE,
  DeclareApiOperation,
  readListPageByTextPosition,
  DeclareErrorResponse,
  InjectRequestBody,
  WriteResponder,
  type WriteResponse,
} from '@tracking/http';
import type { WebhookCommand, WebhookDelivery, DetailedWebhookDelivery } from '@tracking/webhooks';
import type { FastifyReply } from 'fastify';
import {
  DeliveryDetailResource,
  toDeliveryFilter,
  DeliveryPageResource,
  DeliveryWrittenResource,
  ListDeliveriesDto,
} from './delivery.resource.ts';
import { WEBHOOKS_INJECTION_TOKEN, type WebhooksHttpDependencies } from './dependencies.ts';
import { discardDelivery } from './audited-commands.ts';
import { rethrowWithUnknownOutcome, InjectWebhookCommandOfRequest } from './webhook-command.ts';

const DeliveryNotFoundResponse = () =>
  DeclareErrorResponse(404, 'This delivery does not exist in this workspace and environment.');

@ApiTags('Webhook deliveries')
@Controller('v1/webhook_deliveries')
export class WebhookDeliveriesController {
  constructor(
    @Inject(WEBHOOKS_INJECTION_TOKEN) private readonly webhooks: WebhooksHttpDependencies['webhooks'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
    @Inject(PageCursorCodec) private readonly cursors: PageCursorCodec,
  ) {}

  @Get()
  @DeclareApiOperation('listWebhookDeliveries', {
    summary: 'List deliveries, newest first',
    query: ListDeliveriesDto,
  })
  @ApiResponse({ status: 200, description: 'A page of deliveries.', type: DeliveryPageResource })
  async listDeliveries(
    @Query() query: ListDeliveriesDto,
    @InjectWorkspaceScope() scope: WorkspaceScope,
  ): Promise<Page<WebhookDelivery>> {
    const filter = toDeliveryFilter(query);
    const listing = { list: 'webhook deliveries', scope, filter: { ...filter }, sort: '-created_at' };
    return readListPageByTextPosition(query, listing, this.cursors, (asked) =>
      this.webhooks.deliveries.list({ scopes: [scope], filter, ...asked }),
    );
  }

  @Get(':id')
  @DeclareApiOperation('getWebhookDelivery', { summary: 'Get a delivery with every attempt', conditional: 'read' })
  @ApiResponse({ status: 200, description: 'The delivery.', type: DeliveryDetailResource })
  @DeliveryNotFoundResponse()
  async getDelivery(
    @Param('id') delivery_id: string,
    @InjectWorkspaceScope() scope: WorkspaceScope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DetailedWebhookDelivery> {
    const delivery = await this.webhooks.deliveries.get({ scopes: [scope], delivery_id });
    reply.header('ETag', formatEtag(delivery.version));
    return delivery;
  }

  @Post(':id/retry')
  @HttpCode(202)
  @DeclareApiOperation('retryWebhookDelivery', {
    summary: 'Request an extra attempt outside the schedule',
    conditional: 'write',
  })
  @ApiResponse({
    status: 202,
    description: 'The delivery, as it was before the attempt. Get the delivery again for the outcome.',
    type: DeliveryWrittenResource,
  })
  @DeliveryNotFoundResponse()
  @DeclareErrorResponse(409, 'The endpoint is not enabled.')
  async retryDelivery(
    @Param('id') delivery_id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectWebhookCommandOfRequest() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<WebhookDelivery>> {
    const body = await this.webhooks.deliveries.retry({ ...command, delivery_id }).catch(rethrowWithUnknownOutcome);
    return this.responder.respondToWrite(reply, ignored, { body, version: body.version });
  }

  @Post(':id/discard')
  @HttpCode(200)
  @DeclareApiOperation('discardWebhookDelivery', { summary: 'Discard a delivery', conditional: 'write' })
  @ApiResponse({ status: 200, description: 'The delivery.', type: DeliveryWrittenResource })
  @DeliveryNotFoundResponse()
  @DeclareErrorResponse(409, 'The delivery already succeeded.')
  @RecordInAuditLog('webhook_delivery.discarded')
  async discardDelivery(
    @Param('id') delivery_id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectWebhookCommandOfRequest() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<WebhookDelivery>> {
    const body = await discardDelivery(reply.request, this.webhooks.deliveries, { ...command, delivery_id });
    return this.responder.respondToWrite(reply, ignored, { body, version: body.version });
  }
}

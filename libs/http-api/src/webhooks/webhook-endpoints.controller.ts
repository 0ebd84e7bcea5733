import { Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page } from '@tracking/contracts';
import type { EndpointCommand, NewWebhookEndpoint, WebhookDelivery, WebhookEndpoint } from '@tracking/webhooks';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DEPENDENCIES } from '../dependencies.ts';
import type { HttpApiDependencies } from '../dependencies.ts';
import { Requires, TakesJson, refusal } from '../docs/requires.ts';
import { Cursors } from '../paging/cursors.ts';
import { PageDto } from '../paging/page.dto.ts';
import { page } from '../paging/page.ts';
import { scopeOf } from '../server/request.ts';
import { readBody } from '../validation/read-body.ts';
import { readQuery } from '../validation/read-query.ts';
import { DeliveryResource } from './delivery.resource.ts';
import { EndpointChangesDto, EndpointDto, TestEndpointDto, readEndpointFields } from './endpoint.dto.ts';
import {
  EndpointCreatedResource,
  EndpointDeletedResource,
  EndpointPageResource,
  EndpointResource,
} from './endpoint.resource.ts';
import { WEBHOOKS, webhookCommand } from './webhooks.ts';
import type { WebhooksService } from './webhooks.ts';

const Unknown = () => refusal(404, 'No such endpoint in this workspace and environment.');
const Unverified = () => refusal(409, 'The endpoint is not verified.');

@ApiTags('Webhook endpoints')
@Controller('v1/webhook_endpoints')
export class WebhookEndpointsController {
  constructor(
    @Inject(DEPENDENCIES) private readonly dependencies: HttpApiDependencies,
    @Inject(WEBHOOKS) private readonly webhooks: WebhooksService,
    @Inject(Cursors) private readonly cursors: Cursors,
  ) {}

  @Post()
  @Requires('webhooks:manage')
  @ApiOperation({ summary: 'Make an endpoint; nothing is sent to it yet', operationId: 'createWebhookEndpoint' })
  @TakesJson(EndpointDto)
  @ApiResponse({ status: 201, description: 'Made; the secret is shown here only.', type: EndpointCreatedResource })
  async create(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NewWebhookEndpoint> {
    const fields = readEndpointFields(request);
    const { clock, settings } = this.dependencies;
    const created = await this.webhooks.endpoints.create({ ...webhookCommand(request, clock), fields });
    reply.header('Location', `${settings.baseUrl}/v1/webhook_endpoints/${created.id}`);
    return created;
  }

  @Get()
  @Requires('webhooks:manage')
  @ApiOperation({ summary: 'List endpoints, the oldest first', operationId: 'listWebhookEndpoints' })
  @ApiQuery({ type: PageDto })
  @ApiResponse({ status: 200, description: 'A page of endpoints.', type: EndpointPageResource })
  @refusal(400, 'A parameter is not valid.')
  async list(@Req() request: FastifyRequest): Promise<Page<WebhookEndpoint>> {
    const scope = scopeOf(request);
    return page(
      readQuery(PageDto, request),
      { list: 'webhook endpoints', scope, filter: {}, sort: 'created_at' },
      this.cursors,
      (limit, after) => this.webhooks.endpoints.list({ ...scope, limit, ...(after && { after: after.map(String) }) }),
      (endpoint) => endpoint,
    );
  }

  @Get(':id')
  @Requires('webhooks:manage')
  @ApiOperation({ summary: 'Get an endpoint', operationId: 'getWebhookEndpoint' })
  @ApiResponse({ status: 200, description: 'The endpoint.', type: EndpointResource })
  @Unknown()
  async get(@Req() request: FastifyRequest, @Param('id') endpoint_id: string): Promise<WebhookEndpoint> {
    return this.webhooks.endpoints.get({ ...scopeOf(request), endpoint_id });
  }

  @Patch(':id')
  @Requires('webhooks:manage')
  @ApiOperation({ summary: 'Change an endpoint; another URL is to be verified', operationId: 'changeWebhookEndpoint' })
  @TakesJson(EndpointChangesDto)
  @ApiResponse({ status: 200, description: 'The endpoint.', type: EndpointResource })
  @Unknown()
  async change(@Req() request: FastifyRequest, @Param('id') id: string): Promise<WebhookEndpoint> {
    const fields = readEndpointFields(request);
    return this.webhooks.endpoints.change({ ...this.command(request, id), fields });
  }

  @Delete(':id')
  @Requires('webhooks:manage')
  @ApiOperation({
    summary: 'Delete an endpoint: what is pending is discarded, its log stays',
    operationId: 'deleteWebhookEndpoint',
  })
  @ApiResponse({ status: 200, description: 'Deleted.', type: EndpointDeletedResource })
  @Unknown()
  async remove(@Req() request: FastifyRequest, @Param('id') id: string): Promise<EndpointDeletedResource> {
    return this.webhooks.endpoints.remove(this.command(request, id));
  }

  @Post(':id/verify')
  @HttpCode(200)
  @Requires('webhooks:manage')
  @ApiOperation({ summary: 'Send the challenge', operationId: 'verifyWebhookEndpoint' })
  @ApiResponse({
    status: 200,
    description: 'The endpoint; `last_verification` tells the outcome.',
    type: EndpointResource,
  })
  @Unknown()
  async verify(@Req() request: FastifyRequest, @Param('id') id: string): Promise<WebhookEndpoint> {
    return this.webhooks.endpoints.verify(this.command(request, id));
  }

  @Post(':id/enable')
  @HttpCode(200)
  @Requires('webhooks:manage')
  @ApiOperation({ summary: 'Send live events to it, and what waits for it', operationId: 'enableWebhookEndpoint' })
  @ApiResponse({ status: 200, description: 'The endpoint.', type: EndpointResource })
  @Unknown()
  @Unverified()
  async enable(@Req() request: FastifyRequest, @Param('id') id: string): Promise<WebhookEndpoint> {
    return this.webhooks.endpoints.enable(this.command(request, id));
  }

  @Post(':id/disable')
  @HttpCode(200)
  @Requires('webhooks:manage')
  @ApiOperation({ summary: 'Send it no live events; what is pending is held', operationId: 'disableWebhookEndpoint' })
  @ApiResponse({ status: 200, description: 'The endpoint.', type: EndpointResource })
  @Unknown()
  async disable(@Req() request: FastifyRequest, @Param('id') id: string): Promise<WebhookEndpoint> {
    return this.webhooks.endpoints.disable(this.command(request, id));
  }

  @Post(':id/test')
  @HttpCode(202)
  @Requires('webhooks:manage')
  @ApiOperation({
    summary: 'Send it a sandbox event: one attempt, subscribed or not',
    operationId: 'testWebhookEndpoint',
  })
  @TakesJson(TestEndpointDto)
  @ApiResponse({ status: 202, description: 'The delivery; get it for its outcome.', type: DeliveryResource })
  @Unknown()
  @Unverified()
  async test(@Req() request: FastifyRequest, @Param('id') id: string): Promise<WebhookDelivery> {
    const { type } = readBody(TestEndpointDto, request);
    return this.webhooks.endpoints.test({ ...this.command(request, id), type });
  }

  private command(request: FastifyRequest, endpoint_id: string): EndpointCommand {
    return { ...webhookCommand(request, this.dependencies.clock), endpoint_id };
  }
}

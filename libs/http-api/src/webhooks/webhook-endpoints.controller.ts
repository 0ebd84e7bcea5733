import { Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page } from '@tracking/contracts';
import type { NewWebhookEndpoint, WebhookCommand, WebhookDelivery, WebhookEndpoint } from '@tracking/webhooks';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DEPENDENCIES } from '../dependencies.ts';
import type { HttpApiDependencies } from '../dependencies.ts';
import { Requires, TakesJson, refusal } from '../docs/requires.ts';
import { Cursors } from '../paging/cursors.ts';
import { PageDto } from '../paging/page.dto.ts';
import { page } from '../paging/page.ts';
import { scopeOf } from '../server/request.ts';
import { readBody } from '../validation/read-body.ts';
import { parametersOf } from '../validation/parameters.ts';
import { DeliveryWrittenResource } from './delivery.resource.ts';
import { EndpointChangesDto, EndpointDto, TestEndpointDto, readEndpointFields } from './endpoint.dto.ts';
import {
  EndpointCreatedResource,
  EndpointDeletedResource,
  EndpointPageResource,
  EndpointResource,
  EndpointWrittenResource,
} from './endpoint.resource.ts';
import { WEBHOOKS, WebhookWrites } from './webhooks.ts';
import type { WebhooksService, WithWarnings } from './webhooks.ts';

const Unknown = () => refusal(404, 'No such endpoint in this workspace and environment.');
const Unverified = () => refusal(409, 'The endpoint is not verified.');

@ApiTags('Webhook endpoints')
@Controller('v1/webhook_endpoints')
export class WebhookEndpointsController {
  constructor(
    @Inject(DEPENDENCIES) private readonly dependencies: HttpApiDependencies,
    @Inject(WEBHOOKS) private readonly webhooks: WebhooksService,
    @Inject(WebhookWrites) private readonly writes: WebhookWrites,
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
  ): Promise<WithWarnings<NewWebhookEndpoint>> {
    const { value: fields, warnings } = readEndpointFields(request);
    const create = (command: WebhookCommand) => this.webhooks.endpoints.create({ ...command, fields });
    const created = await this.writes.write(request, reply, create, warnings);
    reply.header('Location', `${this.dependencies.settings.baseUrl}/v1/webhook_endpoints/${created.id}`);
    return created;
  }

  @Get()
  @Requires('webhooks:manage', PageDto)
  @ApiOperation({ summary: 'List endpoints, the oldest first', operationId: 'listWebhookEndpoints' })
  @ApiResponse({ status: 200, description: 'A page of endpoints.', type: EndpointPageResource })
  async list(@Req() request: FastifyRequest): Promise<Page<WebhookEndpoint>> {
    const scope = scopeOf(request);
    return page(
      parametersOf(PageDto, request),
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
  @ApiResponse({ status: 200, description: 'The endpoint.', type: EndpointWrittenResource })
  @Unknown()
  async change(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('id') endpoint_id: string,
  ): Promise<WithWarnings<WebhookEndpoint>> {
    const { value: fields, warnings } = readEndpointFields(request);
    const change = (command: WebhookCommand) => this.webhooks.endpoints.change({ ...command, endpoint_id, fields });
    return this.writes.write(request, reply, change, warnings);
  }

  @Delete(':id')
  @Requires('webhooks:manage')
  @ApiOperation({
    summary: 'Delete an endpoint: what is pending is discarded, its log stays',
    operationId: 'deleteWebhookEndpoint',
  })
  @ApiResponse({ status: 200, description: 'Deleted.', type: EndpointDeletedResource })
  @Unknown()
  async remove(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('id') endpoint_id: string,
  ): Promise<WithWarnings<{ readonly id: string; readonly deleted: true }>> {
    return this.writes.write(request, reply, (command) => this.webhooks.endpoints.remove({ ...command, endpoint_id }));
  }

  @Post(':id/verify')
  @HttpCode(200)
  @Requires('webhooks:manage')
  @ApiOperation({ summary: 'Send the challenge', operationId: 'verifyWebhookEndpoint' })
  @ApiResponse({
    status: 200,
    description: 'The endpoint; `last_verification` tells the outcome.',
    type: EndpointWrittenResource,
  })
  @Unknown()
  async verify(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('id') endpoint_id: string,
  ): Promise<WithWarnings<WebhookEndpoint>> {
    return this.writes.write(request, reply, (command) => this.webhooks.endpoints.verify({ ...command, endpoint_id }));
  }

  @Post(':id/enable')
  @HttpCode(200)
  @Requires('webhooks:manage')
  @ApiOperation({ summary: 'Send live events to it, and what waits for it', operationId: 'enableWebhookEndpoint' })
  @ApiResponse({ status: 200, description: 'The endpoint.', type: EndpointWrittenResource })
  @Unknown()
  @Unverified()
  async enable(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('id') endpoint_id: string,
  ): Promise<WithWarnings<WebhookEndpoint>> {
    const enable = (command: WebhookCommand) => this.webhooks.endpoints.enable({ ...command, endpoint_id });
    return this.writes.writeInOrder(request, reply, enable);
  }

  @Post(':id/disable')
  @HttpCode(200)
  @Requires('webhooks:manage')
  @ApiOperation({ summary: 'Send it no live events; what is pending is held', operationId: 'disableWebhookEndpoint' })
  @ApiResponse({ status: 200, description: 'The endpoint.', type: EndpointWrittenResource })
  @Unknown()
  async disable(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('id') endpoint_id: string,
  ): Promise<WithWarnings<WebhookEndpoint>> {
    const disable = (command: WebhookCommand) => this.webhooks.endpoints.disable({ ...command, endpoint_id });
    return this.writes.writeInOrder(request, reply, disable);
  }

  @Post(':id/test')
  @HttpCode(202)
  @Requires('webhooks:manage')
  @ApiOperation({
    summary: 'Send it a sandbox event: one attempt, subscribed or not',
    operationId: 'testWebhookEndpoint',
  })
  @TakesJson(TestEndpointDto)
  @ApiResponse({ status: 202, description: 'The delivery; get it for its outcome.', type: DeliveryWrittenResource })
  @Unknown()
  @Unverified()
  async test(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('id') endpoint_id: string,
  ): Promise<WithWarnings<WebhookDelivery>> {
    const { value, warnings } = readBody(TestEndpointDto, DeliveryWrittenResource, request);
    const test = (command: WebhookCommand) =>
      this.webhooks.endpoints.test({ ...command, endpoint_id, type: value.type });
    return this.writes.write(request, reply, test, warnings);
  }
}

import { Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Req, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page } from '@tracking/contracts';
import type { NewWebhookEndpoint, WebhookCommand, WebhookDelivery, WebhookEndpoint } from '@tracking/webhooks';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DEPENDENCIES } from '../dependencies.ts';
import type { HttpApiDependencies } from '../dependencies.ts';
import { Operation, refusal } from '../operations/operation.ts';
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
  @Operation('createWebhookEndpoint', { summary: 'Make an endpoint; nothing is sent to it yet', body: EndpointDto })
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
  @Operation('listWebhookEndpoints', { summary: 'List endpoints, the oldest first', query: PageDto })
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
  @Operation('getWebhookEndpoint', { summary: 'Get an endpoint' })
  @ApiResponse({ status: 200, description: 'The endpoint.', type: EndpointResource })
  @Unknown()
  async get(@Req() request: FastifyRequest, @Param('id') endpoint_id: string): Promise<WebhookEndpoint> {
    return this.webhooks.endpoints.get({ ...scopeOf(request), endpoint_id });
  }

  @Patch(':id')
  @Operation('changeWebhookEndpoint', {
    summary: 'Change an endpoint; another URL is to be verified',
    body: EndpointChangesDto,
  })
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
  @Operation('deleteWebhookEndpoint', {
    summary: 'Delete an endpoint: what is pending is discarded, its log stays',
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
  @Operation('verifyWebhookEndpoint', { summary: 'Send the challenge' })
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
  @Operation('enableWebhookEndpoint', { summary: 'Send live events to it, and what waits for it' })
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
  @Operation('disableWebhookEndpoint', { summary: 'Send it no live events; what is pending is held' })
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
  @Operation('testWebhookEndpoint', {
    summary: 'Send it a sandbox event: one attempt, subscribed or not',
    body: TestEndpointDto,
  })
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

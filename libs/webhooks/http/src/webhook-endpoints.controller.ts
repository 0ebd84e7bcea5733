import { Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { JsonObject, Page, Scope, Warning } from '@tracking/contracts';
import {
  Audited,
  BodyPipe,
  CurrentScope,
  Cursors,
  NO_BODY,
  Operation,
  PageDto,
  SETTINGS,
  SentBody,
  etagOf,
  recordPage,
  refusal,
  scopeOf,
  tellAudit,
} from '@tracking/http';
import type { ReadBody } from '@tracking/http';
import type { NewWebhookEndpoint, WebhookDelivery, WebhookEndpoint, WebhookStats } from '@tracking/webhooks';
import type { FastifyReply } from 'fastify';
import { DeliveryWrittenResource } from './delivery.resource.ts';
import type { WebhooksHttpDependencies } from './dependencies.ts';
import { EndpointStatsDto, EndpointStatsResource, statsPeriod } from './endpoint-stats.resource.ts';
import {
  ENDPOINT_FIELDS,
  EndpointChangesDto,
  EndpointCreatedResource,
  EndpointDeletedResource,
  EndpointDto,
  EndpointPageResource,
  EndpointResource,
  EndpointWrittenResource,
  TestEndpointDto,
} from './endpoint.resource.ts';
import { WebhookWrites } from './webhook-writes.ts';
import type { WithWarnings } from './webhook-writes.ts';
import { WEBHOOKS } from './dependencies.ts';

const Unknown = () => refusal(404, 'No such endpoint in this workspace and environment.');
const Unverified = () => refusal(409, 'The endpoint is not verified.');

@ApiTags('Webhook endpoints')
@Controller('v1/webhook_endpoints')
export class WebhookEndpointsController {
  constructor(
    @Inject(WEBHOOKS) private readonly webhooks: WebhooksHttpDependencies['webhooks'],
    @Inject(WebhookWrites) private readonly writes: WebhookWrites,
    @Inject(Cursors) private readonly cursors: Cursors,
    @Inject(SETTINGS) private readonly settings: WebhooksHttpDependencies['settings'],
  ) {}

  @Post()
  @Operation('createWebhookEndpoint', { summary: 'Make an endpoint; nothing is sent to it yet', body: EndpointDto })
  @ApiResponse({ status: 201, description: 'Made; the secret is shown here only.', type: EndpointCreatedResource })
  @Audited('webhook_endpoint.created')
  async create(
    @SentBody(ENDPOINT_FIELDS) { value: fields, warnings }: ReadBody<JsonObject>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WithWarnings<NewWebhookEndpoint>> {
    const created = await this.writes.write(reply, warnings, (command) =>
      this.webhooks.endpoints.create({ ...command, fields }),
    );
    tellAudit(reply.request, { before: null, after: created });
    reply.header('Location', `${this.settings.baseUrl}/v1/webhook_endpoints/${created.id}`);
    return created;
  }

  @Get()
  @Operation('listWebhookEndpoints', { summary: 'List endpoints, the oldest first', query: PageDto })
  @ApiResponse({ status: 200, description: 'A page of endpoints.', type: EndpointPageResource })
  async list(@Query() query: PageDto, @CurrentScope() scope: Scope): Promise<Page<WebhookEndpoint>> {
    const listing = { list: 'webhook endpoints', scope, filter: {}, sort: 'created_at' };
    return recordPage(query, listing, this.cursors, (asked) => this.webhooks.endpoints.list({ ...scope, ...asked }));
  }

  @Get(':id')
  @Operation('getWebhookEndpoint', { summary: 'Get an endpoint', conditional: 'read' })
  @ApiResponse({ status: 200, description: 'The endpoint.', type: EndpointResource })
  @Unknown()
  async get(
    @Param('id') endpoint_id: string,
    @CurrentScope() scope: Scope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WebhookEndpoint> {
    const endpoint = await this.webhooks.endpoints.get({ ...scope, endpoint_id });
    reply.header('ETag', etagOf(endpoint.version));
    return endpoint;
  }

  @Get(':id/stats')
  @Operation('getWebhookEndpointStats', {
    summary: 'What became of what was sent to it, hour by hour',
    query: EndpointStatsDto,
  })
  @ApiResponse({ status: 200, description: 'Its statistics.', type: EndpointStatsResource })
  @Unknown()
  stats(
    @Param('id') endpoint_id: string,
    @Query() query: EndpointStatsDto,
    @CurrentScope() scope: Scope,
  ): Promise<WebhookStats> {
    return this.webhooks.stats.get({ ...scope, endpoint_id, ...statsPeriod(query) });
  }

  @Patch(':id')
  @Operation('changeWebhookEndpoint', {
    summary: 'Change an endpoint; another URL is to be verified',
    body: EndpointChangesDto,
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The endpoint.', type: EndpointWrittenResource })
  @Unknown()
  @Audited('webhook_endpoint.changed')
  async change(
    @Param('id') endpoint_id: string,
    @SentBody(ENDPOINT_FIELDS) { value: fields, warnings }: ReadBody<JsonObject>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WithWarnings<WebhookEndpoint>> {
    return this.writes.write(reply, warnings, (command) =>
      this.audited(reply, endpoint_id, () => this.webhooks.endpoints.change({ ...command, endpoint_id, fields })),
    );
  }

  @Delete(':id')
  @Operation('deleteWebhookEndpoint', {
    summary: 'Delete an endpoint: what is pending is discarded, its log stays',
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'Deleted.', type: EndpointDeletedResource })
  @Unknown()
  @Audited('webhook_endpoint.deleted')
  async remove(
    @Param('id') endpoint_id: string,
    @SentBody(NO_BODY) ignored: readonly Warning[],
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WithWarnings<{ readonly id: string; readonly deleted: true }>> {
    return this.writes.write(reply, ignored, (command) =>
      this.audited(reply, endpoint_id, () => this.webhooks.endpoints.remove({ ...command, endpoint_id })),
    );
  }

  @Post(':id/verify')
  @HttpCode(200)
  @Operation('verifyWebhookEndpoint', { summary: 'Send the challenge', conditional: 'write' })
  @ApiResponse({
    status: 200,
    description: 'The endpoint; `last_verification` tells the outcome.',
    type: EndpointWrittenResource,
  })
  @Unknown()
  @Audited('webhook_endpoint.verified')
  async verify(
    @Param('id') endpoint_id: string,
    @SentBody(NO_BODY) ignored: readonly Warning[],
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WithWarnings<WebhookEndpoint>> {
    return this.writes.write(reply, ignored, async (command) => {
      const before = await this.webhooks.endpoints.get({ ...scopeOf(reply.request), endpoint_id });
      const after = await this.webhooks.endpoints.verify({ ...command, endpoint_id });
      // A challenge that changes nothing else is told by `last_verification` alone.
      tellAudit(reply.request, { before: { status: before.status }, after: { status: after.status } }, endpoint_id);
      return after;
    });
  }

  @Post(':id/enable')
  @HttpCode(200)
  @Operation('enableWebhookEndpoint', {
    summary: 'Send live events to it, and what waits for it',
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The endpoint.', type: EndpointWrittenResource })
  @Unknown()
  @Unverified()
  @Audited('webhook_endpoint.enabled')
  async enable(
    @Param('id') endpoint_id: string,
    @SentBody(NO_BODY) ignored: readonly Warning[],
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WithWarnings<WebhookEndpoint>> {
    return this.writes.writeInOrder(reply, ignored, (command) =>
      this.audited(reply, endpoint_id, () => this.webhooks.endpoints.enable({ ...command, endpoint_id })),
    );
  }

  @Post(':id/disable')
  @HttpCode(200)
  @Operation('disableWebhookEndpoint', {
    summary: 'Send it no live events; what is pending is held',
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The endpoint.', type: EndpointWrittenResource })
  @Unknown()
  @Audited('webhook_endpoint.disabled')
  async disable(
    @Param('id') endpoint_id: string,
    @SentBody(NO_BODY) ignored: readonly Warning[],
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WithWarnings<WebhookEndpoint>> {
    return this.writes.writeInOrder(reply, ignored, (command) =>
      this.audited(reply, endpoint_id, () => this.webhooks.endpoints.disable({ ...command, endpoint_id })),
    );
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
    @Param('id') endpoint_id: string,
    @SentBody(new BodyPipe(TestEndpointDto, DeliveryWrittenResource)) { value, warnings }: ReadBody<TestEndpointDto>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WithWarnings<WebhookDelivery>> {
    return this.writes.write(reply, warnings, (command) =>
      this.webhooks.endpoints.test({ ...command, endpoint_id, type: value.type }),
    );
  }

  /** What the endpoint was is read before: another's change in between would be told with this one. */
  private async audited<T extends object>(
    { request }: FastifyReply,
    endpoint_id: string,
    change: () => Promise<T>,
  ): Promise<T> {
    const before = await this.webhooks.endpoints.get({ ...scopeOf(request), endpoint_id });
    const after = await change();
    tellAudit(request, { before, after: 'deleted' in after ? null : after });
    return after;
  }
}

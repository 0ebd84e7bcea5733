import { Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { JsonObject, Page, WorkspaceScope, Warning } from '@tracking/contracts';
import {
  RecordInAuditLog,
  InjectWorkspaceScope,
  PageCursorCodec,
  formatEtag,
  BODY_IGNORING_PIPE,
  DeclareApiOperation,
  PageDto,
  readListPageByTextPosition,
  DeclareErrorResponse,
  getRequestScope,
  InjectRequestBody,
  reportChangeForAudit,
  WriteResponder,
} from '@tracking/http';
import type { RequestBodyWithWarnings, WriteResponse } from '@tracking/http';
import type {
  CreatedEndpointWithSecret,
  ActiveSigningSecrets,
  WebhookCommand,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookStats,
} from '@tracking/webhooks';
import type { FastifyReply } from 'fastify';
import { DeliveryWrittenResource, TEST_ENDPOINT_BODY_PIPE } from './delivery.resource.ts';
import { LOG_HEAD_INJECTION_TOKEN, WEBHOOKS_INJECTION_TOKEN, type WebhooksHttpDependencies } from './dependencies.ts';
import { GetEndpointStatsDto, EndpointStatsResource, toStatsPeriod } from './endpoint-stats.resource.ts';
import {
  ENDPOINT_BODY_PIPE,
  EndpointChangesDto,
  EndpointCreatedResource,
  EndpointDeletedResource,
  EndpointDto,
  EndpointPageResource,
  EndpointResource,
  EndpointSecretsResource,
  EndpointWrittenResource,
  RotateSecretDto,
  SECRET_ROTATION_BODY_PIPE,
  TestEndpointDto,
} from './endpoint.resource.ts';
import { listWarningsOfDroppedEndpointHeaders, changeEndpointAndAudit } from './reported-change.ts';
import { VerificationThrottle } from './verification-throttle.ts';
import { rethrowWithUnknownOutcome, InjectWebhookCommandOfRequest } from './webhook-command.ts';

const DeclareEndpointNotFoundResponse = () =>
  DeclareErrorResponse(404, 'This endpoint does not exist in this workspace and environment.');
const DeclareUnverifiedEndpointResponse = () => DeclareErrorResponse(409, 'The endpoint is not verified.');

@ApiTags('Webhook endpoints')
@Controller('v1/webhook_endpoints')
export class WebhookEndpointsController {
  @Inject(VerificationThrottle) private readonly throttle!: VerificationThrottle;
  @Inject(WEBHOOKS_INJECTION_TOKEN) private readonly webhooks!: WebhooksHttpDependencies['webhooks'];
  @Inject(WriteResponder) private readonly responder!: WriteResponder;
  @Inject(PageCursorCodec) private readonly cursors!: PageCursorCodec;
  @Inject(LOG_HEAD_INJECTION_TOKEN) private readonly head!: WebhooksHttpDependencies['head'];

  @Post()
  @DeclareApiOperation('createWebhookEndpoint', {
    summary: 'Create an endpoint, without sending anything to it',
    body: EndpointDto,
  })
  @ApiResponse({
    status: 201,
    description: 'The created endpoint. Only this response contains the secret.',
    type: EndpointCreatedResource,
  })
  @RecordInAuditLog('webhook_endpoint.created')
  async createEndpoint(
    @InjectRequestBody(ENDPOINT_BODY_PIPE) { value: fields, warnings }: RequestBodyWithWarnings<JsonObject>,
    @InjectWebhookCommandOfRequest() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<CreatedEndpointWithSecret>> {
    const after = await this.webhooks.endpoints.create({ ...command, fields });
    const location = `/v1/webhook_endpoints/${after.id}`;
    const dropped = listWarningsOfDroppedEndpointHeaders(null, fields, after);
    return this.responder.auditChangeAndRespond(reply, [...warnings, ...dropped], { before: null, after }, location);
  }

  @Get()
  @DeclareApiOperation('listWebhookEndpoints', { summary: 'List endpoints, newest first', query: PageDto })
  @ApiResponse({ status: 200, description: 'A page of endpoints.', type: EndpointPageResource })
  async listEndpoints(
    @Query() query: PageDto,
    @InjectWorkspaceScope() scope: WorkspaceScope,
  ): Promise<Page<WebhookEndpoint>> {
    const listing = { list: 'webhook endpoints', scope, filter: {}, sort: '-created_at' };
    const { endpoints } = this.webhooks;
    return readListPageByTextPosition(query, listing, this.cursors, (asked) => endpoints.list({ ...scope, ...asked }));
  }

  @Get(':id')
  @DeclareApiOperation('getWebhookEndpoint', { summary: 'Get an endpoint', conditional: 'read' })
  @ApiResponse({ status: 200, description: 'The endpoint.', type: EndpointResource })
  @DeclareEndpointNotFoundResponse()
  async getEndpoint(
    @Param('id') endpoint_id: string,
    @InjectWorkspaceScope() scope: WorkspaceScope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WebhookEndpoint> {
    const endpoint = await this.webhooks.endpoints.get({ ...scope, endpoint_id });
    reply.header('ETag', formatEtag(endpoint.version));
    return endpoint;
  }

  @Get(':id/stats')
  @DeclareApiOperation('getWebhookEndpointStats', {
    summary: 'Get hourly delivery statistics',
    query: GetEndpointStatsDto,
  })
  @ApiResponse({ status: 200, description: 'Statistics of the endpoint.', type: EndpointStatsResource })
  @DeclareEndpointNotFoundResponse()
  getEndpointStatistics(
    @Param('id') endpoint_id: string,
    @Query() query: GetEndpointStatsDto,
    @InjectWorkspaceScope() scope: WorkspaceScope,
  ): Promise<WebhookStats> {
    return this.webhooks.stats.get({ ...scope, endpoint_id, ...toStatsPeriod(query) });
  }

  @Patch(':id')
  @DeclareApiOperation('changeWebhookEndpoint', {
    summary: 'Change an endpoint; a new URL has to be verified',
    body: EndpointChangesDto,
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The endpoint.', type: EndpointWrittenResource })
  @DeclareEndpointNotFoundResponse()
  @RecordInAuditLog('webhook_endpoint.changed')
  async changeEndpoint(
    @Param('id') endpoint_id: string,
    @InjectRequestBody(ENDPOINT_BODY_PIPE) { value: fields, warnings }: RequestBodyWithWarnings<JsonObject>,
    @InjectWebhookCommandOfRequest() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<WebhookEndpoint>> {
    const change = () => this.webhooks.endpoints.change({ ...command, endpoint_id, fields });
    const { before, after: body } = await changeEndpointAndAudit(this.webhooks.endpoints, reply, endpoint_id, change);
    const dropped = listWarningsOfDroppedEndpointHeaders(before, fields, body);
    return this.responder.respondToWrite(reply, [...warnings, ...dropped], { body, version: body.version });
  }

  @Delete(':id')
  @DeclareApiOperation('deleteWebhookEndpoint', {
    summary: 'Delete an endpoint and discard its pending deliveries',
    conditional: 'write',
    hasEtag: false,
  })
  @ApiResponse({ status: 200, description: 'Deleted.', type: EndpointDeletedResource })
  @DeclareEndpointNotFoundResponse()
  @RecordInAuditLog('webhook_endpoint.deleted')
  async deleteEndpoint(
    @Param('id') endpoint_id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectWebhookCommandOfRequest() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<{ readonly id: string; readonly deleted: true }>> {
    const remove = () => this.webhooks.endpoints.remove({ ...command, endpoint_id });
    const { after: body } = await changeEndpointAndAudit(this.webhooks.endpoints, reply, endpoint_id, remove);
    return this.responder.respondToWrite(reply, ignored, { body });
  }

  @Post(':id/verify')
  @HttpCode(200)
  @DeclareApiOperation('verifyWebhookEndpoint', {
    summary: 'Verify an endpoint by sending a challenge',
    conditional: 'write',
  })
  @ApiResponse({
    status: 200,
    description: 'The endpoint. `last_verification` contains the result.',
    type: EndpointWrittenResource,
  })
  @DeclareEndpointNotFoundResponse()
  @DeclareErrorResponse(429, 'The rate limit, or a limit of challenges, is exceeded; see Retry-After.')
  @RecordInAuditLog('webhook_endpoint.verified')
  async verifyEndpoint(
    @Param('id') endpoint_id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectWebhookCommandOfRequest() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<WebhookEndpoint>> {
    const scope = getRequestScope(reply.request);
    const before = await this.webhooks.endpoints.get({ ...scope, endpoint_id });
    await this.throttle.countChallengeAgainstLimits(scope.workspace_id, before);
    const body = await this.webhooks.endpoints.verify({ ...command, endpoint_id });
    // A challenge that changes no status is visible only in `last_verification`.
    const change = { before: { status: before.status }, after: { status: body.status } };
    reportChangeForAudit(reply.request, change, endpoint_id);
    return this.responder.respondToWrite(reply, ignored, { body, version: body.version });
  }

  @Post(':id/enable')
  @HttpCode(200)
  @DeclareApiOperation('enableWebhookEndpoint', {
    summary: 'Enable an endpoint: send live events and pending deliveries',
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The endpoint.', type: EndpointWrittenResource })
  @DeclareEndpointNotFoundResponse()
  @DeclareUnverifiedEndpointResponse()
  @RecordInAuditLog('webhook_endpoint.enabled')
  async enableEndpoint(
    @Param('id') endpoint_id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectWebhookCommandOfRequest() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<WebhookEndpoint>> {
    const enable = () => this.webhooks.endpoints.enable({ ...command, endpoint_id });
    const { after: body } = await changeEndpointAndAudit(this.webhooks.endpoints, reply, endpoint_id, enable);
    const position = await this.readLogHead();
    return this.responder.respondToWrite(reply, ignored, { body, version: body.version, position });
  }

  @Post(':id/disable')
  @HttpCode(200)
  @DeclareApiOperation('disableWebhookEndpoint', {
    summary: 'Disable an endpoint and hold its pending deliveries',
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The endpoint.', type: EndpointWrittenResource })
  @DeclareEndpointNotFoundResponse()
  @RecordInAuditLog('webhook_endpoint.disabled')
  async disableEndpoint(
    @Param('id') endpoint_id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectWebhookCommandOfRequest() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<WebhookEndpoint>> {
    const disable = () => this.webhooks.endpoints.disable({ ...command, endpoint_id });
    const { after: body } = await changeEndpointAndAudit(this.webhooks.endpoints, reply, endpoint_id, disable);
    const position = await this.readLogHead();
    return this.responder.respondToWrite(reply, ignored, { body, version: body.version, position });
  }

  @Post(':id/test')
  @HttpCode(202)
  @DeclareApiOperation('testWebhookEndpoint', {
    summary: 'Send a sandbox event to an endpoint, with one attempt',
    body: TestEndpointDto,
  })
  @ApiResponse({
    status: 202,
    description: 'The delivery. Get the delivery again for the outcome.',
    type: DeliveryWrittenResource,
  })
  @DeclareEndpointNotFoundResponse()
  @DeclareUnverifiedEndpointResponse()
  async sendTestEvent(
    @Param('id') endpoint_id: string,
    @InjectRequestBody(TEST_ENDPOINT_BODY_PIPE) { value, warnings }: RequestBodyWithWarnings<TestEndpointDto>,
    @InjectWebhookCommandOfRequest() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<WebhookDelivery>> {
    const test = { ...command, endpoint_id, type: value.type };
    const body = await this.webhooks.endpoints.test(test).catch(rethrowWithUnknownOutcome);
    return this.responder.respondToWrite(reply, warnings, { body, version: body.version });
  }

  // The audit entries of the next two operations have no fields, because they must not contain the secret.

  @Post(':id/rotate_secret')
  @HttpCode(200)
  @DeclareApiOperation('rotateWebhookSecret', {
    summary: 'Rotate the signing secret; the old one stays valid for a while',
    description:
      'Until the old secret expires, every request is signed with both secrets. At most five secrets are valid at a time.',
    body: RotateSecretDto,
    bodyMayBeOmitted: true,
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The endpoint with its new secret.', type: EndpointCreatedResource })
  @DeclareEndpointNotFoundResponse()
  @RecordInAuditLog('webhook_endpoint.secret_rotated')
  async rotateSecret(
    @Param('id') endpoint_id: string,
    @InjectRequestBody(SECRET_ROTATION_BODY_PIPE)
    { value: { expires_in_seconds }, warnings }: RequestBodyWithWarnings<RotateSecretDto>,
    @InjectWebhookCommandOfRequest() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<CreatedEndpointWithSecret>> {
    const overlap = typeof expires_in_seconds === 'number' ? { expires_in_seconds } : {};
    const body = await this.webhooks.endpoints.rotateSecret({ ...command, endpoint_id, ...overlap });
    return this.responder.respondToWrite(reply, warnings, { body, version: body.version });
  }

  @Post(':id/reveal_secret')
  @HttpCode(200)
  @DeclareApiOperation('revealWebhookSecret', {
    summary: 'Get the valid signing secrets',
    description: 'Every call is recorded in the audit log.',
  })
  @ApiResponse({ status: 200, description: 'The valid secrets.', type: EndpointSecretsResource })
  @DeclareEndpointNotFoundResponse()
  @DeclareErrorResponse(409, 'The secrets were stored under a key that is lost.')
  @RecordInAuditLog('webhook_endpoint.secret_revealed')
  async revealSecret(
    @Param('id') endpoint_id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectWebhookCommandOfRequest() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<ActiveSigningSecrets>> {
    const body = await this.webhooks.endpoints.revealSecret({ ...command, endpoint_id });
    return this.responder.respondToWrite(reply, ignored, { body });
  }

  /** Returns the head of the event log, for the consistency token of a change. */
  private readLogHead() {
    // Undefined if the event store is unreachable: no later event can then be stored.
    return this.head().catch(() => undefined);
  }
}

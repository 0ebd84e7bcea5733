import { Controller, Get, HttpCode, Inject, Param, Post, Query, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page, WorkspaceScope, Warning } from '@tracking/contracts';
import {
  RecordInAuditLog,
  InjectWorkspaceScope,
  PageCursorCodec,
  createFieldError,
  BODY_IGNORING_PIPE,
  DeclareApiOperation,
  RequestBodyValidationPipe,
  InjectRequestBody,
  formatEtag,
  readListPageByTextPosition,
  DeclareErrorResponse,
  WriteResponder,
} from '@tracking/http';
import type { RequestBodyWithWarnings, WriteResponse } from '@tracking/http';
import type { WebhookReplay, WebhookCommand } from '@tracking/webhooks';
import type { FastifyReply } from 'fastify';
import type { WebhooksHttpDependencies } from './dependencies.ts';
import {
  ListReplaysDto,
  ReplayFilterDto,
  ReplayPageResource,
  ReplayResource,
  ReplayWrittenResource,
  toReplayFilter,
} from './replay.resource.ts';
import { cancelOrResumeReplay, createReplay } from './audited-commands.ts';
import { InjectWebhookCommandOfRequest } from './webhook-command.ts';
import { WEBHOOKS_INJECTION_TOKEN } from './dependencies.ts';

const REPLAY_FILTER_BODY_PIPE = new RequestBodyValidationPipe(
  ReplayFilterDto,
  ReplayWrittenResource,
  ({ since, until }, at) => {
    const isLater = since != null && since > (until != null && until < at ? until : at);
    return isLater ? createFieldError('since', 'invalid_value', 'Must not be later than `until` or now.') : [];
  },
);
const DeclareReplayNotFoundResponse = () =>
  DeclareErrorResponse(404, 'This replay does not exist in this workspace and environment.');

@ApiTags('Webhook replays')
@Controller('v1')
export class WebhookReplaysController {
  constructor(
    @Inject(WEBHOOKS_INJECTION_TOKEN) private readonly webhooks: WebhooksHttpDependencies['webhooks'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
    @Inject(PageCursorCodec) private readonly cursors: PageCursorCodec,
  ) {}

  @Post('webhook_endpoints/:id/replay')
  @HttpCode(202)
  @DeclareApiOperation('createWebhookReplay', {
    summary: 'Replay failed and missed events of an endpoint, oldest first',
    description:
      'Starts a job that sends events as fast as the endpoint answers, without delaying live events. An endpoint can have only one running replay.',
    body: ReplayFilterDto,
    bodyMayBeOmitted: true,
  })
  @ApiResponse({
    status: 202,
    description: 'The replay. Get the replay again to see its progress.',
    type: ReplayWrittenResource,
  })
  @DeclareErrorResponse(404, 'This endpoint does not exist in this workspace and environment.')
  @DeclareErrorResponse(409, 'The endpoint is not enabled, or a replay of it is already running.')
  @RecordInAuditLog('webhook_endpoint.replayed')
  async createReplay(
    @Param('id') endpoint_id: string,
    @InjectRequestBody(REPLAY_FILTER_BODY_PIPE)
    { value, warnings }: RequestBodyWithWarnings<ReplayFilterDto>,
    @InjectWebhookCommandOfRequest() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<WebhookReplay>> {
    const filter = toReplayFilter(value);
    const body = await createReplay(reply.request, this.webhooks.replays, { ...command, endpoint_id, filter });
    return this.responder.respondToWrite(reply, warnings, { body, version: body.version });
  }

  @Get('webhook_replays')
  @DeclareApiOperation('listWebhookReplays', { summary: 'List replays, newest first', query: ListReplaysDto })
  @ApiResponse({ status: 200, description: 'A page of replays.', type: ReplayPageResource })
  async listReplays(
    @Query() query: ListReplaysDto,
    @InjectWorkspaceScope() scope: WorkspaceScope,
  ): Promise<Page<WebhookReplay>> {
    const filter = query.endpoint_id === undefined ? {} : { endpoint_id: query.endpoint_id };
    const listing = { list: 'webhook replays', scope, filter, sort: '-created_at' };
    return readListPageByTextPosition(query, listing, this.cursors, (asked) =>
      this.webhooks.replays.list({ ...scope, ...filter, ...asked }),
    );
  }

  @Get('webhook_replays/:id')
  @DeclareApiOperation('getWebhookReplay', { summary: 'Get a replay and its progress', conditional: 'read' })
  @ApiResponse({ status: 200, description: 'The replay.', type: ReplayResource })
  @DeclareReplayNotFoundResponse()
  async getReplay(
    @Param('id') replay_id: string,
    @InjectWorkspaceScope() scope: WorkspaceScope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WebhookReplay> {
    const replay = await this.webhooks.replays.get({ ...scope, replay_id });
    reply.header('ETag', formatEtag(replay.version));
    return replay;
  }

  @Post('webhook_replays/:id/cancel')
  @HttpCode(200)
  @DeclareApiOperation('cancelWebhookReplay', {
    summary: 'Cancel a replay; deliveries already taken continue',
    conditional: 'write',
  })
  @ApiResponse({ status: 200, description: 'The replay.', type: ReplayWrittenResource })
  @DeclareReplayNotFoundResponse()
  @RecordInAuditLog('webhook_replay.canceled')
  async cancelReplay(
    @Param('id') replay_id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectWebhookCommandOfRequest() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<WebhookReplay>> {
    const body = await cancelOrResumeReplay(reply.request, this.webhooks.replays, 'cancel', { ...command, replay_id });
    return this.responder.respondToWrite(reply, ignored, { body, version: body.version });
  }

  @Post('webhook_replays/:id/resume')
  @HttpCode(200)
  @DeclareApiOperation('resumeWebhookReplay', { summary: 'Resume a canceled replay', conditional: 'write' })
  @ApiResponse({ status: 200, description: 'The replay.', type: ReplayWrittenResource })
  @DeclareReplayNotFoundResponse()
  @DeclareErrorResponse(409, 'The replay is completed, the endpoint is not enabled, or another replay is running.')
  @RecordInAuditLog('webhook_replay.resumed')
  async resumeReplay(
    @Param('id') replay_id: string,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectWebhookCommandOfRequest() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<WebhookReplay>> {
    const body = await cancelOrResumeReplay(reply.request, this.webhooks.replays, 'resume', { ...command, replay_id });
    return this.responder.respondToWrite(reply, ignored, { body, version: body.version });
  }
}

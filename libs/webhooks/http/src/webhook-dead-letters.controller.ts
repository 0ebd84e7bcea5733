import { Controller, Get, HttpCode, Inject, Post, Query, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { WorkspaceScope } from '@tracking/contracts';
import {
  RecordInAuditLog,
  RequestBodyValidationPipe,
  InjectWorkspaceScope,
  DeclareApiOperation,
  InjectRequestBody,
  DeclareErrorResponse,
  WriteResponder,
} from '@tracking/http';
import type { RequestBodyWithWarnings, WriteResponse } from '@tracking/http';
import type { DeadLetterSummary, WebhookCommand } from '@tracking/webhooks';
import type { FastifyReply } from 'fastify';
import {
  StartedReplaysResource,
  GetDeadLetterSummaryDto,
  DeadLetterSummaryResource,
  SelectDeadLettersDto,
  toDeadLettersFilter,
  convertToDeadLetterFilter,
} from './dead-letters.resource.ts';
import type { StartedReplays } from './dead-letters.resource.ts';
import type { WebhooksHttpDependencies } from './dependencies.ts';
import { replayOrDiscardDeadLetters } from './audited-commands.ts';
import { InjectWebhookCommandOfRequest } from './webhook-command.ts';
import { WEBHOOKS_INJECTION_TOKEN } from './dependencies.ts';

const DEAD_LETTERS_BODY_PIPE = new RequestBodyValidationPipe(SelectDeadLettersDto, StartedReplaysResource);
const EndpointOrDeliveryNotFoundResponse = () =>
  DeclareErrorResponse(404, 'This endpoint or delivery does not exist in this workspace and environment.');

@ApiTags('Webhook dead letters')
@Controller('v1/webhook_dead_letters')
export class WebhookDeadLettersController {
  constructor(
    @Inject(WEBHOOKS_INJECTION_TOKEN) private readonly webhooks: WebhooksHttpDependencies['webhooks'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
  ) {}

  @Get('summary')
  @DeclareApiOperation('summarizeWebhookDeadLetters', {
    summary: 'Count dead letters by error code, endpoint and event type',
    query: GetDeadLetterSummaryDto,
  })
  @ApiResponse({ status: 200, description: 'Counts of the matching dead letters.', type: DeadLetterSummaryResource })
  summarizeDeadLetters(
    @Query() query: GetDeadLetterSummaryDto,
    @InjectWorkspaceScope() scope: WorkspaceScope,
  ): Promise<DeadLetterSummary> {
    return this.webhooks.deadLetters.summary({ ...scope, filter: convertToDeadLetterFilter(query) });
  }

  @Post('replay')
  @HttpCode(202)
  @DeclareApiOperation('replayWebhookDeadLetters', {
    summary: 'Counts of the matching dead letters.',
    description:
      'Starts a replay for each endpoint with matching dead letters. Deliveries get a new schedule and are sent oldest first. Without a filter, all dead letters are replayed.',
    body: SelectDeadLettersDto,
  })
  @ApiResponse({ status: 202, description: 'The replays that were started.', type: StartedReplaysResource })
  @EndpointOrDeliveryNotFoundResponse()
  @DeclareErrorResponse(409, 'The endpoint in the filter is not enabled, or a replay of it is already running.')
  @RecordInAuditLog('webhook_dead_letters.replayed')
  async replayDeadLetters(
    @InjectRequestBody(DEAD_LETTERS_BODY_PIPE)
    { value, warnings }: RequestBodyWithWarnings<SelectDeadLettersDto>,
    @InjectWebhookCommandOfRequest() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<StartedReplays>> {
    return this.responder.respondToWrite(reply, warnings, {
      body: await this.startDeadLetterReplays('replay', value, command, reply),
    });
  }

  @Post('discard')
  @HttpCode(202)
  @DeclareApiOperation('discardWebhookDeadLetters', {
    summary: 'Discard dead letters',
    description:
      'Starts a job for each endpoint with matching dead letters, including deleted endpoints. Jobs are listed and canceled like replays. Without a filter, all dead letters are discarded.',
    body: SelectDeadLettersDto,
  })
  @ApiResponse({ status: 202, description: 'The jobs that were started.', type: StartedReplaysResource })
  @EndpointOrDeliveryNotFoundResponse()
  @RecordInAuditLog('webhook_dead_letters.discarded')
  async discardDeadLetters(
    @InjectRequestBody(DEAD_LETTERS_BODY_PIPE)
    { value, warnings }: RequestBodyWithWarnings<SelectDeadLettersDto>,
    @InjectWebhookCommandOfRequest() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<StartedReplays>> {
    return this.responder.respondToWrite(reply, warnings, {
      body: await this.startDeadLetterReplays('discard', value, command, reply),
    });
  }

  private async startDeadLetterReplays(
    action: 'replay' | 'discard',
    fields: SelectDeadLettersDto,
    command: WebhookCommand,
    { request }: FastifyReply,
  ): Promise<StartedReplays> {
    const settling = { ...command, filter: toDeadLettersFilter(fields) };
    const { replays, refused } = await replayOrDiscardDeadLetters(request, this.webhooks.deadLetters, action, settling);
    return { data: replays, refused };
  }
}

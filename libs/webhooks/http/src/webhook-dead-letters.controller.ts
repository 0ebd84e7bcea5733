import { Controller, Get, HttpCode, Inject, Post, Query, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Scope } from '@tracking/contracts';
import { Audited, BodyPipe, CurrentScope, Operation, SentBody, refusal, WriteResponder } from '@tracking/http';
import type { ReadBody, WriteResponse } from '@tracking/http';
import type { DeadLetterSummary, WebhookCommand } from '@tracking/webhooks';
import type { FastifyReply } from 'fastify';
import {
  BegunReplaysResource,
  DeadLetterSummaryDto,
  DeadLetterSummaryResource,
  DeadLettersDto,
  settleFilter,
  summaryFilter,
} from './dead-letters.resource.ts';
import type { BegunReplays } from './dead-letters.resource.ts';
import type { WebhooksHttpDependencies } from './dependencies.ts';
import { settleDeadLetters } from './audited-commands.ts';
import { WebhookCommandOf } from './webhook-command.ts';
import { WEBHOOKS } from './dependencies.ts';

const WHICH = new BodyPipe(DeadLettersDto, BegunReplaysResource);
const Unknown = () => refusal(404, 'No such endpoint or delivery in this workspace and environment.');

@ApiTags('Webhook dead letters')
@Controller('v1/webhook_dead_letters')
export class WebhookDeadLettersController {
  constructor(
    @Inject(WEBHOOKS) private readonly webhooks: WebhooksHttpDependencies['webhooks'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
  ) {}

  @Get('summary')
  @Operation('summarizeWebhookDeadLetters', {
    summary: 'Count what failed for good, by reason, endpoint and event type',
    query: DeadLetterSummaryDto,
  })
  @ApiResponse({ status: 200, description: 'The counts.', type: DeadLetterSummaryResource })
  summary(@Query() query: DeadLetterSummaryDto, @CurrentScope() scope: Scope): Promise<DeadLetterSummary> {
    return this.webhooks.deadLetters.summary({ ...scope, filter: summaryFilter(query) });
  }

  @Post('replay')
  @HttpCode(202)
  @Operation('replayWebhookDeadLetters', {
    summary: 'Deliver again what failed for good: all of it, or what is asked for',
    description: 'A replay for each endpoint that has such, the oldest first, each with a new schedule.',
    body: DeadLettersDto,
  })
  @ApiResponse({ status: 202, description: 'The replays that were begun.', type: BegunReplaysResource })
  @Unknown()
  @refusal(409, 'The one endpoint that is asked for is not enabled, or a replay runs for it.')
  @Audited('webhook_dead_letters.replayed')
  async replay(
    @SentBody(WHICH) { value, warnings }: ReadBody<DeadLettersDto>,
    @WebhookCommandOf() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<BegunReplays>> {
    return this.responder.respond(reply, warnings, { body: await this.settle('replay', value, command, reply) });
  }

  @Post('discard')
  @HttpCode(202)
  @Operation('discardWebhookDeadLetters', {
    summary: 'Give up what failed for good: all of it, or what is asked for',
    description: 'A job for each endpoint that has such, deleted ones too; seen and canceled like a replay.',
    body: DeadLettersDto,
  })
  @ApiResponse({ status: 202, description: 'The jobs that were begun.', type: BegunReplaysResource })
  @Unknown()
  @Audited('webhook_dead_letters.discarded')
  async discard(
    @SentBody(WHICH) { value, warnings }: ReadBody<DeadLettersDto>,
    @WebhookCommandOf() command: WebhookCommand,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<BegunReplays>> {
    return this.responder.respond(reply, warnings, { body: await this.settle('discard', value, command, reply) });
  }

  private async settle(
    action: 'replay' | 'discard',
    fields: DeadLettersDto,
    command: WebhookCommand,
    { request }: FastifyReply,
  ): Promise<BegunReplays> {
    const settling = { ...command, filter: settleFilter(fields) };
    const { replays, refused } = await settleDeadLetters(request, this.webhooks.deadLetters, action, settling);
    return { data: replays, refused };
  }
}

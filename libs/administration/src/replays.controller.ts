import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import { IntersectionType } from '@nestjs/swagger';
import { parsePageLimit } from '@tracking/http';
import type { WebhookReplay } from '@tracking/webhooks';
import {
  ListReplaysDto,
  ReplayFilterDto,
  cancelOrResumeReplay,
  createReplay,
  toReplayFilter,
} from '@tracking/webhooks-http';
import type { FastifyRequest } from 'fastify';
import { WEBHOOKS_INJECTION_TOKEN } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { OperatorPrincipalFactory, addScopeToResource } from './operator.ts';
import type { ResultsOfSearchedWorkspaces, Owned } from './operator.ts';
import { OperatorBodyPipe, DeclareQueryAndBodyLimit, ScopeQueryDto, parseCursor } from './routes.ts';

class ListReplaysQueryDto extends IntersectionType(ListReplaysDto, ScopeQueryDto) {}
class CreateReplayInputDto extends IntersectionType(ReplayFilterDto, ScopeQueryDto) {}

/** Webhook replays of all workspaces. */
@Controller('administration')
export class ReplaysController {
  constructor(
    @Inject(OperatorPrincipalFactory) private readonly operators: OperatorPrincipalFactory,
    @Inject(WEBHOOKS_INJECTION_TOKEN) private readonly webhooks: NonNullable<AdministrationDependencies['webhooks']>,
  ) {}

  @Get('replays')
  @DeclareQueryAndBodyLimit({ query: ListReplaysQueryDto })
  async listReplays(
    @Query() { endpoint_id, limit: requestedLimit, cursor, ...where }: ListReplaysQueryDto,
  ): Promise<ResultsOfSearchedWorkspaces<WebhookReplay> & { readonly next_cursor: string | null }> {
    const principal = await this.operators.createOperatorPrincipal(where);
    const limit = parsePageLimit(requestedLimit);
    const after = parseCursor(cursor);
    const filter = { ...(endpoint_id !== undefined && { endpoint_id }), ...(after && { after }) };
    return principal.findNewestEntriesOfAllScopes(limit, (scope) =>
      this.webhooks.replays.list({ ...scope, ...filter, limit }),
    );
  }

  @Get('replays/:id')
  @DeclareQueryAndBodyLimit({ query: ScopeQueryDto })
  async getReplay(@Query() where: ScopeQueryDto, @Param('id') replay_id: string): Promise<Owned<WebhookReplay>> {
    const principal = await this.operators.createOperatorPrincipal(where);
    const { scope, found } = await principal.findResourceInAllScopes('replay', (each) =>
      this.webhooks.replays.get({ ...each, replay_id }),
    );
    return addScopeToResource(found, scope);
  }

  @Post('webhook_endpoints/:id/replay')
  @DeclareQueryAndBodyLimit()
  @HttpCode(202)
  async createReplay(
    @Param('id') endpoint_id: string,
    @Body(new OperatorBodyPipe(CreateReplayInputDto)) input: CreateReplayInputDto,
    @Req() request: FastifyRequest,
  ): Promise<Owned<WebhookReplay>> {
    const { endpoints, replays } = this.webhooks;
    const filter = toReplayFilter(input);
    const principal = await this.operators.createOperatorPrincipal(input);
    const { scope } = await principal.findResourceInAllScopes('endpoint', (each) =>
      endpoints.get({ ...each, endpoint_id }),
    );
    const entry = { type: 'webhook_endpoint.replayed', target: endpoint_id } as const;
    const replay = await principal.runAudited(request, scope, entry, (command) =>
      createReplay(request, replays, { ...command, endpoint_id, filter }),
    );
    return addScopeToResource(replay, scope);
  }

  @Post('replays/:id/cancel')
  @DeclareQueryAndBodyLimit()
  @HttpCode(200)
  cancelReplay(
    @Param('id') id: string,
    @Body(new OperatorBodyPipe(ScopeQueryDto)) where: ScopeQueryDto,
    @Req() request: FastifyRequest,
  ): Promise<Owned<WebhookReplay>> {
    return this.cancelOrResumeReplay('cancel', where, id, request);
  }

  @Post('replays/:id/resume')
  @DeclareQueryAndBodyLimit()
  @HttpCode(200)
  resumeReplay(
    @Param('id') id: string,
    @Body(new OperatorBodyPipe(ScopeQueryDto)) where: ScopeQueryDto,
    @Req() request: FastifyRequest,
  ): Promise<Owned<WebhookReplay>> {
    return this.cancelOrResumeReplay('resume', where, id, request);
  }

  private async cancelOrResumeReplay(
    action: 'cancel' | 'resume',
    where: ScopeQueryDto,
    replay_id: string,
    request: FastifyRequest,
  ): Promise<Owned<WebhookReplay>> {
    const { replays } = this.webhooks;
    const principal = await this.operators.createOperatorPrincipal(where);
    const { scope } = await principal.findResourceInAllScopes('replay', (each) => replays.get({ ...each, replay_id }));
    const type = action === 'cancel' ? 'webhook_replay.canceled' : 'webhook_replay.resumed';
    const replay = await principal.runAudited(request, scope, { type, target: replay_id }, (command) =>
      cancelOrResumeReplay(request, replays, action, { ...command, replay_id }),
    );
    return addScopeToResource(replay, scope);
  }
}

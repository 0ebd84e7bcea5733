import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import { IntersectionType } from '@nestjs/swagger';
import { parsePageLimit } from '@tracking/http';
import type { WebhookReplay } from '@tracking/webhooks';
import { ListReplaysDto, ReplayFilterDto, changeReplay, createReplay, toReplayFilter } from '@tracking/webhooks-http';
import type { FastifyRequest } from 'fastify';
import { WEBHOOKS } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { Operators, addScope } from './operator.ts';
import type { ScopeResults, Owned } from './operator.ts';
import { InputPipe, AcceptsInput, WhereDto, parseCursor } from './routes.ts';

class ListWhereDto extends IntersectionType(ListReplaysDto, WhereDto) {}
class CreateWhereDto extends IntersectionType(ReplayFilterDto, WhereDto) {}

/** Webhook replays of all workspaces. */
@Controller('administration')
export class ReplaysController {
  constructor(
    @Inject(Operators) private readonly operators: Operators,
    @Inject(WEBHOOKS) private readonly webhooks: NonNullable<AdministrationDependencies['webhooks']>,
  ) {}

  @Get('replays')
  @AcceptsInput({ query: ListWhereDto })
  async list(
    @Query() { endpoint_id, limit: requestedLimit, cursor, ...where }: ListWhereDto,
  ): Promise<ScopeResults<WebhookReplay> & { readonly next_cursor: string | null }> {
    const principal = await this.operators.principal(where);
    const limit = parsePageLimit(requestedLimit);
    const after = parseCursor(cursor);
    const filter = { ...(endpoint_id !== undefined && { endpoint_id }), ...(after && { after }) };
    return principal.findNewest(limit, (scope) => this.webhooks.replays.list({ ...scope, ...filter, limit }));
  }

  @Get('replays/:id')
  @AcceptsInput({ query: WhereDto })
  async get(@Query() where: WhereDto, @Param('id') replay_id: string): Promise<Owned<WebhookReplay>> {
    const principal = await this.operators.principal(where);
    const { scope, found } = await principal.find('replay', (each) =>
      this.webhooks.replays.get({ ...each, replay_id }),
    );
    return addScope(found, scope);
  }

  @Post('webhook_endpoints/:id/replay')
  @AcceptsInput()
  @HttpCode(202)
  async create(
    @Param('id') endpoint_id: string,
    @Body(new InputPipe(CreateWhereDto)) input: CreateWhereDto,
    @Req() request: FastifyRequest,
  ): Promise<Owned<WebhookReplay>> {
    const { endpoints, replays } = this.webhooks;
    const filter = toReplayFilter(input);
    const principal = await this.operators.principal(input);
    const { scope } = await principal.find('endpoint', (each) => endpoints.get({ ...each, endpoint_id }));
    const entry = { type: 'webhook_endpoint.replayed', target: endpoint_id } as const;
    const replay = await principal.runAudited(request, scope, entry, (command) =>
      createReplay(request, replays, { ...command, endpoint_id, filter }),
    );
    return addScope(replay, scope);
  }

  @Post('replays/:id/cancel')
  @AcceptsInput()
  @HttpCode(200)
  cancel(
    @Param('id') id: string,
    @Body(new InputPipe(WhereDto)) where: WhereDto,
    @Req() request: FastifyRequest,
  ): Promise<Owned<WebhookReplay>> {
    return this.change('cancel', where, id, request);
  }

  @Post('replays/:id/resume')
  @AcceptsInput()
  @HttpCode(200)
  resume(
    @Param('id') id: string,
    @Body(new InputPipe(WhereDto)) where: WhereDto,
    @Req() request: FastifyRequest,
  ): Promise<Owned<WebhookReplay>> {
    return this.change('resume', where, id, request);
  }

  private async change(
    action: 'cancel' | 'resume',
    where: WhereDto,
    replay_id: string,
    request: FastifyRequest,
  ): Promise<Owned<WebhookReplay>> {
    const { replays } = this.webhooks;
    const principal = await this.operators.principal(where);
    const { scope } = await principal.find('replay', (each) => replays.get({ ...each, replay_id }));
    const type = action === 'cancel' ? 'webhook_replay.canceled' : 'webhook_replay.resumed';
    const replay = await principal.runAudited(request, scope, { type, target: replay_id }, (command) =>
      changeReplay(request, replays, action, { ...command, replay_id }),
    );
    return addScope(replay, scope);
  }
}

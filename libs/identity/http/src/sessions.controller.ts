import { Controller, Delete, Get, Inject, Param, Query, Req, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page, Warning } from '@tracking/contracts';
import {
  Audited,
  Cursors,
  NO_BODY,
  Operation,
  PageDto,
  principalOf,
  recordPage,
  refusal,
  scopeOf,
  SentBody,
  tellAudit,
  WriteResponder,
  type WriteResponse,
} from '@tracking/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IdentityHttpDependencies } from './dependencies.ts';
import { IDENTITY } from './dependencies.ts';
import { SessionEndedResource, SessionPageResource } from './session.resource.ts';
import type { SessionResource } from './session.resource.ts';

@ApiTags('Session')
@Controller('v1/sessions')
export class SessionsController {
  constructor(
    @Inject(IDENTITY) private readonly identity: IdentityHttpDependencies['identity'],
    @Inject(Cursors) private readonly cursors: Cursors,
    @Inject(WriteResponder) private readonly responder: WriteResponder,
  ) {}

  @Get()
  @Operation('listSessions', { summary: "List one's sessions, the newest first", query: PageDto })
  @ApiResponse({ status: 200, description: 'A page of sessions.', type: SessionPageResource })
  async list(@Query() query: PageDto, @Req() request: FastifyRequest): Promise<Page<SessionResource>> {
    const { actor, credential_id } = principalOf(request);
    const listing = { list: `sessions of ${actor.id}`, scope: scopeOf(request), filter: {}, sort: '-created_at' };
    return recordPage(query, listing, this.cursors, async (asked) => {
      const found = await this.identity.sessions.list(actor.id, asked);
      return { ...found, items: found.items.map((each) => ({ ...each, current: each.id === credential_id })) };
    });
  }

  @Delete(':id')
  @Operation('endSession', { summary: "End one of one's sessions" })
  @ApiResponse({ status: 200, description: 'Ended.', type: SessionEndedResource })
  @refusal(404, 'You have no such session.')
  @Audited('session.ended')
  async end(
    @Param('id') id: string,
    @SentBody(NO_BODY) warnings: readonly Warning[],
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<{ readonly id: string; readonly deleted: true }>> {
    const { actor } = principalOf(reply.request);
    const { device, address } = await this.identity.sessions.end(actor.id, id);
    tellAudit(reply.request, { before: { device, address }, after: null }, id);
    return this.responder.respond(reply, warnings, { body: { id, deleted: true } });
  }
}

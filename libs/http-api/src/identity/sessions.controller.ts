import { Controller, Delete, Get, Inject, Param, Query, Req, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page, Warning } from '@tracking/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Audited } from '../audit/audited.ts';
import { tellAudit } from '../audit/audit-trail.ts';
import { IDENTITY } from '../dependencies.ts';
import type { HttpApiDependencies } from '../dependencies.ts';
import { Operation, refusal } from '../operations/operation.ts';
import { Cursors } from '../paging/cursors.ts';
import { PageDto } from '../paging/page.dto.ts';
import { recordPage } from '../paging/page.ts';
import { ReadYourWrites } from '../read-your-writes/read-your-writes.ts';
import { SentBody } from '../server/request-decorators.ts';
import { principalOf, scopeOf } from '../server/request.ts';
import { NO_BODY } from '../validation/read-body.ts';
import { SessionEndedResource, SessionPageResource } from './session.resource.ts';
import type { SessionResource } from './session.resource.ts';

@ApiTags('Session')
@Controller('v1/sessions')
export class SessionsController {
  constructor(
    @Inject(IDENTITY) private readonly identity: HttpApiDependencies['identity'],
    @Inject(Cursors) private readonly cursors: Cursors,
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
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
  ): Promise<{ readonly id: string; readonly deleted: true; readonly warnings: readonly Warning[] }> {
    const { actor } = principalOf(reply.request);
    const { device, address } = await this.identity.sessions.end(actor.id, id);
    tellAudit(reply.request, { before: { device, address }, after: null }, id);
    await this.readYourWrites.wrote(reply, undefined);
    return { id, deleted: true, warnings };
  }
}

import { Controller, Get, Inject, Param, Query, Req, Res } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { EventEnvelope, Page, WorkspaceScope } from '@tracking/contracts';
import {
  InjectWorkspaceScope,
  PageCursorCodec,
  formatEtag,
  createInvalidRequestError,
  createNotFoundError,
  DeclareApiOperation,
  readListPage,
  ReadYourWrites,
  DeclareErrorResponse,
  waitForResponseBudget,
} from '@tracking/http';
import type { ReadModelName } from '@tracking/read-models';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EVENTS_INJECTION_TOKEN } from '../dependencies.ts';
import type { EventsService } from '../dependencies.ts';
import { toEventFilter, EventPageResource, EventResource, ListEventsDto } from './event.resource.ts';

@ApiTags('Events')
@Controller('v1/events')
export class EventsController {
  constructor(
    @Inject(EVENTS_INJECTION_TOKEN) private readonly events: EventsService,
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites<ReadModelName>,
    @Inject(PageCursorCodec) private readonly cursors: PageCursorCodec,
  ) {}

  @Get()
  @DeclareApiOperation('listEvents', {
    summary: 'List events',
    description:
      'Events in the form that webhook endpoints receive, whether or not an endpoint subscribed to them; oldest first by default. They are stored for 30 days, unless the operator configures another period.',
    query: ListEventsDto,
    readsYourWrites: 'list',
  })
  @ApiResponse({ status: 200, description: 'A page of events.', type: EventPageResource })
  async listEvents(
    @Query() query: ListEventsDto,
    @InjectWorkspaceScope() scope: WorkspaceScope,
    @Req() request: FastifyRequest,
  ): Promise<Page<EventEnvelope>> {
    const filter = toEventFilter(query);
    const listing = { list: 'events', scope, filter: { ...filter }, sort: query.sort ?? 'published' };
    const newestFirst = query.sort === '-published';
    return readListPage(query, listing, this.cursors, async (limit, after) => {
      await this.readYourWrites.waitForReadModelOfList('published_events', request);
      if (filter.after !== undefined && !(await this.events.getEvent(scope, filter.after))) {
        const message = 'The event does not exist or is no longer stored. List events with since instead.';
        throw createInvalidRequestError([{ param: 'after', code: 'invalid_value', message }]);
      }
      await waitForResponseBudget(request);
      return this.events.listEvents(scope, { filter, limit, after, newestFirst });
    });
  }

  @Get(':id')
  @DeclareApiOperation('getEvent', { summary: 'Get an event', conditional: 'read', readsYourWrites: true })
  @ApiParam({ name: 'id', description: 'Id of the event, `evt_…`.' })
  @ApiResponse({ status: 200, description: 'The event.', type: EventResource })
  @DeclareErrorResponse(404, 'The event does not exist in this workspace and environment, or is no longer stored.')
  async getEvent(
    @Param('id') id: string,
    @InjectWorkspaceScope() scope: WorkspaceScope,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EventEnvelope> {
    await this.readYourWrites.waitForReadModel('published_events', request);
    const event = await this.events.getEvent(scope, id);
    if (!event) throw createNotFoundError('event');
    // The response can be cached, because an event never changes.
    reply.header('ETag', formatEtag(1));
    return event;
  }
}

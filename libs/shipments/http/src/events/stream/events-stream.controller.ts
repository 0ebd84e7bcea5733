import { Controller, Get, Inject, Query, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Scope } from '@tracking/contracts';
import { Admission, CurrentScope, Observation, Operation, principalOf, refusal } from '@tracking/http';
import type { FollowedEvents } from '@tracking/read-models';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { eventFilter } from '../event-filter.ts';
import { EventStreams } from './event-streams.ts';
import { type After, Following } from './following.ts';
import { StreamEventsDto } from './stream-events.dto.ts';

const LAST_EVENT_ID = 'Last-Event-ID';

@ApiTags('Events')
@Controller('v1/events')
export class EventsStreamController {
  constructor(
    @Inject(Following) private readonly following: Following,
    @Inject(EventStreams) private readonly streams: EventStreams,
    @Inject(Admission) private readonly admission: Admission,
    @Inject(Observation) private readonly observation: Observation,
  ) {}

  @Get('stream')
  @Operation('streamEvents', {
    summary: 'Follow what happens',
    description:
      'Server-sent events (`EventSource`): each has the `id` of an event, and its envelope, as `GET /v1/events` shows ' +
      'it, as `data`. From now on, or after the event that `Last-Event-ID` or `after` names, each once, in the order ' +
      'of `GET /v1/events`. A comment comes every 15 s. It ends when the key or session does, or the server; whoever ' +
      'comes again with the last `id` misses nothing.',
    query: StreamEventsDto,
  })
  @ApiHeader({ name: LAST_EVENT_ID, description: 'The last `id` that was read. Goes before `after`.', required: false })
  @ApiResponse({
    status: 200,
    description: 'The events, until one side ends it.',
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  })
  @refusal(429, 'More requests within a minute, or more streams at once, than the key or session has.')
  async stream(
    @Query() query: StreamEventsDto,
    @CurrentScope() scope: Scope,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { after: _, ...narrowed } = query;
    const release = this.streams.reserve(principalOf(request).credential_id);
    try {
      const followed = await this.following.begin(scope, eventFilter(narrowed), afterOf(request, query));
      reply.headers({
        'Content-Type': 'text/event-stream',
        // Whatever stands between is neither to keep nor to compress it, nor to wait until there is more.
        'Cache-Control': 'no-store, no-transform',
        'X-Accel-Buffering': 'no',
      });
      this.answer(followed, request, reply, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  private answer(followed: FollowedEvents, request: FastifyRequest, reply: FastifyReply, release: () => void): void {
    if (request.method === 'HEAD' || reply.raw.destroyed) {
      followed.leave();
      release();
      void reply.send();
      return;
    }
    const headers = reply.getHeaders() as Record<string, string>;
    reply.hijack();
    // A client that breaks the connection ends it as usual; of others the framework tells.
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) this.observation.answered(request, reply);
    });
    const isAdmitted = () => this.admission.isStillAdmitted(request);
    this.streams.start({ response: reply.raw, headers, followed, isAdmitted }, release);
  }
}

function afterOf({ headers }: FastifyRequest, { after }: StreamEventsDto): After | undefined {
  const sent = headers['last-event-id'];
  // A client that was told no id yet may send an empty one.
  if (typeof sent === 'string' && sent !== '') return { id: sent, param: LAST_EVENT_ID };
  return after === undefined ? undefined : { id: after, param: 'after' };
}

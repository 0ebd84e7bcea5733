import { Controller, Get, Inject, Query, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiResponse, ApiTags } from '@nestjs/swagger';
import { SHIPMENT_EVENT_TYPES } from '@tracking/contracts';
import type { WorkspaceScope } from '@tracking/contracts';
import {
  Admission,
  ScopeOfRequest,
  createInvalidRequestError,
  RequestObserver,
  PublicRoute,
  requirePrincipal,
  IdQueryField,
  TextQueryField,
  ErrorResponse,
  RequestError,
  EnumListQueryField,
} from '@tracking/http';
import type { EventStore } from '@tracking/ports';
import type { EventFeed, FollowedEvents, FollowFilter } from '@tracking/read-models';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EventsService } from '../dependencies.ts';
import { toEventFilter } from './event.resource.ts';
import { EventStreams } from './event-streams.ts';

const LAST_EVENT_ID = 'Last-Event-ID';
/** Value of a start position that means the beginning of the log, instead of an event id. */
const LOG_BEGINNING = 'beginning';
/** Maximum milliseconds to wait for an event that another process has already sent. */
const OTHER_PROCESS_WAIT_MS = 5_000;

class StreamEventsDto {
  @EnumListQueryField(SHIPMENT_EVENT_TYPES, {
    description: `One or more of ${SHIPMENT_EVENT_TYPES.join(', ')}, separated by commas.`,
    example: 'milestone.recorded',
  })
  type?: string;

  @IdQueryField('shp', { description: 'Only events of this shipment.' })
  shipment_id?: string;

  @TextQueryField({
    description: 'Only events after this one, if `Last-Event-ID` is not sent. `beginning` means all stored events.',
  })
  after?: string;
}

/** The event after which a client continues, with the name of the parameter or header that contains it. */
interface ResumePosition {
  readonly id: string;
  readonly param: string;
}

/** Starts to follow events at the position that a client requests. */
export class EventFollower {
  constructor(
    private readonly feed: EventFeed,
    private readonly events: Pick<EventsService, 'waitUntilReached'>,
    private readonly head: EventStore['head'],
  ) {}

  /** @throws RequestError if the scope does not have the event */
  async startFollowing(
    scope: WorkspaceScope,
    filter: FollowFilter,
    after: ResumePosition | undefined,
  ): Promise<FollowedEvents> {
    if (after === undefined || after.id === LOG_BEGINNING) {
      return requireFollowedEvents(await this.feed.followEvents(scope, filter, after && LOG_BEGINNING), after);
    }
    const known = await this.feed.followEvents(scope, filter, after);
    if (known !== undefined) return known;
    // Another process whose read models are ahead of this process may have sent the event.
    const head = await this.head();
    if (head !== undefined && !(await this.events.waitUntilReached(head, OTHER_PROCESS_WAIT_MS))) {
      const message = 'The latest events are stored but not yet readable; try again.';
      throw new RequestError('read_model_behind', message, [], { 'Retry-After': '1' });
    }
    return requireFollowedEvents(await this.feed.followEvents(scope, filter, after), after);
  }
}

function requireFollowedEvents(
  followed: FollowedEvents | undefined,
  after: ResumePosition | undefined,
): FollowedEvents {
  if (followed !== undefined) return followed;
  const message =
    'The event does not exist or is no longer stored. Read GET /v1/events with since, and start a new stream.';
  throw createInvalidRequestError([{ param: after?.param ?? 'after', code: 'invalid_value', message }]);
}

@ApiTags('Events')
@Controller('v1/events')
export class EventStreamController {
  constructor(
    @Inject(EventFollower) private readonly follower: EventFollower,
    @Inject(EventStreams) private readonly streams: EventStreams,
    @Inject(Admission) private readonly admission: Admission,
    @Inject(RequestObserver) private readonly observation: RequestObserver,
  ) {}

  @Get('stream')
  @PublicRoute('streamEvents', {
    summary: 'Stream events',
    description:
      'Server-sent events (`EventSource`): each has the `id` of an event, and as `data` its envelope, as in `GET /v1/events`. ' +
      'The stream starts now, or after the event that `Last-Event-ID` or `after` names. It contains each event once, in the order ' +
      'of `GET /v1/events`, and a comment every 15 s. It ends when the key, the session or the server ends; a client that ' +
      'reconnects with the last `id` misses nothing.',
    query: StreamEventsDto,
  })
  @ApiHeader({
    name: LAST_EVENT_ID,
    description: 'The last `id` that the client has read. Takes precedence over `after`.',
    required: false,
  })
  @ApiResponse({
    status: 200,
    description: 'The event stream.',
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  })
  @ErrorResponse(429, 'The rate limit is exceeded, or the key, its owner or the workspace has too many open streams.')
  async streamEvents(
    @Query() query: StreamEventsDto,
    @ScopeOfRequest() scope: WorkspaceScope,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { after: _, ...filters } = query;
    const release = this.streams.reserveStream(requirePrincipal(request));
    try {
      const followed = await this.follower.startFollowing(
        scope,
        toEventFilter(filters),
        readStreamResumePosition(request, query),
      );
      reply.headers({
        'Content-Type': 'text/event-stream',
        // These headers prevent that proxies store, compress or buffer the events.
        'Cache-Control': 'no-store, no-transform',
        'X-Accel-Buffering': 'no',
      });
      this.startStream(followed, request, reply, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  private startStream(
    followed: FollowedEvents,
    request: FastifyRequest,
    reply: FastifyReply,
    release: () => void,
  ): void {
    if (request.method === 'HEAD' || reply.raw.destroyed) {
      followed.stopFollowing();
      release();
      void reply.send();
      return;
    }
    const headers = reply.getHeaders() as Record<string, string>;
    reply.hijack();
    // The framework reports a response that ends, but not a response that the client aborts.
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) this.observation.recordResponse(request, reply);
    });
    const isAdmitted = () => this.admission.isStillAdmitted(request);
    this.streams.startStream({ response: reply.raw, headers, followed, isAdmitted }, release);
  }
}

function readStreamResumePosition({ headers }: FastifyRequest, { after }: StreamEventsDto): ResumePosition | undefined {
  const sent = headers['last-event-id'];
  // A client that has not received an id yet may send an empty `Last-Event-ID`.
  if (typeof sent === 'string' && sent !== '') return { id: sent, param: LAST_EVENT_ID };
  return after === undefined ? undefined : { id: after, param: 'after' };
}

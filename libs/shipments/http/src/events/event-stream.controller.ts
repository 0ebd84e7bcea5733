import { Controller, Get, Inject, Query, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiResponse, ApiTags } from '@nestjs/swagger';
import { SHIPMENT_EVENT_TYPES } from '@tracking/contracts';
import type { WorkspaceScope } from '@tracking/contracts';
import {
  RequestAdmission,
  InjectWorkspaceScope,
  createInvalidRequestError,
  RequestLogAndMetrics,
  DeclareApiOperation,
  requirePrincipal,
  IdQueryProperty,
  TextQueryProperty,
  DeclareErrorResponse,
  RequestError,
  EnumListQueryProperty,
} from '@tracking/http';
import type { EventStore } from '@tracking/ports';
import type { PublishedEventFeed, PublishedEventFollower, FollowedEventFilter } from '@tracking/read-models';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EventsService } from '../dependencies.ts';
import { toEventFilter } from './event.resource.ts';
import { OpenEventStreams } from './event-streams.ts';

const LAST_EVENT_ID = 'Last-Event-ID';
/** Value of a start position that means the beginning of the log, instead of an event id. */
const EVENT_LOG_BEGINNING_VALUE = 'beginning';
/** Maximum milliseconds to wait for an event that another process has already sent. */
const MAX_WAIT_FOR_EVENT_OF_OTHER_PROCESS_MS = 5_000;

class StreamEventsDto {
  @EnumListQueryProperty(SHIPMENT_EVENT_TYPES, {
    description: `One or more of ${SHIPMENT_EVENT_TYPES.join(', ')}, separated by commas.`,
    example: 'milestone.recorded',
  })
  type?: string;

  @IdQueryProperty('shp', { description: 'Only events of this shipment.' })
  shipment_id?: string;

  @TextQueryProperty({
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
export class EventStreamStarter {
  constructor(
    private readonly feed: PublishedEventFeed,
    private readonly events: Pick<EventsService, 'waitUntilPositionReached'>,
    private readonly head: EventStore['head'],
  ) {}

  /** @throws RequestError if the scope does not have the event */
  async startFollowingEvents(
    scope: WorkspaceScope,
    filter: FollowedEventFilter,
    after: ResumePosition | undefined,
  ): Promise<PublishedEventFollower> {
    if (after === undefined || after.id === EVENT_LOG_BEGINNING_VALUE) {
      return requireExistingResumeEvent(
        await this.feed.followEvents(scope, filter, after && EVENT_LOG_BEGINNING_VALUE),
        after,
      );
    }
    const known = await this.feed.followEvents(scope, filter, after);
    if (known !== undefined) return known;
    // Another process whose read models are ahead of this process may have sent the event.
    const head = await this.head();
    if (
      head !== undefined &&
      !(await this.events.waitUntilPositionReached(head, MAX_WAIT_FOR_EVENT_OF_OTHER_PROCESS_MS))
    ) {
      const message = 'The latest events are stored but not yet readable; try again.';
      throw new RequestError('read_model_behind', message, [], { 'Retry-After': '1' });
    }
    return requireExistingResumeEvent(await this.feed.followEvents(scope, filter, after), after);
  }
}

function requireExistingResumeEvent(
  followed: PublishedEventFollower | undefined,
  after: ResumePosition | undefined,
): PublishedEventFollower {
  if (followed !== undefined) return followed;
  const message =
    'The event does not exist or is no longer stored. Read GET /v1/events with since, and start a new stream.';
  throw createInvalidRequestError([{ param: after?.param ?? 'after', code: 'invalid_value', message }]);
}

@ApiTags('Events')
@Controller('v1/events')
export class EventStreamController {
  constructor(
    @Inject(EventStreamStarter) private readonly follower: EventStreamStarter,
    @Inject(OpenEventStreams) private readonly streams: OpenEventStreams,
    @Inject(RequestAdmission) private readonly admission: RequestAdmission,
    @Inject(RequestLogAndMetrics) private readonly observation: RequestLogAndMetrics,
  ) {}

  @Get('stream')
  @DeclareApiOperation('streamEvents', {
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
  @DeclareErrorResponse(
    429,
    'The rate limit is exceeded, or the key, its owner or the workspace has too many open streams.',
  )
  async streamEvents(
    @Query() query: StreamEventsDto,
    @InjectWorkspaceScope() scope: WorkspaceScope,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { after: _, ...filters } = query;
    const release = this.streams.reserveEventStreamSlot(requirePrincipal(request));
    try {
      const followed = await this.follower.startFollowingEvents(
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
      this.startEventStream(followed, request, reply, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  private startEventStream(
    followed: PublishedEventFollower,
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
      if (!reply.raw.writableFinished) this.observation.recordResponseMetrics(request, reply);
    });
    const isAdmitted = () => this.admission.areCredentialsStillValid(request);
    this.streams.startEventStream({ response: reply.raw, headers, followed, isAdmitted }, release);
  }
}

function readStreamResumePosition({ headers }: FastifyRequest, { after }: StreamEventsDto): ResumePosition | undefined {
  const sent = headers['last-event-id'];
  // A client that has not received an id yet may send an empty `Last-Event-ID`.
  if (typeof sent === 'string' && sent !== '') return { id: sent, param: LAST_EVENT_ID };
  return after === undefined ? undefined : { id: after, param: 'after' };
}

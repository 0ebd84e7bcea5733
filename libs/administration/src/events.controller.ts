import { Body, Controller, Get, HttpCode, Inject, Post, Query } from '@nestjs/common';
import { IntersectionType } from '@nestjs/swagger';
import { ENVIRONMENTS } from '@tracking/contracts';
import type {
  Environment,
  EventEnvelope,
  EventPage,
  ExportedEvent,
  EventImportResult,
  Workspace,
} from '@tracking/contracts';
import {
  BYTES_PER_MIB,
  EnumProperty,
  createFieldError,
  CheckedProperty,
  createInvalidRequestError,
  isJsonObject,
  parsePageLimit,
} from '@tracking/http';
import type { FieldCheck } from '@tracking/http';
import type { EventTransferOperations } from '@tracking/shipments';
import { ListEventsDto, toEventFilter } from '@tracking/shipments-http';
import {
  EVENT_EXPORT_AND_IMPORT_INJECTION_TOKEN,
  IDENTITY_INJECTION_TOKEN,
  PUBLISHED_EVENTS_INJECTION_TOKEN,
  RECHECKS_INJECTION_TOKEN,
} from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { OperatorPrincipalFactory } from './operator.ts';
import { InWorkspaceDto, createInvalidCursorError, DeclareQueryAndBodyLimit } from './routes.ts';

class ListEventsQueryDto extends IntersectionType(ListEventsDto, InWorkspaceDto) {
  @EnumProperty(ENVIRONMENTS, { description: 'Environment of the event.' })
  environment!: Environment;
}

/** The public events of a workspace, as `GET /v1/events` lists them. */
@Controller('administration/published_events')
export class PublishedEventsController {
  constructor(
    @Inject(OperatorPrincipalFactory) private readonly operators: OperatorPrincipalFactory,
    @Inject(PUBLISHED_EVENTS_INJECTION_TOKEN)
    private readonly events: NonNullable<AdministrationDependencies['publishedEvents']>,
  ) {}

  /** Oldest first by default. */
  @Get()
  @DeclareQueryAndBodyLimit({ query: ListEventsQueryDto })
  async listPublishedEventsOfWorkspace(
    @Query() query: ListEventsQueryDto,
  ): Promise<{ readonly data: readonly EventEnvelope[]; readonly next_cursor: string | null }> {
    const { workspace, environment, limit, cursor, ...wanted } = query;
    const { id: workspace_id } = await this.operators.findWorkspaceByNameOrThrow(workspace);
    const { items, next } = await this.events.listEvents(
      { workspace_id, environment },
      {
        filter: toEventFilter(wanted),
        limit: parsePageLimit(limit),
        after: parseEventCursor(cursor),
        newestFirst: wanted.sort === '-published',
      },
    );
    return { data: items, next_cursor: next === undefined ? null : String(next[0]) };
  }
}

/** Reads a cursor. Only the operator's own tool sends cursors, so they are neither sealed nor bound. */
function parseEventCursor(cursor: string | undefined): readonly string[] | undefined {
  if (cursor === undefined) return undefined;
  if (/^[0-9a-f]+(\.\d+)*$/.test(cursor)) return [cursor];
  throw createInvalidCursorError();
}

const EXPORT_PAGE_SIZE = 500;
/** Limit of an import in bytes. Pages of exported events are larger than bodies of the public API. */
const MAX_IMPORT_BYTES = 8 * BYTES_PER_MIB;

/** A position of the event store. */
const checkLogPosition: FieldCheck = (value, param) =>
  typeof value === 'string' && /^[0-9a-f]+$/.test(value)
    ? []
    : createFieldError(param, 'invalid_value', 'Must be the position of a previous page.');

class ExportQueryDto {
  @CheckedProperty(
    checkLogPosition,
    { description: 'Position after which the page starts.', required: false },
    { type: String },
  )
  after?: string;
}

/** Moves the events of all shipments from one system to another. */
@Controller('administration/events')
export class EventTransferController {
  constructor(
    @Inject(EVENT_EXPORT_AND_IMPORT_INJECTION_TOKEN) private readonly transfer: EventTransferOperations,
    @Inject(IDENTITY_INJECTION_TOKEN) private readonly identity: AdministrationDependencies['identity'],
    @Inject(RECHECKS_INJECTION_TOKEN)
    private readonly rechecks: NonNullable<AdministrationDependencies['workspaceSettings']>['rechecks'] | undefined,
  ) {}

  @Get()
  @DeclareQueryAndBodyLimit({ query: ExportQueryDto })
  exportEvents(@Query() { after }: ExportQueryDto): Promise<EventPage> {
    return this.transfer.exportEvents({ after: after ?? null, limit: EXPORT_PAGE_SIZE });
  }

  @Post()
  @DeclareQueryAndBodyLimit({ limit: MAX_IMPORT_BYTES })
  @HttpCode(200)
  importEvents(
    @Body() body: { readonly events?: unknown; readonly skip_conflicts?: unknown } | null,
  ): Promise<EventImportResult> {
    const events = body?.events;
    if (!Array.isArray(events) || !events.every(isJsonObject)) {
      throw createInvalidRequestError([
        { param: 'events', code: 'invalid_type', message: 'Must be a list of events.' },
      ]);
    }
    return this.transfer.importEvents({
      events: events as readonly object[] as readonly ExportedEvent[],
      skip_conflicts: body?.skip_conflicts === true,
    });
  }

  /** Checks the shipments of workspaces by the rules and settings of this system, once all their events are stored. */
  @Post('end')
  @DeclareQueryAndBodyLimit()
  @HttpCode(200)
  async recheckImportedWorkspaces(
    @Body() body: { readonly workspaces?: unknown } | null,
  ): Promise<{ readonly rechecked: number }> {
    const ids = body?.workspaces;
    if (!Array.isArray(ids) || !ids.every(isWorkspaceId)) {
      throw createInvalidRequestError([
        { param: 'workspaces', code: 'invalid_type', message: 'Must be a list of workspace ids.' },
      ]);
    }
    for (const id of ids) await this.rechecks?.requestRecheck(id);
    return { rechecked: ids.length };
  }

  /** Creates a workspace with the id that it has in the other system, because events refer to it. */
  @Post('workspaces')
  @DeclareQueryAndBodyLimit()
  @HttpCode(200)
  createWorkspaceWithGivenId(@Body() body: Partial<Record<'id' | 'name', unknown>> | null): Promise<Workspace> {
    const { id, name } = body ?? {};
    if (!isWorkspaceId(id) || typeof name !== 'string') {
      throw createInvalidRequestError([
        { param: 'id', code: 'invalid_type', message: 'Must be the id and name of a workspace.' },
      ]);
    }
    return this.identity.workspaces.createImportedWorkspaceIfMissing(id, name);
  }
}

function isWorkspaceId(id: unknown): id is string {
  return typeof id === 'string' && /^wsp_[a-z2-7]{26}$/.test(id);
}

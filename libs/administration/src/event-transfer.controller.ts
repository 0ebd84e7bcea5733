import { Body, Controller, Get, HttpCode, Inject, Post, Query } from '@nestjs/common';
import type { EventPage, ExportedEvent, Workspace } from '@tracking/contracts';
import { fault, field, invalidRequest, isObject, MIB } from '@tracking/http';
import type { FieldCheck } from '@tracking/http';
import type { EventTransfer } from '@tracking/shipments';
import { Takes } from './takes.ts';
import { EVENT_TRANSFER, IDENTITY, RECHECKS } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';

const AT_ONCE = 500;
/** In bytes: pages of exported events are larger than what clients of the public API send. */
const IMPORT_LIMIT = 8 * MIB;

/** A position of the event store; from the beginning without one. */
const position: FieldCheck = (value, param) =>
  typeof value === 'string' && /^[0-9a-f]+$/.test(value)
    ? []
    : fault(param, 'invalid_value', 'Must be the position of a page before.');

class ExportDto {
  @field(position, { description: 'The page after this position.' }, { type: String })
  after?: string;
}

/** The events of all shipments, taken out of one system and put into another. */
@Controller('administration/events')
export class EventTransferController {
  constructor(
    @Inject(EVENT_TRANSFER) private readonly transfer: EventTransfer,
    @Inject(IDENTITY) private readonly identity: AdministrationDependencies['identity'],
    @Inject(RECHECKS)
    private readonly rechecks: NonNullable<AdministrationDependencies['workspaceSettings']>['rechecks'] | undefined,
  ) {}

  @Get()
  @Takes({ query: ExportDto })
  export(@Query() { after }: ExportDto): Promise<EventPage> {
    return this.transfer.exportEvents({ after: after ?? null, limit: AT_ONCE });
  }

  @Post()
  @Takes({ limit: IMPORT_LIMIT })
  @HttpCode(200)
  import(@Body() body: { readonly events?: unknown } | null): Promise<{ readonly stored: number }> {
    const events = body?.events;
    if (!Array.isArray(events) || !events.every(isObject)) {
      throw invalidRequest([{ param: 'events', code: 'invalid_type', message: 'Must be a list of events.' }]);
    }
    return this.transfer.importEvents({ events: events as readonly object[] as readonly ExportedEvent[] });
  }

  /** Checks the shipments of workspaces by the rules and settings here, once all of their events are stored. */
  @Post('end')
  @Takes()
  @HttpCode(200)
  async end(@Body() body: { readonly workspaces?: unknown } | null): Promise<{ readonly rechecked: number }> {
    const ids = body?.workspaces;
    if (!Array.isArray(ids) || !ids.every(isWorkspaceId)) {
      throw invalidRequest([
        { param: 'workspaces', code: 'invalid_type', message: 'Must be a list of workspace ids.' },
      ]);
    }
    for (const id of ids) await this.rechecks?.request(id);
    return { rechecked: ids.length };
  }

  /** Under the id that it has elsewhere: events name it. */
  @Post('workspaces')
  @Takes()
  @HttpCode(200)
  adopt(@Body() body: Partial<Record<'id' | 'name', unknown>> | null): Promise<Workspace> {
    const { id, name } = body ?? {};
    if (!isWorkspaceId(id) || typeof name !== 'string') {
      throw invalidRequest([{ param: 'id', code: 'invalid_type', message: 'Must be the id and name of a workspace.' }]);
    }
    return this.identity.workspaces.adopt(id, name);
  }
}

function isWorkspaceId(id: unknown): id is string {
  return typeof id === 'string' && /^wsp_[a-z2-7]{26}$/.test(id);
}

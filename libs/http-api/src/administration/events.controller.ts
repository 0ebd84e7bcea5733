import { Body, Controller, Get, HttpCode, Inject, Post, Query } from '@nestjs/common';
import type { EventPage, ExportedEvent, Workspace } from '@tracking/contracts';
import type { EventTransfer } from '@tracking/shipments';
import { invalidRequest, notFound } from '../errors/request-error.ts';
import { ADMINISTRATION } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';

const AT_ONCE = 500;

/** The events of all shipments, taken out of one system and put into another. */
@Controller('administration/events')
export class EventsController {
  constructor(@Inject(ADMINISTRATION) private readonly dependencies: AdministrationDependencies) {}

  @Get()
  export(@Query('after') after: unknown): Promise<EventPage> {
    const position = typeof after === 'string' && /^[0-9a-f]+$/.test(after) ? after : null;
    return this.transfer.exportEvents({ after: position, limit: AT_ONCE });
  }

  @Post()
  @HttpCode(200)
  import(@Body() body: { readonly events?: unknown } | null): Promise<{ readonly stored: number }> {
    const events = body?.events;
    if (!Array.isArray(events) || !events.every(isObject)) {
      throw invalidRequest([{ param: 'events', code: 'invalid_type', message: 'Must be a list of events.' }]);
    }
    return this.transfer.importEvents({ events: events as readonly ExportedEvent[] });
  }

  /** Under the id that it has elsewhere: events name it. */
  @Post('workspaces')
  @HttpCode(200)
  adopt(@Body() body: Partial<Record<'id' | 'name', unknown>> | null): Promise<Workspace> {
    const { id, name } = body ?? {};
    if (typeof id !== 'string' || !/^wsp_[a-z2-7]{26}$/.test(id) || typeof name !== 'string') {
      throw invalidRequest([{ param: 'id', code: 'invalid_type', message: 'Must be the id and name of a workspace.' }]);
    }
    return this.dependencies.identity.workspaces.adopt(id, name);
  }

  private get transfer(): EventTransfer {
    const { events } = this.dependencies;
    if (!events) throw notFound('path');
    return events;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

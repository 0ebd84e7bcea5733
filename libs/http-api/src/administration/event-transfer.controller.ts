import { Body, Controller, Get, HttpCode, Inject, Post, Req } from '@nestjs/common';
import type { EventPage, ExportedEvent, Workspace } from '@tracking/contracts';
import type { EventTransfer } from '@tracking/shipments';
import type { FastifyRequest } from 'fastify';
import { invalidRequest, notFound } from '../errors/request-error.ts';
import { MIB } from '../server/sizes.ts';
import { fault } from '../validation/checks.ts';
import type { Check } from '../validation/checks.ts';
import { field } from '../validation/fields.ts';
import { parametersOf } from '../validation/parameters.ts';
import { Takes } from './takes.ts';
import { ADMINISTRATION } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';

const AT_ONCE = 500;
/** In bytes: pages of exported events are larger than what clients of the public API send. */
const IMPORT_LIMIT = 8 * MIB;

/** A position of the event store; from the beginning without one. */
const position: Check = (value, param) =>
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
  constructor(@Inject(ADMINISTRATION) private readonly dependencies: AdministrationDependencies) {}

  @Get()
  @Takes({ query: ExportDto })
  export(@Req() request: FastifyRequest): Promise<EventPage> {
    const { after } = parametersOf(ExportDto, request);
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
    return this.transfer.importEvents({ events: events as readonly ExportedEvent[] });
  }

  /** Under the id that it has elsewhere: events name it. */
  @Post('workspaces')
  @Takes()
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

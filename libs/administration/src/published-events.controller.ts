import { Controller, Get, Inject, Query } from '@nestjs/common';
import { DEFAULT_PAGE_SIZE, ENVIRONMENTS } from '@tracking/contracts';
import type { Environment, EventEnvelope } from '@tracking/contracts';
import { OneOf, Text, invalidRequest } from '@tracking/http';
import { ListEventsDto, eventFilter } from '@tracking/shipments-http';
import { IDENTITY, PUBLISHED_EVENTS } from './dependencies.ts';
import type { AdministrationDependencies } from './dependencies.ts';
import { Takes } from './takes.ts';
import { workspaceNamed } from './workspace-named.ts';

class OperatedEventsDto extends ListEventsDto {
  @Text({ description: 'Name of the workspace.' })
  workspace!: string;

  @OneOf(ENVIRONMENTS, { description: 'Where it happened.' })
  environment!: Environment;
}

/** The public events of a workspace, as `GET /v1/events` lists them. */
@Controller('administration/published_events')
export class PublishedEventsController {
  constructor(
    @Inject(IDENTITY) private readonly identity: AdministrationDependencies['identity'],
    @Inject(PUBLISHED_EVENTS) private readonly events: NonNullable<AdministrationDependencies['publishedEvents']>,
  ) {}

  /** Oldest first, unless told. */
  @Get()
  @Takes({ query: OperatedEventsDto })
  async list(
    @Query() query: OperatedEventsDto,
  ): Promise<{ readonly data: readonly EventEnvelope[]; readonly next_cursor: string | null }> {
    const { workspace, environment, limit, cursor, ...wanted } = query;
    const { id: workspace_id } = await workspaceNamed(this.identity, workspace);
    const { items, next } = await this.events.list(
      { workspace_id, environment },
      {
        filter: eventFilter(wanted),
        limit: limit === undefined ? DEFAULT_PAGE_SIZE : Number(limit),
        after: placeOf(cursor),
        newestFirst: wanted.sort === '-published',
      },
    );
    return { data: items, next_cursor: next === undefined ? null : String(next[0]) };
  }
}

/** Nobody but the operator's own tool sends it, so it is neither sealed nor bound to its filters. */
function placeOf(cursor: string | undefined): readonly string[] | undefined {
  if (cursor === undefined) return undefined;
  if (/^[0-9a-f]+(\.\d+)*$/.test(cursor)) return [cursor];
  throw invalidRequest([{ param: 'cursor', code: 'invalid_cursor', message: 'Must be a next_cursor of this list.' }]);
}

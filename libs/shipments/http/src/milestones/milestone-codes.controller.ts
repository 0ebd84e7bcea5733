import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { MAX_PAGE_SIZE, MILESTONE_CATALOG } from '@tracking/contracts';
import type { MilestoneCode, Page, Scope } from '@tracking/contracts';
import { CurrentScope, Cursor, Cursors, Limit, Operation, page } from '@tracking/http';
import { MilestoneCodeListResource } from './milestone.resource.ts';

class ListMilestoneCodesDto {
  /** The catalog stays one page for who asks for no limit. */
  @Limit(MAX_PAGE_SIZE)
  limit?: string;

  @Cursor()
  cursor?: string;
}

@ApiTags('Milestones')
@Controller('v1/milestone_codes')
export class MilestoneCodesController {
  constructor(@Inject(Cursors) private readonly cursors: Cursors) {}

  @Get()
  @Operation('listMilestoneCodes', { summary: 'List the milestone catalog', query: ListMilestoneCodesDto })
  @ApiResponse({ status: 200, description: 'A page of the catalog, in order.', type: MilestoneCodeListResource })
  list(@Query() query: ListMilestoneCodesDto, @CurrentScope() scope: Scope): Promise<Page<MilestoneCode>> {
    const listing = { list: 'milestone codes', scope, filter: {}, sort: 'sequence' };
    return page({ ...query, limit: query.limit ?? String(MAX_PAGE_SIZE) }, listing, this.cursors, (limit, after) => {
      const from = Number(after?.[0] ?? 0);
      const end = from + limit;
      const items = MILESTONE_CATALOG.slice(from, end);
      return Promise.resolve({ items, next: end < MILESTONE_CATALOG.length ? [end] : null });
    });
  }
}

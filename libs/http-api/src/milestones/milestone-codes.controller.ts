import { Controller, Get } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { MILESTONE_CATALOG } from '@tracking/contracts';
import type { MilestoneCode, Page } from '@tracking/contracts';
import { Operation } from '../operations/operation.ts';
import { MilestoneCodeListResource } from './milestone.resource.ts';

@ApiTags('Milestones')
@Controller('v1/milestone_codes')
export class MilestoneCodesController {
  @Get()
  @Operation('listMilestoneCodes', { summary: 'List the milestone catalog' })
  @ApiResponse({ status: 200, description: 'The whole catalog, in order.', type: MilestoneCodeListResource })
  list(): Page<MilestoneCode> {
    return { data: MILESTONE_CATALOG, next_cursor: null, has_more: false };
  }
}

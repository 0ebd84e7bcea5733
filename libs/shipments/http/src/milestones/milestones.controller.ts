import { Controller, Get, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Milestone, Page } from '@tracking/contracts';
import {
  Command,
  Cursors,
  Operation,
  SentBody,
  WriteResponder,
  type WriteResponse,
  page,
  principalOf,
  refusal,
  requirePermission,
  scopeOf,
} from '@tracking/http';
import type { CommandContext } from '@tracking/shipments';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { SHIPMENT_ID } from '../shipments/shipment-id.pipe.ts';
import { ShipmentReader } from '../shipments/shipment-reader.ts';
import { writtenMilestone } from '../shipments/written-shipments.ts';
import { ListMilestonesDto } from './list-milestones.dto.ts';
import type { MilestoneFilter } from './milestone-filter.ts';
import { MilestonePipe } from './milestone.pipes.ts';
import { MilestonePageResource, MilestoneWrittenResource, RecordMilestoneDto } from './milestone.resource.ts';
import type { ReadMilestone } from './milestone.pipes.ts';
import { MilestoneFilterPipe } from './milestone-filter.ts';
import { SHIPMENTS } from '../dependencies.ts';

@ApiTags('Milestones')
@Controller('v1/shipments/:id/milestones')
export class MilestonesController {
  constructor(
    @Inject(SHIPMENTS) private readonly shipments: ShipmentsHttpDependencies['shipments'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
    @Inject(ShipmentReader) private readonly reader: ShipmentReader,
    @Inject(Cursors) private readonly cursors: Cursors,
  ) {}

  @Get()
  @Operation('listMilestones', { summary: 'List the milestones of a shipment', query: ListMilestonesDto })
  @ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' })
  @ApiResponse({ status: 200, description: 'A page, by time and place in the catalog.', type: MilestonePageResource })
  @refusal(404, 'No such shipment in this workspace and environment.')
  async list(
    @Param('id') id: string,
    @Query() query: ListMilestonesDto,
    @Query(MilestoneFilterPipe) filter: MilestoneFilter,
    @Req() request: FastifyRequest,
  ): Promise<Page<Milestone>> {
    const scope = scopeOf(request);
    const listing = { list: `milestones of ${id}`, scope, filter: { ...filter }, sort: 'occurred_at' };
    return page(query, listing, this.cursors, (limit, after) =>
      this.reader.milestones(request, id, { ...filter, limit, after }),
    );
  }

  @Post()
  @Operation('recordMilestone', {
    summary: 'Record a milestone',
    description: 'If-Match and the ETag of the answer are those of the shipment.',
    body: RecordMilestoneDto,
    conditional: 'write',
  })
  @ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' })
  @ApiResponse({ status: 201, description: 'Recorded.', type: MilestoneWrittenResource })
  @ApiResponse({ status: 200, description: 'It was there already, or is corrected.', type: MilestoneWrittenResource })
  @refusal(404, 'No such shipment in this workspace and environment.')
  async record(
    @SentBody(MilestonePipe) { milestone, warnings }: ReadMilestone,
    @Param('id', SHIPMENT_ID) shipment_id: string,
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<Milestone>> {
    if (milestone.source !== 'manual') requirePermission(principalOf(reply.request), 'milestones:feed');
    const written = await this.shipments.recordMilestone({ ...command, shipment_id, milestone });
    const isNew = written.answer.outcome === 'recorded';
    return this.responder.respond(reply, warnings, {
      ...writtenMilestone(written),
      status: isNew ? 201 : 200,
      location: isNew ? `/v1/shipments/${shipment_id}/milestones/${written.answer.milestone.id}` : undefined,
    });
  }
}

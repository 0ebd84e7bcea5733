import { Controller, Get, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Milestone, Page, Warning } from '@tracking/contracts';
import { parseShipmentId } from '@tracking/shipments';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DEPENDENCIES } from '../dependencies.ts';
import type { HttpApiDependencies } from '../dependencies.ts';
import { Operation, refusal } from '../operations/operation.ts';
import { notFound } from '../errors/request-error.ts';
import { ReadYourWrites } from '../read-your-writes/read-your-writes.ts';
import { Cursors } from '../paging/cursors.ts';
import { page } from '../paging/page.ts';
import { requirePermission } from '../server/admission.ts';
import { commandContext, principalOf, scopeOf } from '../server/request.ts';
import { ShipmentReader } from '../shipments/shipment-reader.ts';
import { parametersOf } from '../validation/parameters.ts';
import { ListMilestonesDto } from './list-milestones.dto.ts';
import { milestoneFilter } from './milestone-filter.ts';
import { MilestonePageResource, MilestoneWrittenResource } from './milestone.resource.ts';
import { readMilestone } from './read-milestone.ts';
import { RecordMilestoneDto } from './record-milestone.dto.ts';

@ApiTags('Milestones')
@Controller('v1/shipments/:id/milestones')
export class MilestonesController {
  constructor(
    @Inject(DEPENDENCIES) private readonly dependencies: HttpApiDependencies,
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
    @Inject(Cursors) private readonly cursors: Cursors,
    @Inject(ShipmentReader) private readonly reader: ShipmentReader,
  ) {}

  @Get()
  @Operation('listMilestones', { summary: 'List the milestones of a shipment', query: ListMilestonesDto })
  @ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' })
  @ApiResponse({ status: 200, description: 'A page, by time and place in the catalog.', type: MilestonePageResource })
  @refusal(404, 'No such shipment in this workspace and environment.')
  async list(@Req() request: FastifyRequest, @Param('id') id: string): Promise<Page<Milestone>> {
    const query = parametersOf(ListMilestonesDto, request);
    const scope = scopeOf(request);
    const filter = milestoneFilter(query, this.dependencies.places);
    return page(
      query,
      { list: `milestones of ${id}`, scope, filter: { ...filter }, sort: 'occurred_at' },
      this.cursors,
      async (limit, after) => {
        const shipment = await this.reader.get(request, id);
        await this.readYourWrites.waitFor('milestones', request);
        return this.dependencies.readModels.queries.milestones.list(scope, shipment.id, { ...filter, limit, after });
      },
      (milestone) => milestone,
    );
  }

  @Post()
  @Operation('recordMilestone', { summary: 'Record a milestone', body: RecordMilestoneDto })
  @ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' })
  @ApiResponse({ status: 201, description: 'Recorded.', type: MilestoneWrittenResource })
  @ApiResponse({ status: 200, description: 'It was there already, or is corrected.', type: MilestoneWrittenResource })
  @refusal(404, 'No such shipment in this workspace and environment.')
  async record(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('id') id: string,
  ): Promise<Milestone & { readonly warnings: readonly Warning[] }> {
    const shipment_id = parseShipmentId(id);
    if (shipment_id === undefined) throw notFound('shipment');
    const context = commandContext(request);
    const { milestone, warnings } = readMilestone(request.body, context, this.dependencies.places);
    if (milestone.source !== 'manual') requirePermission(principalOf(request), 'milestones:feed');
    const { answer, position } = await this.dependencies.shipments.recordMilestone({
      type: 'RecordMilestone',
      ...context,
      shipment_id,
      milestone,
    });
    request.about = { shipment_id, milestone_id: answer.milestone.id };
    await this.readYourWrites.wrote(request, reply, position);
    reply.code(answer.outcome === 'recorded' ? 201 : 200);
    return { ...answer.milestone, warnings: [...warnings, ...answer.warnings] };
  }
}

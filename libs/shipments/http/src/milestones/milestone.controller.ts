import { Controller, Delete, Get, Inject, Param, Patch, Req, Res, applyDecorators } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Milestone, Warning } from '@tracking/contracts';
import { Command, NO_BODY, Operation, SentBody, WriteResponder, etagOf, mergePatch, refusal } from '@tracking/http';
import type { WriteResponse } from '@tracking/http';
import type { CommandContext } from '@tracking/shipments';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { ShipmentReader } from '../shipments/shipment-reader.ts';
import { MILESTONE_IDS } from './milestone-ids.pipe.ts';
import type { MilestoneIds } from './milestone-ids.pipe.ts';
import { MilestonePatchPipe } from './milestone.pipes.ts';
import { writtenMilestone } from '../shipments/written-shipments.ts';
import { CorrectMilestoneDto, MilestoneResource, MilestoneWrittenResource } from './milestone.resource.ts';
import type { ReadMilestonePatch } from './milestone.pipes.ts';
import { SHIPMENTS } from '../dependencies.ts';

/** Whose it is, and which. */
const OfShipment = (): MethodDecorator =>
  applyDecorators(
    ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' }),
    ApiParam({ name: 'milestone_id', description: 'Id of the milestone, `mst_…`.' }),
    refusal(404, 'No such shipment in this workspace and environment, or no such milestone of it.'),
  );
const TAGS = 'If-Match and the ETag of the answer are those of the shipment.';

/** One milestone of a shipment. */
@ApiTags('Milestones')
@Controller('v1/shipments/:id/milestones/:milestone_id')
export class MilestoneController {
  constructor(
    @Inject(SHIPMENTS) private readonly shipments: ShipmentsHttpDependencies['shipments'],
    @Inject(WriteResponder) private readonly responder: WriteResponder,
    @Inject(ShipmentReader) private readonly reader: ShipmentReader,
  ) {}

  @Get()
  @Operation('getMilestone', {
    summary: 'Get a milestone, retracted or superseded or not',
    description: 'The ETag is that of the shipment.',
    conditional: 'read',
  })
  @OfShipment()
  @ApiResponse({ status: 200, description: 'The milestone.', type: MilestoneResource })
  async get(
    @Param(MILESTONE_IDS) ids: MilestoneIds,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Milestone> {
    const { milestone, shipment_version } = await this.reader.milestone(request, ids);
    reply.header('ETag', etagOf(shipment_version));
    return milestone;
  }

  @Patch()
  @Operation('correctMilestone', {
    summary: 'Correct a milestone',
    description: `A JSON merge patch: what is left out stays, null clears. What a feed sends again does not undo it. ${TAGS}`,
    body: CorrectMilestoneDto,
    takes: mergePatch(),
    conditional: 'write',
  })
  @OfShipment()
  @ApiResponse({ status: 200, description: 'The milestone as it is now.', type: MilestoneWrittenResource })
  @refusal(409, 'It is retracted, or its external_id would be that of another milestone.')
  async correct(
    @SentBody(MilestonePatchPipe) { patch, warnings }: ReadMilestonePatch,
    @Param(MILESTONE_IDS) ids: MilestoneIds,
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<Milestone>> {
    const written = await this.shipments.correctMilestone({ ...command, ...ids, patch });
    return this.responder.respond(reply, warnings, writtenMilestone(written));
  }

  @Delete()
  @Operation('retractMilestone', {
    summary: 'Retract a milestone: it stays on record, and counts for nothing',
    description: TAGS,
    conditional: 'write',
  })
  @OfShipment()
  @ApiResponse({
    status: 200,
    description: 'The milestone, also where it was retracted before.',
    type: MilestoneWrittenResource,
  })
  async retract(
    @Param(MILESTONE_IDS) ids: MilestoneIds,
    @SentBody(NO_BODY) ignored: readonly Warning[],
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<Milestone>> {
    const written = await this.shipments.retractMilestone({ ...command, ...ids });
    return this.responder.respond(reply, ignored, writtenMilestone(written));
  }
}

import { applyDecorators, Controller, Delete, Get, Inject, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { MAX_PAGE_SIZE, MILESTONE_CATALOG } from '@tracking/contracts';
import type { Milestone, MilestoneCatalogEntry, Page, WorkspaceScope, Warning } from '@tracking/contracts';
import {
  InjectCommandContext,
  InjectWorkspaceScope,
  PageCursorCodec,
  formatEtag,
  createMergePatchBodyRule,
  BODY_IGNORING_PIPE,
  DeclareApiOperation,
  readListPage,
  requirePrincipal,
  DeclareErrorResponse,
  requirePermission,
  getRequestScope,
  InjectRequestBody,
  WriteResponder,
} from '@tracking/http';
import type { WriteResponse, WrittenResource } from '@tracking/http';
import type { CommandContext, AnswerWithPosition } from '@tracking/shipments';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SHIPMENTS_INJECTION_TOKEN } from '../dependencies.ts';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { ShipmentReader } from '../shipments/shipment-reader.ts';
import { SHIPMENT_ETAG_DESCRIPTION, ApiShipmentIdParameter, SHIPMENT_ID_PIPE } from '../shipments/shipment.pipes.ts';
import { MILESTONE_IDS_PIPE, MilestoneFilterPipe, MilestonePatchPipe, MilestoneBodyPipe } from './milestone.pipes.ts';
import type { MilestoneFilter, MilestonePathIds, ParsedMilestone, ParsedMilestonePatch } from './milestone.pipes.ts';
import {
  CorrectMilestoneDto,
  ListMilestoneCodesDto,
  ListMilestonesDto,
  MilestoneCodeListResource,
  MilestonePageResource,
  MilestoneResource,
  MilestoneWrittenResource,
  RecordMilestoneDto,
} from './milestone.resource.ts';

/** Declares an operation on a single milestone of a shipment. */
const DeclareMilestoneOperation = (): MethodDecorator =>
  applyDecorators(
    ApiShipmentIdParameter('The shipment or the milestone does not exist in this workspace and environment.'),
    ApiParam({ name: 'milestone_id', description: 'Id of the milestone, `mst_…`.' }),
  );

/** Routes for milestones of shipments, and for the catalog of milestone codes. */
@ApiTags('Milestones')
@Controller('v1')
export class MilestonesController {
  constructor(
    @Inject(SHIPMENTS_INJECTION_TOKEN) private readonly shipments: ShipmentsHttpDependencies['shipments'],
    @Inject(ShipmentReader) private readonly reader: ShipmentReader,
    @Inject(WriteResponder) private readonly responder: WriteResponder,
    @Inject(PageCursorCodec) private readonly cursors: PageCursorCodec,
  ) {}

  @Get('shipments/:id/milestones')
  @DeclareApiOperation('listMilestones', {
    summary: 'List the milestones of a shipment',
    query: ListMilestonesDto,
    readsYourWrites: 'list',
  })
  @ApiShipmentIdParameter()
  @ApiResponse({
    status: 200,
    description: 'A page of milestones, by time and position in the catalog.',
    type: MilestonePageResource,
  })
  async listMilestones(
    @Param('id') id: string,
    @Query() query: ListMilestonesDto,
    @Query(MilestoneFilterPipe) filter: MilestoneFilter,
    @Req() request: FastifyRequest,
  ): Promise<Page<Milestone>> {
    const listing = {
      list: `milestones of ${id}`,
      scope: getRequestScope(request),
      filter: { ...filter },
      sort: 'occurred_at',
    };
    return readListPage(query, listing, this.cursors, (limit, after) =>
      this.reader.listMilestones(request, id, { ...filter, limit, after }),
    );
  }

  @Post('shipments/:id/milestones')
  @DeclareApiOperation('recordMilestone', {
    summary: 'Record a milestone',
    description: SHIPMENT_ETAG_DESCRIPTION,
    body: RecordMilestoneDto,
    conditional: 'write',
  })
  @ApiShipmentIdParameter()
  @ApiResponse({ status: 201, description: 'Recorded.', type: MilestoneWrittenResource })
  @ApiResponse({
    status: 200,
    description: 'The milestone existed already; it was corrected if the request differs.',
    type: MilestoneWrittenResource,
  })
  async recordMilestone(
    @InjectRequestBody(MilestoneBodyPipe) { milestone, warnings }: ParsedMilestone,
    @Param('id', SHIPMENT_ID_PIPE) shipment_id: string,
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<Milestone>> {
    if (milestone.source !== 'manual') requirePermission(requirePrincipal(reply.request), 'milestones:feed');
    const written = await this.shipments.recordMilestone({ ...command, shipment_id, milestone });
    const isNew = written.answer.outcome === 'recorded';
    return this.responder.respondToWrite(reply, warnings, {
      ...toWrittenMilestoneResource(written),
      status: isNew ? 201 : 200,
      location: isNew ? `/v1/shipments/${shipment_id}/milestones/${written.answer.milestone.id}` : undefined,
    });
  }

  @Get('shipments/:id/milestones/:milestone_id')
  @DeclareApiOperation('getMilestone', {
    summary: 'Get a milestone',
    description: 'The ETag is the ETag of the shipment.',
    conditional: 'read',
    readsYourWrites: true,
  })
  @DeclareMilestoneOperation()
  @ApiResponse({ status: 200, description: 'The milestone.', type: MilestoneResource })
  async getMilestone(
    @Param(MILESTONE_IDS_PIPE) ids: MilestonePathIds,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Milestone> {
    const { milestone, shipment_version } = await this.reader.getMilestone(request, ids);
    reply.header('ETag', formatEtag(shipment_version));
    return milestone;
  }

  @Patch('shipments/:id/milestones/:milestone_id')
  @DeclareApiOperation('correctMilestone', {
    summary: 'Correct a milestone',
    description: `A JSON merge patch: omitted fields keep their value, null clears a field. If a feed sends the milestone again, the correction stays. ${SHIPMENT_ETAG_DESCRIPTION}`,
    body: CorrectMilestoneDto,
    acceptedBody: createMergePatchBodyRule(),
    conditional: 'write',
  })
  @DeclareMilestoneOperation()
  @ApiResponse({ status: 200, description: 'The corrected milestone.', type: MilestoneWrittenResource })
  @DeclareErrorResponse(409, 'The milestone is retracted, or another milestone has the external_id.')
  async correctMilestone(
    @InjectRequestBody(MilestonePatchPipe) { patch, warnings }: ParsedMilestonePatch,
    @Param(MILESTONE_IDS_PIPE) ids: MilestonePathIds,
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<Milestone>> {
    const written = await this.shipments.correctMilestone({ ...command, ...ids, patch });
    return this.responder.respondToWrite(reply, warnings, toWrittenMilestoneResource(written));
  }

  @Delete('shipments/:id/milestones/:milestone_id')
  @DeclareApiOperation('retractMilestone', {
    summary: 'Retract a milestone',
    description: SHIPMENT_ETAG_DESCRIPTION,
    conditional: 'write',
  })
  @DeclareMilestoneOperation()
  @ApiResponse({
    status: 200,
    description: 'The milestone, even if it was retracted before. It stays stored, but has no effect.',
    type: MilestoneWrittenResource,
  })
  async retractMilestone(
    @Param(MILESTONE_IDS_PIPE) ids: MilestonePathIds,
    @InjectRequestBody(BODY_IGNORING_PIPE) ignored: readonly Warning[],
    @InjectCommandContext() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<Milestone>> {
    const written = await this.shipments.retractMilestone({ ...command, ...ids });
    return this.responder.respondToWrite(reply, ignored, toWrittenMilestoneResource(written));
  }

  @Get('milestone_codes')
  @DeclareApiOperation('listMilestoneCodes', { summary: 'List the milestone catalog', query: ListMilestoneCodesDto })
  @ApiResponse({ status: 200, description: 'A page of the catalog, in order.', type: MilestoneCodeListResource })
  listMilestoneCodes(
    @Query() query: ListMilestoneCodesDto,
    @InjectWorkspaceScope() scope: WorkspaceScope,
  ): Promise<Page<MilestoneCatalogEntry>> {
    const listing = { list: 'milestone codes', scope, filter: {}, sort: 'sequence' };
    return readListPage(
      { ...query, limit: query.limit ?? String(MAX_PAGE_SIZE) },
      listing,
      this.cursors,
      (limit, after) => {
        const from = Number(after?.[0] ?? 0);
        const end = from + limit;
        const items = MILESTONE_CATALOG.slice(from, end);
        return Promise.resolve({ items, next: end < MILESTONE_CATALOG.length ? [end] : null });
      },
    );
  }
}

interface MilestoneAnswer {
  readonly milestone: Milestone;
  readonly shipment_version: number;
  readonly warnings: readonly Warning[];
}

function toWrittenMilestoneResource({
  answer,
  position,
}: AnswerWithPosition<MilestoneAnswer>): WrittenResource<Milestone> {
  const { milestone, shipment_version, warnings } = answer;
  const about = { shipment_id: milestone.shipment_id, milestone_id: milestone.id };
  return { body: milestone, position, version: shipment_version, warnings, about };
}

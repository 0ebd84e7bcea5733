import { Controller, HttpCode, Inject, Post, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Milestone, Places } from '@tracking/contracts';
import { BodyPipe, Command, Operation, SentBody, principalOf, requirePermission } from '@tracking/http';
import type { ReadBody } from '@tracking/http';
import type { CommandContext } from '@tracking/shipments';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { BulkAnswers, NOT_ATOMIC } from './bulk-answers.ts';
import { BulkRequest } from './bulk-request.ts';
import type { CarriedOut } from './bulk-request.ts';
import { BulkMilestonesDto, BulkMilestonesWrittenResource } from './bulk.resource.ts';
import { BULK_BODY, sizeOfBody } from './items.ts';
import { readBulkMilestone } from './read-bulk-milestone.ts';
import type { ReadBulkMilestone } from './read-bulk-milestone.ts';
import { ShipmentFinder } from './shipment-finder.ts';
import { PLACES, SHIPMENTS } from '../dependencies.ts';

@ApiTags('Milestones')
@Controller('v1/milestones')
export class BulkMilestonesController {
  constructor(
    @Inject(SHIPMENTS) private readonly shipments: ShipmentsHttpDependencies['shipments'],
    @Inject(PLACES) private readonly places: Places,
    @Inject(ShipmentFinder) private readonly finder: ShipmentFinder,
    @Inject(BulkAnswers) private readonly answers: BulkAnswers,
  ) {}

  @Post('bulk')
  @HttpCode(200)
  @Operation('recordMilestones', {
    summary: 'Record up to 500 milestones, of whatever shipments',
    description: NOT_ATOMIC,
    body: BulkMilestonesDto,
    takes: BULK_BODY,
  })
  @ApiResponse({ status: 200, description: 'An answer for each item.', type: BulkMilestonesWrittenResource })
  async record(
    @SentBody(new BodyPipe(BulkMilestonesDto, BulkMilestonesWrittenResource)) sent: ReadBody<BulkMilestonesDto>,
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { request } = reply;
    const bulk = new BulkRequest<ReadBulkMilestone, Milestone>(sent.value.milestones, command, 'milestone');
    const items = await bulk.read((item) => this.read(item, command, request), sizeOfBody(request));
    const references = items.map(({ reference }) => reference);
    const found = await this.finder.find(request, references);
    const shipmentOf = ({ reference }: ReadBulkMilestone) => found.idOf(reference);
    bulk.check(shipmentOf);
    await bulk.carryOut(shipmentOf, (item, own) => this.recordOne(item, shipmentOf(item), own));
    return this.answers.answer(reply, bulk, sent.warnings);
  }

  private read(item: unknown, command: CommandContext, request: FastifyRequest): ReadBulkMilestone {
    const read = readBulkMilestone(item, command, this.places);
    if (read.milestone.source !== 'manual') requirePermission(principalOf(request), 'milestones:feed');
    return read;
  }

  private async recordOne(
    { milestone, warnings }: ReadBulkMilestone,
    shipment_id: string,
    command: CommandContext,
  ): Promise<CarriedOut<Milestone>> {
    const recording = this.shipments.recordMilestone({ ...command, shipment_id, milestone });
    const { answer, position } = await recording;
    return {
      status: answer.outcome === 'recorded' ? 201 : 200,
      resource: answer.milestone,
      warnings: [...warnings, ...answer.warnings],
      position,
    };
  }
}

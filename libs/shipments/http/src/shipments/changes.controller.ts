import { Controller, Inject, Param, Patch, Res } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Container, Warning } from '@tracking/contracts';
import { BodyPipe, Command, Operation, ReadYourWrites, SentBody, etagOf, mergePatch, refusal } from '@tracking/http';
import type { ReadBody } from '@tracking/http';
import { normaliseCode } from '@tracking/shipments';
import type { CommandContext } from '@tracking/shipments';
import type { FastifyReply } from 'fastify';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import type { ReadShipmentPatch } from './shipment-fields.pipes.ts';
import { ShipmentPatchPipe } from './shipment-fields.pipes.ts';
import { SHIPMENT_ID } from './shipment-id.pipe.ts';
import { ShipmentWrites } from './shipment-writes.ts';
import type { ShipmentWithWarnings } from './shipment-writes.ts';
import {
  ContainerWrittenResource,
  PatchContainerDto,
  PatchShipmentDto,
  ShipmentWrittenResource,
} from './shipment.resource.ts';
import { SHIPMENTS } from '../dependencies.ts';

interface ContainerOfShipment {
  readonly shipment_id: string;
  readonly number: string;
}
/** A container in a path, however its number is written there. */
const CONTAINER: PipeTransform<{ readonly id: string; readonly number: string }, ContainerOfShipment> = {
  transform: ({ id, number }, metadata) => ({
    shipment_id: SHIPMENT_ID.transform(id, metadata),
    number: normaliseCode(number),
  }),
};

/** Changes of single fields. */
@ApiTags('Shipments')
@Controller('v1/shipments/:id')
export class ShipmentChangesController {
  constructor(
    @Inject(SHIPMENTS) private readonly shipments: ShipmentsHttpDependencies['shipments'],
    @Inject(ShipmentWrites) private readonly writes: ShipmentWrites,
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
  ) {}

  @Patch()
  @Operation('changeShipment', {
    summary: 'Change fields of a shipment: what is left out stays, null clears',
    description: 'A JSON merge patch (RFC 7396).',
    body: PatchShipmentDto,
    takes: mergePatch(),
    conditional: 'write',
  })
  @ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' })
  @ApiResponse({ status: 200, description: 'The shipment.', type: ShipmentWrittenResource })
  @refusal(404, 'No such shipment in this workspace and environment.')
  async change(
    @SentBody(ShipmentPatchPipe) { patch, warnings }: ReadShipmentPatch,
    @Param('id', SHIPMENT_ID) shipment_id: string,
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShipmentWithWarnings> {
    const writing = this.shipments.patchShipment({ ...command, shipment_id, patch });
    return (await this.writes.answerOpen(reply, writing, warnings)).shipment;
  }

  @Patch('containers/:number')
  @Operation('changeContainer', {
    summary: 'Change what is known of a container: what is left out stays, null clears',
    description: 'A JSON merge patch (RFC 7396). If-Match and the ETag of the answer are those of the shipment.',
    body: PatchContainerDto,
    takes: mergePatch(),
    conditional: 'write',
  })
  @ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' })
  @ApiParam({ name: 'number', description: 'Number of a container of the shipment.', example: 'CSQU3054383' })
  @ApiResponse({ status: 200, description: 'The container.', type: ContainerWrittenResource })
  @refusal(404, 'No such shipment in this workspace and environment, or no such container of it.')
  async changeContainer(
    @SentBody(new BodyPipe(PatchContainerDto, ContainerWrittenResource)) sent: ReadBody<PatchContainerDto>,
    @Param(CONTAINER) { shipment_id, number }: ContainerOfShipment,
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Container & { readonly warnings: readonly Warning[] }> {
    const container = { shipment_id, number, patch: { ...sent.value } };
    const writing = this.shipments.patchContainer({ ...command, ...container });
    const { answer, position } = await writing;
    reply.request.about = { shipment_id };
    await this.readYourWrites.wrote(reply, position);
    reply.header('ETag', etagOf(answer.shipment_version));
    return { ...answer.container, warnings: [...sent.warnings, ...answer.warnings] };
  }
}

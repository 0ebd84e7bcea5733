import { Controller, Inject, Param, Patch, Res } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Container, Shipment } from '@tracking/contracts';
import { BodyPipe, Command, Operation, SentBody, WriteResponder, mergePatch, refusal } from '@tracking/http';
import type { ReadBody, WriteResponse } from '@tracking/http';
import { normaliseCode } from '@tracking/shipments';
import type { CommandContext } from '@tracking/shipments';
import type { FastifyReply } from 'fastify';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import type { ReadShipmentPatch } from './shipment-fields.pipes.ts';
import { ShipmentPatchPipe } from './shipment-fields.pipes.ts';
import { SHIPMENT_ID } from './shipment-id.pipe.ts';
import { WrittenShipments } from './written-shipments.ts';
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
    @Inject(WrittenShipments) private readonly written: WrittenShipments,
    @Inject(WriteResponder) private readonly responder: WriteResponder,
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
  ): Promise<WriteResponse<Shipment>> {
    const written = await this.shipments.patchShipment({ ...command, shipment_id, patch });
    return this.responder.respond(reply, warnings, await this.written.ofOpen(reply.request, written));
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
  ): Promise<WriteResponse<Container>> {
    const patch = { ...sent.value };
    const { answer, position } = await this.shipments.patchContainer({ ...command, shipment_id, number, patch });
    return this.responder.respond(reply, sent.warnings, {
      body: answer.container,
      position,
      version: answer.shipment_version,
      warnings: answer.warnings,
      about: { shipment_id },
    });
  }
}

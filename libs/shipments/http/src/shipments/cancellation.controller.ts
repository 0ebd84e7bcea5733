import { Controller, HttpCode, Inject, Param, Post, Res, applyDecorators } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Shipment, Warning } from '@tracking/contracts';
import { Command, NO_BODY, Operation, refusal, SentBody, WriteResponder } from '@tracking/http';
import type { OperationId, WriteResponse } from '@tracking/http';
import type { CommandContext } from '@tracking/shipments';
import type { FastifyReply } from 'fastify';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { SHIPMENTS } from '../dependencies.ts';
import { SHIPMENT_ID } from './shipment-id.pipe.ts';
import { WrittenShipments } from './written-shipments.ts';
import { ShipmentWrittenResource } from './shipment.resource.ts';

/** What cancelling and reopening have in common. */
const Changes = (operationId: OperationId, summary: string): MethodDecorator =>
  applyDecorators(
    HttpCode(200),
    Operation(operationId, { summary, conditional: 'write' }),
    ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' }),
    ApiResponse({
      status: 200,
      description: 'The shipment, also where it was so already.',
      type: ShipmentWrittenResource,
    }),
    refusal(404, 'No such shipment in this workspace and environment.'),
  );

@ApiTags('Shipments')
@Controller('v1/shipments/:id')
export class CancellationController {
  constructor(
    @Inject(SHIPMENTS) private readonly shipments: ShipmentsHttpDependencies['shipments'],
    @Inject(WrittenShipments) private readonly written: WrittenShipments,
    @Inject(WriteResponder) private readonly responder: WriteResponder,
  ) {}

  @Post('cancel')
  @Changes('cancelShipment', 'Cancel a shipment')
  @refusal(409, 'It is delivered already.')
  async cancel(
    @Param('id', SHIPMENT_ID) shipment_id: string,
    @SentBody(NO_BODY) ignored: readonly Warning[],
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<Shipment>> {
    const written = await this.shipments.cancelShipment({ ...command, shipment_id });
    return this.responder.respond(reply, ignored, this.written.of(written));
  }

  @Post('reopen')
  @Changes('reopenShipment', 'Take the cancellation of a shipment back')
  @refusal(409, 'A milestone cancels the shipment.')
  async reopen(
    @Param('id', SHIPMENT_ID) shipment_id: string,
    @SentBody(NO_BODY) ignored: readonly Warning[],
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<Shipment>> {
    const written = await this.shipments.reopenShipment({ ...command, shipment_id });
    return this.responder.respond(reply, ignored, await this.written.ofOpen(reply.request, written));
  }
}

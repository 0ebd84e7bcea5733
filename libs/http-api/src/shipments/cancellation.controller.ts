import { Controller, HttpCode, Inject, Param, Post, Req, Res, applyDecorators } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Shipment, Warning } from '@tracking/contracts';
import { parseShipmentId, shipmentResource } from '@tracking/shipments';
import type { CancelShipment, ReopenShipment } from '@tracking/shipments';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DEPENDENCIES } from '../dependencies.ts';
import type { HttpApiDependencies } from '../dependencies.ts';
import { Operation, refusal } from '../operations/operation.ts';
import type { OperationId } from '../operations/operations.ts';
import { notFound } from '../errors/request-error.ts';
import { ReadYourWrites } from '../read-your-writes/read-your-writes.ts';
import { commandContext } from '../server/request.ts';
import { readNoBody } from '../validation/read-body.ts';
import { PossibleDuplicates } from './possible-duplicates.ts';
import { shipmentEtag } from './shipment-answer.ts';
import { ShipmentWrittenResource } from './shipment.resource.ts';

type Written = Awaited<ReturnType<HttpApiDependencies['shipments']['cancel']>>;
type ShipmentWritten = Shipment & { readonly warnings: readonly Warning[] };

/** What cancelling and reopening have in common. */
const Changes = (operationId: OperationId, summary: string): MethodDecorator =>
  applyDecorators(
    HttpCode(200),
    Operation(operationId, { summary }),
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
    @Inject(DEPENDENCIES) private readonly dependencies: HttpApiDependencies,
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
    @Inject(PossibleDuplicates) private readonly duplicates: PossibleDuplicates,
  ) {}

  @Post('cancel')
  @Changes('cancelShipment', 'Cancel a shipment')
  @refusal(409, 'It is delivered already.')
  async cancel(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('id') id: string,
  ): Promise<ShipmentWritten> {
    const ignored = readNoBody(request);
    const command: CancelShipment = { type: 'CancelShipment', ...this.context(request, id) };
    return this.answer(request, reply, await this.dependencies.shipments.cancel(command), ignored);
  }

  @Post('reopen')
  @Changes('reopenShipment', 'Take the cancellation of a shipment back')
  @refusal(409, 'A milestone cancels the shipment.')
  async reopen(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('id') id: string,
  ): Promise<ShipmentWritten> {
    const ignored = readNoBody(request);
    const command: ReopenShipment = { type: 'ReopenShipment', ...this.context(request, id) };
    const [written] = await Promise.all([
      this.dependencies.shipments.reopen(command),
      this.duplicates.prepare(request),
    ]);
    const answered = await this.answer(request, reply, written, ignored);
    const duplicates = await this.duplicates.warnings(request, written.answer.shipment);
    return { ...answered, warnings: [...answered.warnings, ...duplicates] };
  }

  private context(request: FastifyRequest, id: string): Omit<CancelShipment, 'type'> {
    const shipment_id = parseShipmentId(id);
    if (shipment_id === undefined) throw notFound('shipment');
    return { ...commandContext(request), shipment_id };
  }

  private async answer(
    request: FastifyRequest,
    reply: FastifyReply,
    { answer: { shipment, warnings }, position }: Written,
    ignored: readonly Warning[],
  ): Promise<ShipmentWritten> {
    request.about = { shipment_id: shipment.id };
    await this.readYourWrites.wrote(request, reply, position);
    reply.header('ETag', shipmentEtag(shipment));
    return { ...shipmentResource(shipment, this.dependencies.settings.appUrl), warnings: [...ignored, ...warnings] };
  }
}

import { Controller, HttpCode, Inject, Post, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Places, Shipment } from '@tracking/contracts';
import { BodyPipe, Command, Operation, SentBody } from '@tracking/http';
import type { ReadBody } from '@tracking/http';
import type { CommandContext } from '@tracking/shipments';
import type { FastifyReply } from 'fastify';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { readShipmentFields } from '../shipments/shipment-fields.pipes.ts';
import type { ReadShipmentFields } from '../shipments/shipment-fields.pipes.ts';
import { WrittenShipments } from '../shipments/written-shipments.ts';
import { BulkAnswers, NOT_ATOMIC } from './bulk-answers.ts';
import { BulkRequest } from './bulk-request.ts';
import { BulkShipmentsDto, BulkShipmentsWrittenResource } from './bulk.resource.ts';
import { BULK_BODY, sizeOfBody } from './items.ts';
import { PLACES, SHIPMENTS } from '../dependencies.ts';

@ApiTags('Shipments')
@Controller('v1/shipments')
export class BulkShipmentsController {
  constructor(
    @Inject(SHIPMENTS) private readonly shipments: ShipmentsHttpDependencies['shipments'],
    @Inject(PLACES) private readonly places: Places,
    @Inject(WrittenShipments) private readonly written: WrittenShipments,
    @Inject(BulkAnswers) private readonly answers: BulkAnswers,
  ) {}

  @Post('bulk')
  @HttpCode(200)
  @Operation('upsertShipments', {
    summary: 'Create or update up to 500 shipments',
    description: NOT_ATOMIC,
    body: BulkShipmentsDto,
    takes: BULK_BODY,
  })
  @ApiResponse({ status: 200, description: 'An answer for each item.', type: BulkShipmentsWrittenResource })
  async upsert(
    @SentBody(new BodyPipe(BulkShipmentsDto, BulkShipmentsWrittenResource)) sent: ReadBody<BulkShipmentsDto>,
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { request } = reply;
    const bulk = new BulkRequest<ReadShipmentFields, Shipment>(sent.value.shipments, command, 'shipment');
    await bulk.read(
      (item) => readShipmentFields({ body: item, strict: command.strict }, this.places),
      sizeOfBody(request),
    );
    await bulk.carryOut(
      // Without one it is a shipment of its own.
      ({ fields }) => fields.external_id ?? undefined,
      async ({ fields, warnings }, own) => {
        const written = await this.shipments.upsertShipment({ ...own, fields });
        const status = written.answer.outcome === 'created' ? 201 : 200;
        return { status, ...this.written.ofItem(request, written, warnings) };
      },
    );
    return this.answers.answer(reply, bulk, sent.warnings);
  }
}

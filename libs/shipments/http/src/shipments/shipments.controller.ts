import { Controller, Get, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page, Scope, Shipment } from '@tracking/contracts';
import {
  Command,
  CurrentScope,
  Cursors,
  Operation,
  SentBody,
  WriteResponder,
  etagOf,
  page,
  refusal,
} from '@tracking/http';
import type { WriteResponse } from '@tracking/http';
import type { CommandContext } from '@tracking/shipments';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { AsOfPipe, GetShipmentDto } from './as-of.ts';
import type { ReadShipmentFields } from './shipment-fields.pipes.ts';
import { ShipmentFieldsPipe } from './shipment-fields.pipes.ts';
import { ListShipmentsDto, ShipmentFilterPipe } from './shipment-filter.ts';
import type { ShipmentListing } from './shipment-filter.ts';
import { ShipmentReader } from './shipment-reader.ts';
import { WrittenShipments } from './written-shipments.ts';
import {
  ShipmentPageResource,
  ShipmentResource,
  ShipmentWrittenResource,
  UpsertShipmentDto,
} from './shipment.resource.ts';
import { SHIPMENTS } from '../dependencies.ts';

@ApiTags('Shipments')
@Controller('v1/shipments')
export class ShipmentsController {
  @Inject(Cursors) private readonly cursors!: Cursors;

  constructor(
    @Inject(SHIPMENTS) private readonly shipments: ShipmentsHttpDependencies['shipments'],
    @Inject(WrittenShipments) private readonly written: WrittenShipments,
    @Inject(WriteResponder) private readonly responder: WriteResponder,
    @Inject(ShipmentReader) private readonly reader: ShipmentReader,
  ) {}

  @Post()
  @Operation('upsertShipment', {
    summary: 'Create a shipment, or update the one with this external_id',
    body: UpsertShipmentDto,
    conditional: 'upsert',
  })
  @ApiResponse({ status: 201, description: 'Created.', type: ShipmentWrittenResource })
  @ApiResponse({ status: 200, description: 'It existed; what was sent is in it.', type: ShipmentWrittenResource })
  async upsert(
    @SentBody(ShipmentFieldsPipe) { fields, warnings }: ReadShipmentFields,
    @Command() command: CommandContext,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WriteResponse<Shipment>> {
    const written = await this.shipments.upsertShipment({ ...command, fields });
    const isNew = written.answer.outcome === 'created';
    return this.responder.respond(reply, warnings, {
      ...(await this.written.ofOpen(reply.request, written)),
      status: isNew ? 201 : 200,
      location: isNew ? `/v1/shipments/${written.answer.shipment.id}` : undefined,
    });
  }

  @Get()
  @Operation('listShipments', {
    summary: 'List shipments',
    description:
      'The newest first, unless sort says otherwise. A page may hold fewer shipments than limit, even none, while has_more is true: go on with next_cursor.',
    query: ListShipmentsDto,
  })
  @ApiResponse({ status: 200, description: 'A page of shipments.', type: ShipmentPageResource })
  async list(
    @Query() query: ListShipmentsDto,
    @Query(ShipmentFilterPipe) { filter, sort, order }: ShipmentListing,
    @CurrentScope() scope: Scope,
    @Req() request: FastifyRequest,
  ): Promise<Page<Shipment>> {
    return page(query, { list: 'shipments', scope, filter: { ...filter }, sort }, this.cursors, (limit, after) =>
      this.reader.list(request, { filter, order, limit, after }),
    );
  }

  @Get(':id')
  @Operation('getShipment', { summary: 'Get a shipment', query: GetShipmentDto, conditional: 'read' })
  @ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' })
  @ApiResponse({ status: 200, description: 'The shipment.', type: ShipmentResource })
  @refusal(400, 'The Consistency-Token is not valid.')
  @refusal(404, 'No such shipment in this workspace and environment.')
  async get(
    @Param('id') id: string,
    @Query(AsOfPipe) { as_of }: GetShipmentDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Shipment> {
    const { reader } = this;
    const record = await (as_of === undefined ? reader.get(request, id) : reader.getAt(request, id, as_of));
    reply.header('ETag', etagOf(record.version));
    return this.reader.resource(record);
  }
}

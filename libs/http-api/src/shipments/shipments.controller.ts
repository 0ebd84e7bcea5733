import { Controller, Get, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { SHIPMENT_STATUSES } from '@tracking/contracts';
import type { Page, Shipment, Warning } from '@tracking/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DEPENDENCIES } from '../dependencies.ts';
import type { HttpApiDependencies } from '../dependencies.ts';
import { Operation, refusal } from '../operations/operation.ts';
import { ReadYourWrites } from '../read-your-writes/read-your-writes.ts';
import { Cursors } from '../paging/cursors.ts';
import { page } from '../paging/page.ts';
import { commandContext, isStrict, scopeOf } from '../server/request.ts';
import { parametersOf } from '../validation/parameters.ts';
import { ListShipmentsDto } from './list-shipments.dto.ts';
import { PossibleDuplicates } from './possible-duplicates.ts';
import { readShipmentFields } from './read-shipment-fields.ts';
import { shipmentResource } from '@tracking/shipments';
import { matches, shipmentEtag } from './shipment-answer.ts';
import { ShipmentReader } from './shipment-reader.ts';
import { ShipmentPageResource, ShipmentResource, ShipmentWrittenResource } from './shipment.resource.ts';
import { UpsertShipmentDto } from './upsert-shipment.dto.ts';

@ApiTags('Shipments')
@Controller('v1/shipments')
export class ShipmentsController {
  constructor(
    @Inject(DEPENDENCIES) private readonly dependencies: HttpApiDependencies,
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
    @Inject(Cursors) private readonly cursors: Cursors,
    @Inject(ShipmentReader) private readonly reader: ShipmentReader,
    @Inject(PossibleDuplicates) private readonly duplicates: PossibleDuplicates,
  ) {}

  @Post()
  @Operation('upsertShipment', {
    summary: 'Create a shipment, or update the one with this external_id',
    body: UpsertShipmentDto,
  })
  @ApiResponse({ status: 201, description: 'Created.', type: ShipmentWrittenResource })
  @ApiResponse({ status: 200, description: 'It existed; what was sent is in it.', type: ShipmentWrittenResource })
  async upsert(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Shipment & { readonly warnings: readonly Warning[] }> {
    const { fields, warnings } = readShipmentFields(request.body, isStrict(request), this.dependencies.places);
    const context = commandContext(request);
    const [{ answer, position }] = await Promise.all([
      this.dependencies.shipments.upsert({ type: 'UpsertShipment', ...context, fields }),
      this.duplicates.prepare(request),
    ]);
    request.about = { shipment_id: answer.shipment.id };
    await this.readYourWrites.wrote(request, reply, position);
    const duplicates = await this.duplicates.warnings(request, answer.shipment);
    reply.header('ETag', shipmentEtag(answer.shipment));
    if (answer.outcome === 'created') {
      reply.code(201).header('Location', `${this.dependencies.settings.baseUrl}/v1/shipments/${answer.shipment.id}`);
    } else {
      reply.code(200);
    }
    return { ...this.resource(answer.shipment), warnings: [...warnings, ...answer.warnings, ...duplicates] };
  }

  @Get()
  @Operation('listShipments', { summary: 'List shipments, the newest first', query: ListShipmentsDto })
  @ApiResponse({ status: 200, description: 'A page of shipments.', type: ShipmentPageResource })
  async list(@Req() request: FastifyRequest): Promise<Page<Shipment>> {
    const query = parametersOf(ListShipmentsDto, request);
    const scope = scopeOf(request);
    const filter = {
      // In one order and once each, so that a cursor fits however the client spells its filter.
      ...(query.status !== undefined && { status: inOrder(SHIPMENT_STATUSES, query.status.split(',')) }),
      ...(query.external_id !== undefined && { external_id: query.external_id }),
    };
    const sort = '-created_at';
    return page(
      query,
      { list: 'shipments', scope, filter, sort },
      this.cursors,
      async (limit, after) => {
        await this.readYourWrites.waitFor('shipments', request);
        return this.dependencies.readModels.queries.shipments.list(scope, { filter, limit, after });
      },
      (record) => this.resource(record),
    );
  }

  @Get(':id')
  @Operation('getShipment', { summary: 'Get a shipment' })
  @ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' })
  @ApiHeader({ name: 'If-None-Match', required: false, description: 'An ETag: 304 if the shipment still has it.' })
  @ApiResponse({ status: 200, description: 'The shipment.', type: ShipmentResource })
  @ApiResponse({ status: 304, description: 'The shipment still has the ETag.' })
  @refusal(400, 'The Consistency-Token is not valid.')
  @refusal(404, 'No such shipment in this workspace and environment.')
  async get(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('id') id: string,
  ): Promise<Shipment | undefined> {
    const record = await this.reader.get(request, id);
    const etag = shipmentEtag(record);
    reply.header('ETag', etag);
    if (!matches(request.headers['if-none-match'], etag)) return this.resource(record);
    reply.code(304);
    return undefined;
  }

  private resource(record: Parameters<typeof shipmentResource>[0]): Shipment {
    return shipmentResource(record, this.dependencies.settings.appUrl);
  }
}

/** Those of `all` that are named, in the order of `all`. */
function inOrder<T extends string>(all: readonly T[], named: readonly string[]): readonly T[] {
  return all.filter((value) => named.includes(value));
}

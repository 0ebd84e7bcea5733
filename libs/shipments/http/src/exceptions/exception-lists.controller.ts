import { Controller, Get, Inject, Param, Query, Req } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page, Scope, ShipmentException } from '@tracking/contracts';
import { CurrentScope, Cursors, Operation, page, PageDto, ReadYourWrites, refusal, roomForPage } from '@tracking/http';
import type { ExceptionListQuery, QueryPage } from '@tracking/read-models';
import type { FastifyRequest } from 'fastify';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { READ_MODELS } from '../dependencies.ts';
import { ShipmentReader } from '../shipments/shipment-reader.ts';
import { exceptionListing } from './exception-filter.ts';
import { ExceptionPageResource } from './exception.resource.ts';
import { ListExceptionsDto } from './list-exceptions.dto.ts';

@ApiTags('Exceptions')
@Controller('v1')
export class ExceptionListsController {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ShipmentsHttpDependencies['readModels'],
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
    @Inject(ShipmentReader) private readonly shipments: ShipmentReader,
    @Inject(Cursors) private readonly cursors: Cursors,
  ) {}

  @Get('exceptions')
  @Operation('listExceptions', {
    summary: 'List exceptions',
    description:
      'The newest first, unless sort says otherwise. A page may hold fewer exceptions than limit, even none, while has_more is true: go on with next_cursor.',
    query: ListExceptionsDto,
  })
  @ApiResponse({ status: 200, description: 'A page of exceptions.', type: ExceptionPageResource })
  async list(
    @Query() query: ListExceptionsDto,
    @CurrentScope() scope: Scope,
    @Req() request: FastifyRequest,
  ): Promise<Page<ShipmentException>> {
    const { filter, sort } = exceptionListing(query);
    return page(query, { list: 'exceptions', scope, filter: { ...filter }, sort }, this.cursors, (limit, after) =>
      this.find(request, scope, { filter, sort, limit, after }),
    );
  }

  @Get('shipments/:id/exceptions')
  @Operation('listShipmentExceptions', {
    summary: 'List the exceptions of a shipment, the oldest first',
    query: PageDto,
  })
  @ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' })
  @ApiResponse({ status: 200, description: 'A page, whatever became of them.', type: ExceptionPageResource })
  @refusal(404, 'No such shipment in this workspace and environment.')
  async ofShipment(
    @Param('id') id: string,
    @Query() query: PageDto,
    @CurrentScope() scope: Scope,
    @Req() request: FastifyRequest,
  ): Promise<Page<ShipmentException>> {
    const listing = { list: `exceptions of ${id}`, scope, filter: {}, sort: 'opened_at' };
    return page(query, listing, this.cursors, async (limit, after) => {
      const { id: shipment_id } = await this.shipments.get(request, id);
      return this.find(request, scope, { filter: { shipment_id }, sort: 'opened_at', limit, after });
    });
  }

  /** @throws RequestError `read_model_behind` */
  private async find(
    request: FastifyRequest,
    scope: Scope,
    query: ExceptionListQuery,
  ): Promise<QueryPage<ShipmentException>> {
    await this.readYourWrites.waitFor('exceptions', request);
    await roomForPage(request);
    return this.readModels.queries.exceptions.list(scope, query);
  }
}

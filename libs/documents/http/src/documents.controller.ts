import { Controller, Get, Inject, Param, Query, Req } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Page, Scope, ShipmentDocument } from '@tracking/contracts';
import { CurrentScope, Cursors, Operation, page, PageDto, refusal } from '@tracking/http';
import { ShipmentReader } from '@tracking/shipments-http';
import type { FastifyRequest } from 'fastify';
import { DocumentReader } from './document-reader.ts';
import { DocumentPageResource } from './document.resource.ts';

/** The documents of a shipment. */
@ApiTags('Documents')
@Controller('v1/shipments/:id/documents')
export class DocumentsController {
  constructor(
    @Inject(DocumentReader) private readonly documents: DocumentReader,
    @Inject(ShipmentReader) private readonly reader: ShipmentReader,
    @Inject(Cursors) private readonly cursors: Cursors,
  ) {}

  @Get()
  @Operation('listDocuments', {
    summary: 'List the documents of a shipment, the newest first',
    description: 'Whatever became of them; the deleted ones too.',
    query: PageDto,
  })
  @ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' })
  @ApiResponse({ status: 200, description: 'A page of documents.', type: DocumentPageResource })
  @refusal(404, 'No such shipment in this workspace and environment.')
  async list(
    @Param('id') id: string,
    @Query() query: PageDto,
    @CurrentScope() scope: Scope,
    @Req() request: FastifyRequest,
  ): Promise<Page<ShipmentDocument>> {
    const listing = { list: `documents of ${id}`, scope, filter: {}, sort: '-created_at' };
    return page(query, listing, this.cursors, async (limit, after) => {
      const { id: shipmentId } = await this.reader.get(request, id);
      return this.documents.list(request, shipmentId, { limit, after });
    });
  }
}

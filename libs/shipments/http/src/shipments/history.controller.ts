import { Controller, Get, Inject, Param, Query, Req } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { EtaChange, HistoryEntry, Page, ShipmentExplanation } from '@tracking/contracts';
import {
  Cursors,
  notFound,
  Operation,
  page,
  PageDto,
  ReadYourWrites,
  refusal,
  roomForPage,
  scopeOf,
} from '@tracking/http';
import type { FastifyRequest } from 'fastify';
import type { ShipmentsHttpDependencies } from '../dependencies.ts';
import { SHIPMENTS } from '../dependencies.ts';
import { ActorNames } from './actor-names.ts';
import { ShipmentExplanationResource } from './explanation.resource.ts';
import { EtaHistoryPageResource, HistoryPageResource } from './history.resource.ts';
import { SHIPMENT_ID } from './shipment-id.pipe.ts';

/** What the stream of a shipment tells: of all its writes, without waiting for a read model. */
@ApiTags('Shipments')
@Controller('v1/shipments/:id')
export class HistoryController {
  constructor(
    @Inject(SHIPMENTS) private readonly shipments: ShipmentsHttpDependencies['shipments'],
    @Inject(ReadYourWrites) private readonly readYourWrites: ReadYourWrites,
    @Inject(Cursors) private readonly cursors: Cursors,
    @Inject(ActorNames) private readonly names: ActorNames,
  ) {}

  @Get('history')
  @Operation('listShipmentHistory', { summary: 'List what happened to a shipment, the newest first', query: PageDto })
  @ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' })
  @ApiResponse({ status: 200, description: 'A page; it may hold fewer than `limit`.', type: HistoryPageResource })
  @refusal(404, 'No such shipment in this workspace and environment.')
  async history(
    @Param('id', SHIPMENT_ID) shipment_id: string,
    @Query() query: PageDto,
    @Req() request: FastifyRequest,
  ): Promise<Page<HistoryEntry>> {
    const scope = this.checked(request);
    const listing = { list: `history of ${shipment_id}`, scope, filter: {}, sort: '-version' };
    return page(query, listing, this.cursors, async (limit, after) => {
      await roomForPage(request);
      const { items, next } = found(
        await this.shipments.listHistory({ ...scope, shipment_id, limit, after: ended(after) }),
      );
      const names = await this.names.of(items.map(({ actor }) => actor));
      const named = items.map((entry) => ({
        ...entry,
        actor: { ...entry.actor, name: names.get(entry.actor.id) ?? null },
      }));
      return { items: named, next };
    });
  }

  @Get('eta_history')
  @Operation('listEtaHistory', { summary: 'List the changes of a shipment’s eta, the newest first', query: PageDto })
  @ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' })
  @ApiResponse({ status: 200, description: 'A page; it may hold fewer than `limit`.', type: EtaHistoryPageResource })
  @refusal(404, 'No such shipment in this workspace and environment.')
  async etaHistory(
    @Param('id', SHIPMENT_ID) shipment_id: string,
    @Query() query: PageDto,
    @Req() request: FastifyRequest,
  ): Promise<Page<EtaChange>> {
    const scope = this.checked(request);
    const listing = { list: `eta history of ${shipment_id}`, scope, filter: {}, sort: '-version' };
    return page(query, listing, this.cursors, async (limit, after) =>
      found(await this.shipments.listEtaHistory({ ...scope, shipment_id, limit, after: ended(after) })),
    );
  }

  @Get('explanation')
  // Of no condition: what is expected goes by the workspace's settings, which move without the shipment's version.
  @Operation('explainShipment', { summary: 'Explain the status, the times and the exceptions of a shipment' })
  @ApiParam({ name: 'id', description: 'Id of the shipment, `shp_…`.' })
  @ApiResponse({ status: 200, description: 'Why it is what it is.', type: ShipmentExplanationResource })
  @refusal(404, 'No such shipment in this workspace and environment.')
  async explanation(
    @Param('id', SHIPMENT_ID) shipment_id: string,
    @Req() request: FastifyRequest,
  ): Promise<ShipmentExplanation> {
    return found(await this.shipments.explainShipment({ ...this.checked(request), shipment_id }));
  }

  /** A stream is never behind; a token that is none is refused all the same. @throws RequestError */
  private checked(request: FastifyRequest) {
    this.readYourWrites.expected(request);
    return scopeOf(request);
  }
}

function found<T>(answer: T | undefined): T {
  if (!answer) throw notFound('shipment');
  return answer;
}

function ended(after: readonly unknown[] | undefined): readonly number[] | undefined {
  return after?.map(Number);
}
